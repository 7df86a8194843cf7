// What shapes the gradients of the look-up tables besides the formulas: the tolerance eps, normalisation and
// limits of weights.

#include <algorithm>
#include <cmath>

#include "app/engine/run/runner.h"
#include "tests/kernels/lut/run_lut.h"
#include "tests/kit/temporary_folder.h"

namespace sawtooth {
namespace {

using namespace lut_facts;
using Numbers = std::vector<double>;

// A problem of either family with both kinds of tables and both arithmetics. A sequence has two tiles.
Problem any_problem(const Settings& more) {
    const bool pairs = GENERATE(false, true);
    const std::string connectivity = GENERATE("full", "sparse"), arithmetic = GENERATE("float", "integer");
    Settings settings = sized(pairs ? 2 : 9, 20, 9, 33, pairs ? 2 : 4, more);
    settings.emplace_back("connectivity", connectivity);
    settings.emplace_back("arithmetic", arithmetic);
    if (pairs) settings = with(settings, {{"sequence_length", int64_t{9}}, {"tile", int64_t{8}}});
    return Problem(pairs ? lut_sequence_family() : lut_family(), settings);
}

// Two detectors with two pairs each. The first finds -2 and 3.5; the second finds 0 and skips a pair. The
// weights make g = -2 for both, so that du is 1/9 and 1.
Problem by_hand(double eps) {
    Problem problem(
        lut_family(), sized(1, 4, 2, 2, 2, {{"eps", eps}}),
        {floats("x", {1, 4}, {1, 3, 3, -0.5f}), integers("anchors", {2, 2, 2}, {0, 1, 1, 3, 2, 1, 3, -1}),
         floats("dy", {1, 2}, {2, -1})});
    const auto weights = problem["weights"].as<float>();
    for (size_t i = 0; i < weights.size(); ++i) {
        const size_t detector = i / 8;
        weights[i] = static_cast<float>(i % 8 + 10 * detector);
    }
    return problem;
}

TEST_CASE("a bit is set above eps, and du of magnitude eps or less is dropped", "[lut]") {
    const auto values = [](double eps, const char* name) {
        return values_of(by_hand(eps).reference(), name);
    };
    CHECK(values(0, "lookup_index") == Numbers{2, 0});
    CHECK(values(3.25, "lookup_index") == Numbers{2, 0});
    CHECK(values(3.5, "lookup_index") == Numbers{0, 0});
    const double du = 1.0 / 9;
    CHECK(values(0, "dx") == Numbers{du, -du - 1, 1, 0});
    CHECK(values(0.109375, "dx") == Numbers{du, -du - 1, 1, 0});
    CHECK(values(0.125, "dx") == Numbers{0, -1, 1, 0});
    CHECK(values(1, "dx") == Numbers{0, 0, 0, 0});
    CHECK(values(1, "min_delta") == Numbers{-2, 0});  // eps does not change which pair is the weakest
    for (const double eps : {0.0, 0.125, 1.0, 3.5}) check_variants(by_hand(eps));
}

TEST_CASE("every variant of the look-up tables is right for any eps", "[lut]") {
    const double eps = GENERATE(0.05, 0.7, 4.0);
    const Problem problem = any_problem({{"eps", eps}});
    check_variants(problem);
    Problem exact = problem;
    exact.parameters.set("eps", 0.0);
    CHECK(values_of(problem.reference(), "dx") != values_of(exact.reference(), "dx"));
}

TEST_CASE("eps decides the bits of distances and the gradients of positional values", "[lut]") {
    const auto problem = [](double eps) {
        return Problem(
            lut_sequence_family(),
            sized(1, 2, 1, 1, 1,
                  {{"sequence_length", int64_t{2}}, {"positional_bits", int64_t{1}}, {"eps", eps}}),
            {floats("x", {1, 2, 2}, {0, 3, 2, 1}), floats("positional", {1, 1, 1}, {0.5f}),
             integers("anchors", {1, 1, 2}, {0, 1}),
             floats("weights", {1, 8, 1}, {0, 1, 4, 9, 16, 25, 36, 49}), floats("dy", {1, 2, 1}, {7, 2})});
    };
    // Row 5 without eps; from 0.5 on PE is 0 and the row 4, from 1 on Q is 0 too.
    CHECK(values_of(problem(0).reference(), "y") == Numbers{0, 25});
    CHECK(values_of(problem(0.5).reference(), "y") == Numbers{0, 16});
    CHECK(values_of(problem(1).reference(), "y") == Numbers{0, 0});
    // du of PE is 2 (25 - 16) up'(1/2) = 4 without eps, and 2 (16 - 25) up'(1/2) = -4 with PE 0.
    CHECK(values_of(problem(0).reference(), "dpositional")[0] == Approx(4).epsilon(1e-15));
    CHECK(values_of(problem(0.5).reference(), "dpositional")[0] == Approx(-4).epsilon(1e-15));
    // With Q 0 as well it is 2 (0 - 1) up'(1/2) = -4/9, below eps.
    CHECK(values_of(problem(1).reference(), "dpositional")[0] == 0);
    for (const double eps : {0.0, 0.5, 1.0}) check_variants(problem(eps));
}

TEST_CASE("NaN in x passes no gradient", "[lut]") {
    Problem problem = any_problem({});
    for (const int64_t input : {3, 7, 11})  // of the first item, or of its first position
        problem["x"].as<float>()[static_cast<size_t>(input)] = NAN;
    const Numbers weakest = values_of(problem.reference(), "min_delta");
    CHECK(std::ranges::count_if(weakest, [](double delta) { return std::isnan(delta); }) > 0);
    for (const Implementation& implementation : implementations(problem.family)) {
        INFO(implementation.name);
        const Numbers dx = values_of(problem.run(implementation), "dx");
        CHECK(std::ranges::all_of(dx, [](double gradient) { return std::isfinite(gradient); }));
    }
    check_variants(problem);
}

TEST_CASE("the internal policy keeps weights within the limits", "[lut]") {
    Problem problem = any_problem({{"gradient_policy", "internal"}, {"lr", 0.5}});
    const Numbers free = values_of(problem.reference(), "weights_after");
    problem.parameters.set("weight_max", 0.75);
    const bool both = GENERATE(false, true);
    if (both) problem.parameters.set("weight_min", -0.5);
    Numbers wanted = free;
    for (double& weight : wanted) weight = std::min(both ? std::max(weight, -0.5) : weight, 0.75);
    CHECK(wanted != free);
    CHECK(values_of(problem.reference(), "weights_after") == wanted);
    check_variants(problem);
    if (problem.parameters.is("arithmetic", "integer")) return;  // NaN overflows
    problem["dy"].as<float>()[0] = NAN;
    check_variants(problem);
}

TEST_CASE("with an infinite rate a gradient may be the rate times the sum of dy", "[lut]") {
    // Both items choose the only synapse of row 0: infinity minus infinity, or infinity times 1 - 3.
    const Problem problem(
        lut_family(),
        sized(2, 1, 1, 1, 1,
              {{"connectivity", "sparse"},
               {"gradient_policy", "internal"},
               {"weight_max", 5.0},
               {"synapses_per_neuron", int64_t{1}}}),
        {integers("anchors", {1, 1, 2}, {0, 0}), integers("synapse_offsets", {3}, {0, 1, 2}),
         integers("synapse_targets", {2}, {0, 0}), integers("synapse_meta", {2}, {0, 0}),
         floats("meta_lr", {1}, {INFINITY}), floats("dy", {2, 1}, {1, -3})});
    Arrays outputs = copied(*problem.run(implementations(lut_family()).front()));
    const auto is_wrong = [&](Backend backend) {
        const auto verdicts =
            judged(problem.family, "fused", problem.parameters, problem.inputs, outputs, backend);
        return std::ranges::any_of(
            verdicts, [](const OutputVerdict& verdict) { return verdict.verdict == Verdict::wrong; });
    };
    REQUIRE(std::isnan(values_of(outputs, "dweights")[0]));
    CHECK_FALSE(is_wrong(Backend::cpu));
    find(outputs, "dweights")->as<float>()[0] = -INFINITY;
    find(outputs, "weights_after")->as<float>()[0] = 5;
    CHECK_FALSE(is_wrong(Backend::cuda));
    find(outputs, "dweights")->as<float>()[1] = 1;
    CHECK(is_wrong(Backend::cuda));
}

TEST_CASE("normalised gradients have a largest magnitude of 1", "[lut]") {
    Problem problem = any_problem({{"lr", 0.3}});
    const auto plain = problem.reference();
    problem.parameters.set("normalise_gradients", true);
    const auto normalised = problem.reference();
    for (const char* name : {"dweights", "dpositional"}) {
        if (!find(*plain, name)) continue;
        INFO(name);
        Numbers wanted = values_of(plain, name);
        double largest = 0;
        for (const double gradient : wanted) largest = std::max(largest, std::abs(gradient));
        REQUIRE(largest > 0);
        for (double& gradient : wanted) gradient /= largest;
        CHECK(values_of(normalised, name) == wanted);
        for (const Implementation& implementation : implementations(problem.family)) {
            INFO(implementation.name);
            double most = 0;
            for (const double gradient : values_of(problem.run(implementation), name))
                most = std::max(most, std::abs(gradient));
            CHECK(most == 1);
        }
    }
    CHECK(values_of(normalised, "dx") == values_of(plain, "dx"));
    check_variants(problem);
}

TEST_CASE("gradients of zero stay zero when normalised, and NaN spreads to all", "[lut]") {
    Problem problem = any_problem({{"normalise_gradients", true}});
    fill(problem["dy"], 0);
    const auto check_all = [&](auto holds) {
        for (const Implementation& implementation : implementations(problem.family)) {
            INFO(implementation.name);
            CHECK(std::ranges::all_of(values_of(problem.run(implementation), "dweights"), holds));
        }
        CHECK(std::ranges::all_of(values_of(problem.reference(), "dweights"), holds));
    };
    check_all([](double gradient) { return gradient == 0; });
    if (!problem.parameters.is("connectivity", "full") || problem.parameters.is("arithmetic", "integer"))
        return;
    const int64_t last = problem["dy"].count() - 1;  // in a sequence, the position with pairs
    problem["dy"].as<float>()[static_cast<size_t>(last)] = NAN;
    check_all([](double gradient) { return std::isnan(gradient); });
}

TEST_CASE("integers are judged by fixed-point sums, and their distance to float64 is an approximation",
          "[lut][engine]") {
    Runner runner(shared_cache());
    Request request;
    request.family = GENERATE("lut", "lut_sequence");
    request.repeats = 1;
    request.parameters.set("backward", true);
    const std::string arithmetic = GENERATE("float", "integer");
    request.parameters.set("arithmetic", arithmetic);
    const auto outcome = runner.run(request, {});
    REQUIRE(outcome);
    const Result& result = **outcome;
    INFO(request.family << " " << arithmetic);
    const bool integer = arithmetic == "integer";
    CHECK((find(result.reference, "fused/y") != nullptr) == integer);
    for (const VariantResult& variant : result.variants) {
        INFO(variant.name);
        CHECK(variant.verdict() == Verdict::right);
        CHECK(approximation_of(result, variant).has_value() == integer);
        if (!integer) continue;
        // Up to 2^-17 per term, of which y has one for each detector (and pair).
        CHECK(*approximation_of(result, variant) > 1e-6);
        CHECK(*approximation_of(result, variant) < 1e-4);
        CHECK(*kernel_error(result, variant) < 1e-7);
        // The reference in files has the fixed-point sums, multiples of 2^-16.
        for (const double y : find(result.reference, "y")->as<double>())
            CHECK(y * 0x1p16 == std::rint(y * 0x1p16));
    }
}

std::vector<std::string> launches_with(const std::string& variant, const Settings& more) {
    const Problem problem(lut_family(), sized(9, 20, 9, 33, 4, more));
    return names_of(plan_on_cpu(lut_family(), variant, problem.parameters, problem.inputs));
}

TEST_CASE("limits and normalisation are launches of their own, only where they are set", "[lut][cpu]") {
    using Names = std::vector<std::string>;
    for (const char* variant : {"unfused", "fused"}) {
        INFO(variant);
        const Names plain = launches_with(variant, {});
        Names normalised = plain, limited = launches_with(variant, {{"gradient_policy", "internal"}});
        normalised.insert(normalised.end(),
                          {"clear_largest_dweights", "largest_gradient", "normalise_gradients"});
        limited.emplace_back("limit_weights");
        CHECK(launches_with(variant, {{"normalise_gradients", true}}) == normalised);
        CHECK(launches_with(variant, {{"gradient_policy", "internal"}, {"weight_min", 0.0}}) == limited);
        // Neither policy reads what belongs to the other.
        CHECK(launches_with(variant, {{"weight_min", 0.0}}) == plain);
        limited.pop_back();
        CHECK(launches_with(variant, {{"gradient_policy", "internal"}, {"normalise_gradients", true}}) ==
              limited);
    }
}

}  // namespace
}  // namespace sawtooth
