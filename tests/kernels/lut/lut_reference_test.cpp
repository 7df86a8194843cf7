// The double-precision references of the look-up tables: cases worked out by hand, and derivatives.

#include <cmath>

#include "tests/kernels/lut/run_lut.h"
#include "tests/kit/contains.h"

namespace sawtooth {
namespace {

using namespace lut_facts;
using Numbers = std::vector<double>;

// A problem of two detectors with two pairs. The first finds -2 and 3.5, which choose row 2, and flips bit 0.
// The second finds 0 and skips a pair, which chooses row 0.
Problem by_hand(const Settings& more = {}) {
    Problem problem(
        lut_family(), sized(1, 4, 2, 2, 2, more),
        {floats("x", {1, 4}, {1, 3, 3, -0.5f}), integers("anchors", {2, 2, 2}, {0, 1, 1, 3, 2, 1, 3, -1}),
         floats("dy", {1, 2}, {2, -1})});
    return problem;
}

TEST_CASE("two detectors choose rows, and their weakest bits give gradients", "[lut]") {
    Problem problem = by_hand({{"lr", 0.5}});
    const auto weights = problem["weights"].as<float>();  // 10 detector + 2 row + output
    for (size_t i = 0; i < weights.size(); ++i) {
        const size_t detector = i / 8;
        weights[i] = static_cast<float>(i % 8 + detector * 10);
    }
    const auto outputs = problem.reference();
    CHECK(values_of(outputs, "lookup_index") == Numbers{2, 0});
    CHECK(values_of(outputs, "min_delta") == Numbers{-2, 0});
    CHECK(values_of(outputs, "min_delta_index") == Numbers{0, 0});
    CHECK(values_of(outputs, "y") == Numbers{4 + 10, 5 + 11});
    // Both g are -2: 2 * 4 - 5 - (2 * 6 - 7) and 2 * 10 - 11 - (2 * 12 - 13); up'(-2) = -1/18, up'(0) = -1/2.
    CHECK(values_of(outputs, "dx") == Numbers{2 * 0.5 / 9, -2 * 0.5 / 9 - 1, 1, 0});
    Numbers dweights(16);
    dweights[4] = dweights[8] = 1;
    dweights[5] = dweights[9] = -0.5;
    CHECK(values_of(outputs, "dweights") == dweights);
    CHECK_FALSE(find(*outputs, "weights_after"));
}

TEST_CASE("the internal policy subtracts the gradients of the weights", "[lut]") {
    const Problem problem = by_hand({{"gradient_policy", "internal"}, {"lr", 0.25}});
    const auto outputs = problem.reference();
    const Numbers dweights = values_of(outputs, "dweights");
    Numbers wanted = values_of(problem["weights"]);
    for (size_t i = 0; i < wanted.size(); ++i) wanted[i] -= dweights[i];
    CHECK(values_of(outputs, "weights_after") == wanted);
}

TEST_CASE("equal magnitudes leave the first pair the weakest, and skipped pairs are never", "[lut]") {
    const auto found = [](const std::vector<int32_t>& anchors, std::string_view name) {
        const Problem problem(lut_family(), sized(1, 3, 1, 1, 3),
                              {floats("x", {1, 3}, {1, 2, 3}), integers("anchors", {1, 3, 2}, anchors)});
        return values_of(problem.reference(), name)[0];
    };
    const std::vector<int32_t> equal = {2, 0, 1, 0, 1, 2}, same = {2, 0, 1, 1, 2, 2};
    CHECK(found(equal, "min_delta") == 1);
    CHECK(found(equal, "min_delta_index") == 1);
    CHECK(found(equal, "lookup_index") == 3);
    CHECK(found(same, "min_delta") == 0);
    CHECK(found(same, "min_delta_index") == 1);
    CHECK(found(same, "lookup_index") == 1);
    const std::vector<int32_t> skipped = {-1, 0, 2, 0, 1, -1};
    CHECK(found(skipped, "min_delta") == 2);
    CHECK(found(skipped, "min_delta_index") == 1);
    CHECK(found(skipped, "lookup_index") == 2);
}

TEST_CASE("a detector that skips all pairs adds its first row, and no dx", "[lut]") {
    const Problem problem(
        lut_family(), sized(2, 3, 2, 1, 2),
        {integers("anchors", {1, 2, 2}, {-1, 0, 2, -1}), floats("dy", {2, 2}, {1, 2, 3, 4})});
    const auto outputs = problem.reference();
    const Numbers weights = values_of(problem["weights"]);
    CHECK(values_of(outputs, "lookup_index") == Numbers{0, 0});
    CHECK(values_of(outputs, "min_delta") == Numbers{0, 0});
    CHECK(values_of(outputs, "min_delta_index") == Numbers{-1, -1});
    CHECK(values_of(outputs, "y") == Numbers{weights[0], weights[1], weights[0], weights[1]});
    CHECK(values_of(outputs, "dx") == Numbers(6));
    CHECK(values_of(outputs, "dweights") == Numbers{4, 6, 0, 0, 0, 0, 0, 0});
}

// A problem of one detector with one pair and two items: x = 1, 0 chooses neuron 1, x = 0, 1 chooses neuron
// 0.
Problem sparse_by_hand(const Arrays& more) {
    Arrays given = {floats("x", {2, 2}, {1, 0, 0, 1}), integers("anchors", {1, 1, 2}, {0, 1}),
                    floats("dy", {2, 3}, {1, 10, 100, 2, 20, 200})};
    given.insert(given.end(), more.begin(), more.end());
    return Problem(lut_family(), sized(2, 2, 3, 1, 1, {{"lr", 0.5}}), given);
}

TEST_CASE("repeated targets of a neuron all count", "[lut]") {
    const auto outputs = sparse_by_hand({integers("synapse_offsets", {3}, {0, 1, 4}),
                                         integers("synapse_targets", {4}, {2, 0, 2, 2}),
                                         floats("synapse_weights", {4}, {7, 1, 2, 4})})
                             .reference();
    CHECK(values_of(outputs, "y") == Numbers{1, 0, 2 + 4, 0, 0, 7});
    CHECK(values_of(outputs, "dweights") == Numbers{100, 0.5, 50, 50});
    // Item 0: (1 + 600 - 700) up'(1), item 1: (1400 - 2 - 1200) up'(-1).
    CHECK(values_of(outputs, "dx") == Numbers{-99 / 8.0, 99 / 8.0, -198 / 8.0, 198 / 8.0});
}

TEST_CASE("a neuron without synapses adds nothing, and 0 to the difference of its alternative", "[lut]") {
    const auto outputs =
        sparse_by_hand({integers("synapse_offsets", {3}, {0, 0, 1}), integers("synapse_targets", {1}, {1}),
                        floats("synapse_weights", {1}, {3})})
            .reference();
    CHECK(values_of(outputs, "y") == Numbers{0, 3, 0, 0, 0, 0});
    CHECK(values_of(outputs, "dx") == Numbers{30 / 8.0, -30 / 8.0, 60 / 8.0, -60 / 8.0});
    CHECK(values_of(outputs, "dweights") == Numbers{5});
}

TEST_CASE("a synapse has the learning rate that its meta names", "[lut]") {
    const auto outputs =
        sparse_by_hand({integers("synapse_offsets", {3}, {0, 1, 2}), integers("synapse_targets", {2}, {0, 1}),
                        integers("synapse_meta", {2}, {1, 0}), floats("meta_lr", {2}, {3, 0.25f})})
            .reference();
    CHECK(values_of(outputs, "dweights") == Numbers{2 * 0.5 * 0.25, 10 * 0.5 * 3});
}

// y is linear in every single weight: its difference between 1 and 0 is the derivative.
TEST_CASE("gradients of the weights agree with differences of the reference", "[lut]") {
    const std::string connectivity = GENERATE("full", "sparse");
    const bool pairs = GENERATE(false, true);
    Settings settings = sized(2, 8, 3, 3, pairs ? 1 : 3, {{"connectivity", connectivity}, {"lr", 0.75}});
    if (pairs) {
        settings.emplace_back("sequence_length", int64_t{5});
        settings.emplace_back("positional_bits", int64_t{1});
    }
    Problem problem(pairs ? lut_sequence_family() : lut_family(), settings);
    const Numbers dy = values_of(problem["dy"]);
    const auto loss = [&] {
        const Numbers y = values_of(problem.reference(), "y");
        double sum = 0;
        for (size_t i = 0; i < y.size(); ++i) sum += y[i] * dy[i];
        return sum;
    };
    const Numbers dweights = values_of(problem.reference(), "dweights");
    const auto weights = problem[connectivity == "full" ? "weights" : "synapse_weights"].as<float>();
    REQUIRE(weights.size() == dweights.size());
    for (size_t i = 0; i < weights.size(); ++i) {
        const float value = weights[i];
        weights[i] = 1;
        const double at_one = loss();
        weights[i] = 0;
        const double at_zero = loss();
        weights[i] = value;
        CHECK(dweights[i] == Approx(0.75 * (at_one - at_zero)).epsilon(1e-12).margin(1e-12));
    }
}

// Each detector has two inputs of its own, which it compares. Exchanging them flips its bit.
TEST_CASE("dx is what flipping the weakest bit takes from the loss, times the surrogate", "[lut]") {
    const std::string connectivity = GENERATE("full", "sparse");
    constexpr int64_t detectors = 12;
    std::vector<int32_t> anchors(2 * detectors);
    for (size_t i = 0; i < anchors.size(); ++i) anchors[i] = static_cast<int32_t>(i);
    Problem problem(lut_family(), sized(1, 2 * detectors, 5, detectors, 1, {{"connectivity", connectivity}}),
                    {integers("anchors", {detectors, 1, 2}, anchors)});
    const Numbers dy = values_of(problem["dy"]), dx = values_of(problem.reference(), "dx");
    const auto loss = [&] {
        const Numbers y = values_of(problem.reference(), "y");
        double sum = 0;
        for (size_t i = 0; i < y.size(); ++i) sum += y[i] * dy[i];
        return sum;
    };
    const double before = loss();
    const auto x = problem["x"].as<float>();
    for (size_t i = 0; i < x.size(); i += 2) {
        const double delta = x[i] - x[i + 1];
        std::swap(x[i], x[i + 1]);
        const double g = before - loss();
        std::swap(x[i], x[i + 1]);
        const double wanted = g * std::copysign(0.5, delta) / std::pow(1 + std::abs(delta), 2);
        CHECK(dx[i] == Approx(wanted).epsilon(1e-6).margin(1e-12));  // delta is rounded to f32
        CHECK(dx[i + 1] == -dx[i]);
    }
}

TEST_CASE("integer arithmetic rounds every term to a multiple of 2^-20 / rescale", "[lut]") {
    constexpr double sixteenths = 0x1p-16;  // a rescale for which terms are multiples of 1/16
    const auto outputs =
        sums_of({1 / 32.0f, 3 / 32.0f, -5 / 32.0f, 1}, {1 / 32.0f, 3 / 32.0f}, sixteenths).reference();
    // Halves are rounded to even numbers: 0, 2, -2 and 16 sixteenths.
    CHECK(values_of(outputs, "y") == Numbers{1, 1});
    CHECK(values_of(outputs, "dweights")[0] == 0 / 16.0 + 2 / 16.0);
}

TEST_CASE("a sum that leaves 32 bits is an error that names its array", "[lut]") {
    const auto error = [](const std::vector<float>& weights, const std::vector<float>& dy, double lr = 1) {
        const auto outputs = sums_of(weights, dy, 1, lr).reference();  // from -2048 to less than 2048
        return outputs ? "" : outputs.error().text;
    };
    CHECK(error({1000, 1000, 47}, {1}).empty());
    CHECK(error({-1000, -1000, -48}, {1}).empty());
    CHECK(error({3000, 1, -3000}, {0.5f}).empty());  // a partial sum leaves and comes back
    CHECK(contains(error({1000, 1000, 48}, {0.5f}), "sum of y "));
    CHECK(contains(error({1e30f}, {0}), "sum of y "));
    CHECK(contains(error({NAN}, {0}), "gradient_sums"));
    CHECK(contains(error({100}, {30}), "sum of gradient_sums "));
    CHECK(contains(error({1}, {30, 30, 30}, 100), "sum of dweights "));
    CHECK(contains(error({100}, {30}), "rescale = 1"));
}

// Gradient sums of 2000 and -2000 give a du of almost 2000; a sum of two such terms overflows.
TEST_CASE("an overflow of dx or dpositional is named", "[lut]") {
    const Settings fixed = {{"arithmetic", "integer"}, {"rescale", 1.0}};
    const Problem vectors(
        lut_family(), sized(1, 2, 1, 2, 1, fixed),
        {floats("x", {1, 2}, {0, 0}), integers("anchors", {2, 1, 2}, {0, 1, 0, 1}),
         floats("weights", {2, 2, 1}, {1000, -1000, 1000, -1000}), floats("dy", {1, 1}, {2})});
    Settings of_pairs = sized(2, 2, 1, 1, 1, fixed);
    of_pairs.emplace_back("sequence_length", int64_t{2});
    of_pairs.emplace_back("positional_bits", int64_t{1});
    const Problem pairs(lut_sequence_family(), of_pairs,
                        {floats("x", {2, 2, 2}, {0, 3, 2, 1, 0, 3, 2, 1}),
                         floats("positional", {1, 1, 1}, {1e-3f}), integers("anchors", {1, 1, 2}, {0, 1}),
                         floats("weights", {1, 8, 1}, {0, 1000, 0, 0, -1000, 1000, 0, 0}),
                         floats("dy", {2, 2, 1}, {0, 2, 0, 2})});
    const auto of_vectors = vectors.reference(), of_sequences = pairs.reference();
    REQUIRE_FALSE(of_vectors);
    CHECK(contains(of_vectors.error().text, "sum of dx "));
    REQUIRE_FALSE(of_sequences);
    CHECK(contains(of_sequences.error().text, "sum of dpositional "));
}

// A problem of one detector with one pair and one positional bit, for two positions: Q is 1, K is 0, PE is 1,
// which choose row 5.
Problem pair_by_hand(const std::vector<float>& x, const std::vector<int32_t>& anchors = {0, 1}) {
    return Problem(
        lut_sequence_family(),
        sized(1, 2, 1, 1, 1, {{"sequence_length", int64_t{2}}, {"positional_bits", int64_t{1}}}),
        {floats("x", {1, 2, 2}, x), floats("positional", {1, 1, 1}, {0.5f}),
         integers("anchors", {1, 1, 2}, anchors), floats("weights", {1, 8, 1}, {0, 1, 4, 9, 16, 25, 36, 49}),
         floats("dy", {1, 2, 1}, {7, 2})});
}

TEST_CASE("a pair of positions chooses a row by query, key and distance", "[lut]") {
    const auto outputs = pair_by_hand({0, 3, 2, 1}).reference();
    CHECK(values_of(outputs, "lookup_index") == Numbers{0, 1});
    CHECK(values_of(outputs, "min_delta") == Numbers{-3, 1});
    CHECK(values_of(outputs, "min_delta_index") == Numbers{0, 0});
    CHECK(values_of(outputs, "positional_lookup_index") == Numbers{1});
    CHECK(values_of(outputs, "positional_min_delta") == Numbers{0.5});
    CHECK(values_of(outputs, "positional_min_delta_index") == Numbers{0});
    CHECK(values_of(outputs, "y") == Numbers{0, 25});
    CHECK(values_of(outputs, "dweights") == Numbers{0, 0, 0, 0, 0, 2, 0, 0});
    // Q is weaker than K, and PE than both: 2 (25 - 1) up'(1) and 2 (25 - 16) up'(1/2).
    CHECK(values_of(outputs, "dx") == Numbers{0, 0, 6, -6});
    CHECK(values_of(outputs, "dpositional")[0] == Approx(4).epsilon(1e-15));
}

TEST_CASE("the key's bit flips where query and key are as weak, and PE only if it is weaker", "[lut]") {
    const auto outputs = pair_by_hand({0, 0.5f, 0.5f, 0}).reference();
    CHECK(values_of(outputs, "y") == Numbers{0, 25});
    const double du = 2 * (25 - 49) * -0.5 / 2.25;
    CHECK(values_of(outputs, "dx") == Numbers{du, -du, 0, 0});
    CHECK(values_of(outputs, "dpositional") == Numbers{0});
}

TEST_CASE("positions whose pairs are all skipped are the weakest, and have no dx", "[lut]") {
    const auto outputs = pair_by_hand({0, 3, 2, 1}, {0, -1}).reference();
    CHECK(values_of(outputs, "min_delta_index") == Numbers{-1, -1});
    CHECK(values_of(outputs, "y") == Numbers{0, 1});
    CHECK(values_of(outputs, "dx") == Numbers(4));
    CHECK(values_of(outputs, "dpositional") == Numbers{0});
    CHECK(values_of(outputs, "dweights") == Numbers{0, 2, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("a sequence of one position has no pairs", "[lut]") {
    const Problem problem(lut_sequence_family(), {{"sequence_length", int64_t{1}}, {"backward", true}});
    const auto outputs = problem.reference();
    for (const char* name : {"y", "dx", "dweights"})
        for (const double value : values_of(outputs, name)) CHECK(value == 0);
    CHECK(find(*outputs, "dpositional")->shape == Shape{0, 8, 2});
    CHECK(find(*outputs, "positional_min_delta")->shape == Shape{0, 8});
}

TEST_CASE("the references of the look-up tables stop on request", "[lut]") {
    std::stop_source stop;
    stop.request_stop();
    for (const Family* family : {&lut_family(), &lut_sequence_family()}) {
        const Problem problem(*family, {});
        const auto outcome = family->reference(problem.parameters, problem.inputs, stop.get_token());
        REQUIRE_FALSE(outcome);
        CHECK(outcome.error().kind == Error::Kind::cancelled);
    }
}

}  // namespace
}  // namespace sawtooth
