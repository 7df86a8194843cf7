// Look-up tables on sequences: every variant against the double-precision reference, against pairs looked up
// one by one, and properties that every variant has.

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/kernels/lut/run_lut.h"
#include "tests/kit/contains.h"

namespace sawtooth {
namespace {

using namespace lut_facts;

const Family& family() { return lut_sequence_family(); }

Settings sized(int64_t batch, int64_t length, int64_t inputs, int64_t outputs, int64_t detectors,
               int64_t anchors, int64_t positional, const Settings& more = {}) {
    const Settings settings = {{"batch", batch},
                               {"sequence_length", length},
                               {"inputs", inputs},
                               {"outputs", outputs},
                               {"detectors", detectors},
                               {"backward", true},
                               {"anchors_per_detector", anchors},
                               {"positional_bits", positional}};
    return with(settings, more);
}

// Generates every kind of table, arithmetic and events.
Settings with_kinds(Settings settings) {
    const std::string connectivity = GENERATE("full", "sparse"), arithmetic = GENERATE("float", "integer"),
                      events = GENERATE("buffer", "statistic");
    settings.emplace_back("connectivity", connectivity);
    settings.emplace_back("arithmetic", arithmetic);
    settings.emplace_back("events", events);
    return settings;
}

TEST_CASE("every variant of lut_sequence is right around the sizes of tiles", "[lut]") {
    const int64_t length = GENERATE(1, 2, 7, 8, 9, 16, 17, 33);
    check_variants(Problem(family(), with_kinds(sized(2, length, 12, 6, 5, 3, 2, {{"tile", int64_t{8}}}))));
}

TEST_CASE("every variant of lut_sequence is right in every shape", "[lut]") {
    const auto settings = GENERATE(sized(3, 20, 12, 1, 3, 2, 3), sized(3, 20, 12, 40, 3, 2, 3),
                                   sized(1, 18, 12, 5, 33, 1, 1, {{"lr", 0.5}}), sized(1, 5, 12, 2, 1, 7, 0));
    check_variants(Problem(family(), with_kinds(settings)));
}

TEST_CASE("without positional bits there are no gradients of them", "[lut]") {
    const Problem problem(family(), with_kinds(sized(2, 20, 12, 6, 5, 3, 0)));
    check_variants(problem);
    for (const Implementation& implementation : implementations(family())) {
        const auto outputs = problem.run(implementation);
        CHECK(find(*outputs, "dpositional")->shape == Shape{19, 5, 0});
        for (const double index : values_of(outputs, "positional_min_delta_index")) CHECK(index == -1);
    }
}

TEST_CASE("variants of lut_sequence choose the same rows where differences are zero or equal", "[lut]") {
    Problem problem(family(), with_kinds(sized(2, 21, 6, 5, 7, 3, 2)));
    for (const char* name : {"x", "positional"})
        for (float& number : problem[name].as<float>()) number = std::round(number);
    check_variants(problem);
    // Every pair chooses the same row.
    for (const char* name : {"x", "positional"})
        for (float& number : problem[name].as<float>()) number = 0;
    check_variants(problem);
    // Some pairs are skipped, then all of them.
    const auto anchors = problem["anchors"].as<int32_t>();
    for (size_t i = 0; i < anchors.size(); i += 3) anchors[i] = -1;
    check_variants(problem);
    for (int32_t& anchor : anchors) anchor = -1;
    check_variants(problem);
}

TEST_CASE("a distance whose embedding is NaN flips no bit and has no gradient", "[lut]") {
    Problem problem(family(), with_kinds(sized(2, 9, 12, 6, 5, 3, 2)));
    for (float& number : problem["positional"].as<float>()) number = NAN;
    check_variants(problem);
    for (const Implementation& implementation : implementations(family())) {
        const auto outputs = problem.run(implementation);
        for (const double gradient : values_of(outputs, "dpositional")) CHECK(gradient == 0);
    }
}

TEST_CASE("variants of lut_sequence use the rates of synapses and subtract gradients", "[lut]") {
    Settings settings = with_kinds(sized(2, 18, 12, 6, 5, 2, 2));
    settings.emplace_back("gradient_policy", "internal");
    settings.emplace_back("lr", 0.3);
    Problem problem(family(), settings);
    problem.inputs = generated_inputs(family(), problem.parameters, true);
    check_variants(problem);
}

TEST_CASE("neurons without synapses and repeated targets in sequences", "[lut]") {
    const std::string arithmetic = GENERATE("float", "integer"), events = GENERATE("buffer", "statistic");
    const Settings settings = sized(2, 18, 12, 3, 5, 1, 1, {{"arithmetic", arithmetic}, {"events", events}});
    std::vector<int32_t> offsets(5 * 8 + 1);
    for (size_t n = 1; n < offsets.size(); ++n) offsets[n] = offsets[n - 1] + (n % 3 == 0 ? 8 : 0);
    check_variants(Problem(family(), settings, {integers("synapse_offsets", {41}, offsets)}));
    check_variants(
        Problem(family(), settings, {integers("synapse_offsets", {41}, std::vector<int32_t>(41))}));
}

// Returns all pairs of all sequences as items of the family lut. The inputs of an item are the values of the
// distance, multiplied by `weakness`, and a zero, then x of i and of j.
Problem pairs_of(const Problem& problem, float weakness) {
    const Parameters& p = problem.parameters;
    const int64_t batch = p.integer("batch"), length = p.integer("sequence_length"),
                  inputs = p.integer("inputs"), outputs = p.integer("outputs"),
                  detectors = p.integer("detectors"), anchors = p.integer("anchors_per_detector"),
                  bits = p.integer("positional_bits");
    const int64_t values = detectors * bits, items = batch * length * (length - 1) / 2;
    const auto x = problem["x"].as<float>(), dy = problem["dy"].as<float>(),
               positional = problem["positional"].as<float>();
    std::vector<float> all, all_dy;
    const auto put = [](std::vector<float>& to, std::span<const float> from, int64_t row, int64_t width) {
        const auto first = from.begin() + row * width;
        to.insert(to.end(), first, first + width);
    };
    for (int64_t b = 0; b < batch; ++b)
        for (int64_t j = 1; j < length; ++j)
            for (int64_t i = 0; i < j; ++i) {
                for (int64_t v = 0; v < values; ++v)
                    all.push_back(weakness * positional[static_cast<size_t>((j - i - 1) * values + v)]);
                all.push_back(0);
                put(all, x, b * length + i, inputs);
                put(all, x, b * length + j, inputs);
                put(all_dy, dy, b * length + j, outputs);
            }
    std::vector<int32_t> pairs;
    const auto given = problem["anchors"].as<int32_t>();
    for (int64_t t = 0; t < detectors; ++t) {
        for (int64_t r = 0; r < bits; ++r)
            pairs.insert(pairs.end(), {static_cast<int32_t>(t * bits + r), static_cast<int32_t>(values)});
        for (const int64_t first : {values + 1, values + 1 + inputs})
            for (int64_t a = 0; a < 2 * anchors; ++a) {
                const int32_t anchor = given[static_cast<size_t>(t * 2 * anchors + a)];
                pairs.push_back(anchor < 0 ? -1 : static_cast<int32_t>(first + anchor));
            }
    }
    const int64_t width = values + 1 + 2 * inputs, row_bits = 2 * anchors + bits;
    return Problem(lut_family(),
                   {{"backward", true},
                    {"arithmetic", p.text("arithmetic")},
                    {"batch", items},
                    {"inputs", width},
                    {"outputs", outputs},
                    {"detectors", detectors},
                    {"anchors_per_detector", row_bits}},
                   {floats("x", {items, width}, all), floats("dy", {items, outputs}, all_dy),
                    integers("anchors", {detectors, row_bits, 2}, pairs), problem["weights"]});
}

// Returns y, dx, dpositional and dweights of the sequences, computed from those of their pairs.
Arrays joined(const Problem& problem, const Arrays& of_pairs, const Arrays& of_weak_pairs) {
    const Parameters& p = problem.parameters;
    const int64_t batch = p.integer("batch"), length = p.integer("sequence_length"),
                  inputs = p.integer("inputs"), outputs = p.integer("outputs"),
                  values = p.integer("detectors") * p.integer("positional_bits");
    const int64_t width = values + 1 + 2 * inputs;
    Array y = Array::zeros("y", Dtype::f64, {batch, length, outputs});
    Array dx = Array::zeros("dx", Dtype::f64, {batch, length, inputs});
    Array dpositional = Array::zeros("dpositional", Dtype::f64, problem["positional"].shape);
    const auto add = [](Array& to, int64_t row, const Array& from, int64_t first, int64_t count) {
        for (int64_t k = 0; k < count; ++k)
            to.as<double>()[static_cast<size_t>(row * count + k)] += from.value(first + k).real();
    };
    int64_t item = 0;
    for (int64_t b = 0; b < batch; ++b)
        for (int64_t j = 1; j < length; ++j)
            for (int64_t i = 0; i < j; ++i, ++item) {
                add(y, b * length + j, *find(of_pairs, "y"), item * outputs, outputs);
                add(dpositional, j - i - 1, *find(of_weak_pairs, "dx"), item * width, values);
                const int64_t first = item * width + values + 1;
                add(dx, b * length + i, *find(of_pairs, "dx"), first, inputs);
                add(dx, b * length + j, *find(of_pairs, "dx"), first + inputs, inputs);
            }
    return {y, dx, dpositional, *find(of_pairs, "dweights")};
}

// The family lut flips the weakest of all bits. This may be that of the distance if its values are unchanged,
// but is one of query or key if they are made large.
TEST_CASE("a sequence gives what its pairs give one by one", "[lut]") {
    const std::string arithmetic = GENERATE("float", "integer");
    const int64_t bits = GENERATE(0, 2);
    const Problem problem(family(), sized(2, 19, 12, 6, 5, 3, bits, {{"arithmetic", arithmetic}}));
    const Problem weak = pairs_of(problem, 1), strong = pairs_of(problem, 1e6f);
    const auto close = [&](const Outcome<Arrays>& outputs, const Arrays& wanted) {
        REQUIRE(outputs);
        for (const Array& right : wanted) {
            INFO(right.name);
            CHECK(distance(*find(*outputs, right.name), right) < 2e-6);
        }
    };
    const Arrays wanted = joined(problem, *strong.reference(), *weak.reference());
    close(problem.reference(), wanted);
    for (const Implementation& implementation : implementations(family())) {
        INFO(implementation.name << " " << arithmetic << " bits " << bits);
        close(problem.run(implementation), wanted);
    }
}

TEST_CASE("events through the buffer give what events through the statistic give", "[lut]") {
    const std::string connectivity = GENERATE("full", "sparse"), arithmetic = GENERATE("float", "integer");
    // There are few rows, so that many pairs of a position choose the same neuron.
    const Settings settings =
        sized(2, 37, 6, 5, 3, 1, 1, {{"connectivity", connectivity}, {"arithmetic", arithmetic}});
    Problem buffer(family(), settings), statistic(family(), settings);
    statistic.parameters.set("events", "statistic");
    for (const Implementation& implementation : implementations(family())) {
        INFO(implementation.name << " " << connectivity << " " << arithmetic);
        const auto left = buffer.run(implementation), right = statistic.run(implementation);
        REQUIRE(left);
        for (const Array& output : *left) {
            INFO(output.name);
            if (arithmetic == "integer")
                CHECK(values_of(right, output.name) == values_of(output));
            else
                CHECK(distance(*find(*right, output.name), output) < 2e-6);
        }
    }
}

// A problem of two items with two positions; their only pair chooses row 5, row 1 with Q flipped and row 4
// with PE flipped.
Problem sums_of(const std::vector<float>& weights, float dy, Settings more = {}) {
    more.insert(more.end(), {{"arithmetic", "integer"}, {"rescale", 1.0}});  // up to 2048
    return Problem(family(), sized(2, 2, 2, 1, 1, 1, 1, more),
                   {floats("x", {2, 2, 2}, {0, 3, 2e-3f, 1e-3f, 0, 3, 2e-3f, 1e-3f}),
                    floats("positional", {1, 1, 1}, {1e-4f}), integers("anchors", {1, 1, 2}, {0, 1}),
                    floats("weights", {1, 8, 1}, weights), floats("dy", {2, 2, 1}, {0, dy, 0, dy})});
}

TEST_CASE("a kernel may subtract the rows before it multiplies with an infinite dy", "[lut]") {
    // The sums of both rows are infinite where j = 1, so that the reference has NaN as the largest gradient.
    const Problem problem(
        family(), sized(1, 3, 2, 1, 1, 1, 1, {{"normalise_gradients", true}}),
        {floats("x", {1, 3, 2}, {0, 3, 2e-3f, 1e-3f, 0, 3}), floats("positional", {2, 1, 1}, {1e-4f, 1e-4f}),
         integers("anchors", {1, 1, 2}, {0, 1}), floats("weights", {1, 8, 1}, {1, 2, 3, 4, 5, 6, 7, 8}),
         floats("dy", {1, 3, 1}, {0, INFINITY, 1})});
    Arrays outputs = copied(*problem.run(implementations(family()).front()));
    const auto dpositional = find(outputs, "dpositional")->as<float>();
    REQUIRE(dpositional.size() == 2);
    CHECK((std::isnan(dpositional[0]) && std::isnan(dpositional[1])));
    dpositional[1] = 0;  // divided by an infinite gradient
    check_verdicts(judged(family(), "fused", problem.parameters, problem.inputs, outputs));
}

TEST_CASE("a kernel of lut_sequence may add the pairs that choose the same row together", "[lut]") {
    constexpr int64_t length = 400;
    const float odd = -3.1f, even = 2.97f;  // the weights for earlier positions, whatever the later one
    std::vector<float> x;
    for (int64_t i = 0; i < length; ++i)
        x.insert(x.end(), {i % 2 == 0 ? 3.0f : 0.0f, i % 2 == 0 ? 0.0f : 3.0f});
    const Problem problem(family(), sized(1, length, 2, 1, 1, 1, 0),
                          {floats("x", {1, length, 2}, x), integers("anchors", {1, 1, 2}, {0, 1}),
                           floats("weights", {1, 4, 1}, {odd, even, odd, even})});
    Arrays outputs = copied(*problem.run(implementations(family()).front()));
    for (int64_t j = 0; j < length; ++j) {
        float sum = 0;
        for (int64_t i = 0; i < j; i += 2) sum += even;
        for (int64_t i = 1; i < j; i += 2) sum += odd;
        float& y = find(outputs, "y")->as<float>()[static_cast<size_t>(j)];
        CHECK(y == Approx(sum).margin(0.01));
        y = sum;
    }
    check_verdicts(judged(family(), "fused", problem.parameters, problem.inputs, outputs));
}

TEST_CASE("a kernel of lut_sequence may add the detectors in another order, with larger sums", "[lut]") {
    constexpr int64_t detectors = 400;
    std::vector<int32_t> anchors;
    std::vector<float> weights, chosen;
    for (int64_t t = 0; t < detectors; ++t) {
        anchors.insert(anchors.end(), {0, 1});
        chosen.push_back(t + 1 < detectors ? 0.3f : 4096.3f);
        weights.insert(weights.end(), 4, chosen.back());
    }
    const Problem problem(
        family(), sized(1, 2, 2, 1, detectors, 1, 0),
        {floats("x", {1, 2, 2}, {0, 3, 0, 3}), integers("anchors", {detectors, 1, 2}, anchors),
         floats("weights", {detectors, 4, 1}, weights)});
    Arrays outputs = copied(*problem.run(implementations(family()).front()));
    float& y = find(outputs, "y")->as<float>()[1];
    y = std::accumulate(chosen.rbegin(), chosen.rend(), 0.0f);
    check_verdicts(judged(family(), "fused", problem.parameters, problem.inputs, outputs));
    y += 2;
    const auto verdicts = judged(family(), "fused", problem.parameters, problem.inputs, outputs);
    CHECK(std::ranges::any_of(verdicts,
                              [](const OutputVerdict& one) { return one.verdict == Verdict::wrong; }));
}

// An event has 12 bytes. All shapes have 2147352576 events of one kind, the most below 2^31 with 16384
// positions.
TEST_CASE("a plan has memory for as many events as 32 bits number", "[lut]") {
    const Settings shape = GENERATE(Settings{{"detectors", 16}}, Settings{{"detectors", 1}, {"batch", 16}},
                                    Settings{{"detectors", 8}, {"backward", true}});
    const Settings settings = with(shape, {{"sequence_length", 16384}, {"inputs", 4}});
    const Parameters parameters = settled(family(), settings);
    const Arrays inputs = input_shapes(family(), parameters);
    const auto check = [](const Plan& plan) { CHECK(plan.memory_bytes > int64_t{2147352576} * 12); };
    check(plan_on_cpu(family(), "unfused", parameters, inputs, true));
    if (cuda::Device* const device = theory("sm_90a"))
        check(plan_on_device(*device, family(), "unfused", settled(family(), settings, {}, Backend::cuda),
                             inputs, true));
}

TEST_CASE("every variant of lut_sequence fails with the array whose sum overflows", "[lut]") {
    const std::string events = GENERATE("buffer", "statistic");
    for (const Implementation& implementation : implementations(family())) {
        INFO(implementation.name << " " << events);
        const auto error = [&](Problem problem) {
            problem.parameters.set("events", events);
            const auto outputs = problem.run(implementation);
            if (!outputs) CHECK(outputs.error().text == problem.reference().error().text);
            return outputs ? "" : outputs.error().text;
        };
        CHECK(error(sums_of({0, 1000, 0, 0, 1000, 1000, 0, 0}, 2)).empty());
        CHECK(contains(error(sums_of({0, 0, 0, 0, 0, 2048, 0, 0}, 0.5f)), "sum of y "));
        CHECK(contains(error(sums_of({0, 0, 0, 0, 2047, 0, 0, 0}, 2)), "sum of gradient_sums "));
        CHECK(contains(error(sums_of({0, 1000, 0, 0, -1000, 1000, 0, 0}, 2)), "sum of dpositional "));
        CHECK(contains(error(sums_of({0, 0, 0, 0, 0, 0, 0, 0}, 20, {{"lr", 100.0}})), "sum of dweights "));
    }
}

TEST_CASE("the sums of dx may overflow where those of its terms do not", "[lut]") {
    // Key 0 is the weakest of three pairs, each with a du of almost 2000.
    const Problem problem(
        family(), sized(1, 4, 2, 1, 1, 1, 0, {{"arithmetic", "integer"}, {"rescale", 1.0}}),
        {floats("x", {1, 4, 2}, {1e-3f, 0, 1, 0, 1, 0, 1, 0}), integers("anchors", {1, 1, 2}, {0, 1}),
         floats("weights", {1, 4, 1}, {0, 0, -500, 500}), floats("dy", {1, 4, 1}, {0, 4, 4, 4})});
    for (const Implementation& implementation : implementations(family())) {
        INFO(implementation.name);
        const auto outputs = problem.run(implementation);
        REQUIRE_FALSE(outputs);
        CHECK(contains(outputs.error().text, "sum of dx "));
    }
}

}  // namespace
}  // namespace sawtooth
