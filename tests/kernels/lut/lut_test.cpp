// Look-up tables: every variant against the double-precision reference, and properties that every variant
// has.

#include <cmath>

#include "tests/kernels/lut/run_lut.h"
#include "tests/kit/contains.h"

namespace sawtooth {
namespace {

using namespace lut_facts;

// Generates every kind of table and arithmetic.
Settings with_kinds(Settings settings) {
    const std::string connectivity = GENERATE("full", "sparse"), arithmetic = GENERATE("float", "integer");
    settings.emplace_back("connectivity", connectivity);
    settings.emplace_back("arithmetic", arithmetic);
    return settings;
}

TEST_CASE("every variant of lut is right around the sizes of tiles and warps", "[lut]") {
    const int64_t detectors = GENERATE(1, 31, 32, 33, 70), batch = GENERATE(1, 7, 8, 9);
    check_variants(Problem(lut_family(), with_kinds(sized(batch, 20, 9, detectors, 4))));
}

TEST_CASE("every variant of lut is right with 1 or 16 anchors and any outputs", "[lut]") {
    const auto [outputs, anchors] =
        GENERATE(table<int64_t, int64_t>({{1, 1}, {4, 1}, {31, 1}, {33, 1}, {130, 1}, {3, 16}}));
    check_variants(Problem(lut_family(), with_kinds(sized(5, 20, outputs, 2, anchors))));
}

TEST_CASE("a batch may be larger than a grid is high", "[lut]") {
    check_variants(Problem(lut_family(), with_kinds(sized(65537, 8, 2, 1, 8))));
}

TEST_CASE("tables of fused pass through shared memory if the items fill the GPU and rows are few",
          "[lut][cuda]") {
    cuda::Device* const device = theory("sm_90a");
    if (!device) return;
    const auto launches = [](cuda::Device& of, const Settings& settings) {
        const Parameters parameters = settled(lut_family(), settings, {}, Backend::cuda);
        return names_of(plan_in_theory(of, "fused", parameters, true));
    };
    const std::vector<std::string> from_l2 = {"look_up", "input_gradients", "sort_by_neuron",
                                              "weight_gradients"},
                                   in_slices = {"choose_rows",        "look_up_in_slices", "add_parts",
                                                "detector_gradients", "input_gradients",   "sort_by_neuron",
                                                "weight_gradients"};
    const Settings enough = sized(4096, 512, 256, 256, 8);
    CHECK(launches(*device, enough) == in_slices);
    for (const Settings& changed : std::vector<Settings>{
             {{"batch", int64_t{1300}}}, {{"batch", int64_t{4097}}}, {{"anchors_per_detector", int64_t{1}}}})
        CHECK(launches(*device, with(enough, changed)) == in_slices);
    for (const Settings& changed : std::vector<Settings>{{{"batch", int64_t{1000}}},
                                                         {{"outputs", int64_t{32}}},
                                                         {{"outputs", int64_t{252}}},
                                                         {{"inputs", int64_t{2000}}},
                                                         {{"detectors", int64_t{252}}},
                                                         {{"anchors_per_detector", int64_t{9}}},
                                                         {{"arithmetic", "integer"}},
                                                         {{"connectivity", "sparse"}}})
        CHECK(launches(*device, with(enough, changed)) == from_l2);
    // Older chips have no copies of boxes, and some have too little shared memory.
    for (const char* chip : {"sm_80", "sm_120"})
        if (cuda::Device* const other = theory(chip)) CHECK(launches(*other, enough) == from_l2);
}

// The last items of a thread block, the last detectors of a part, tables of 2 to 256 rows, and one to eight
// parts.
TEST_CASE("fused is right where tables pass through shared memory", "[lut][cuda][gpu]") {
    if (!gpu()) return;
    const auto [batch, inputs, outputs, detectors, anchors] =
        GENERATE(table<int64_t, int64_t, int64_t, int64_t, int64_t>({{3073, 20, 256, 72, 8},
                                                                     {1500, 512, 256, 64, 3},
                                                                     {1793, 21, 512, 264, 1},
                                                                     {6433, 700, 128, 64, 5},
                                                                     {701, 30, 4096, 8, 7}}));
    Problem problem(lut_family(), sized(batch, inputs, outputs, detectors, anchors));
    const auto pairs = problem["anchors"].as<int32_t>();
    for (size_t i = 0; i < pairs.size(); i += 7) pairs[i] = -1;             // a skipped pair
    for (size_t i = 2; i < pairs.size(); i += 10) pairs[i] = pairs[i + 1];  // which adds nothing to dx
    const Arrays got = run_on_device(*gpu(), lut_family(), "fused", problem.parameters, problem.inputs);
    check_verdicts(judged(lut_family(), "fused", problem.parameters, problem.inputs, got, Backend::cuda));
}

TEST_CASE("outputs may be split in any way", "[lut]") {
    const int64_t blocks = GENERATE(1, 2, 3, 40), group = GENERATE(1, 3, 64);
    check_variants(Problem(lut_family(), with_kinds(sized(5, 20, 40, 33, 3,
                                                          {{"output_blocks", blocks},
                                                           {"synapse_group_size", group},
                                                           {"synapses_per_neuron", int64_t{9}}}))));
}

// A problem whose inputs are often equal, so that there are differences of 0 and of equal magnitude.
Problem with_ties(Settings settings) {
    Problem problem(lut_family(), with_kinds(std::move(settings)));
    for (float& x : problem["x"].as<float>()) x = std::round(x);
    return problem;
}

TEST_CASE("variants of lut choose the same rows where differences are zero or equal", "[lut]") {
    Problem problem = with_ties(sized(9, 6, 5, 40, 5));
    check_variants(problem);
    for (float& x : problem["x"].as<float>()) x = -0.0f;
    check_variants(problem);
    // All anchors are equal.
    for (int32_t& anchor : problem["anchors"].as<int32_t>()) anchor = 3;
    check_variants(problem);
}

TEST_CASE("variants of lut skip pairs", "[lut]") {
    Problem problem = with_ties(sized(9, 6, 5, 40, 3));
    const auto anchors = problem["anchors"].as<int32_t>();
    for (size_t i = 0; i < anchors.size(); i += 3) anchors[i] = -1;
    check_variants(problem);
    for (int32_t& anchor : anchors) anchor = -1;
    check_variants(problem);
}

TEST_CASE("neurons without synapses and repeated targets give the right sums", "[lut]") {
    const std::string arithmetic = GENERATE("float", "integer");
    const Settings settings = sized(9, 12, 3, 40, 3, {{"arithmetic", arithmetic}, {"lr", 0.5}});
    // Two of three neurons have no synapses; the others have 8, to 3 outputs.
    std::vector<int32_t> offsets(40 * 8 + 1);
    for (size_t n = 1; n < offsets.size(); ++n) offsets[n] = offsets[n - 1] + (n % 3 == 0 ? 8 : 0);
    check_variants(Problem(lut_family(), settings, {integers("synapse_offsets", {321}, offsets)}));
    // There are no synapses at all.
    check_variants(
        Problem(lut_family(), settings, {integers("synapse_offsets", {321}, std::vector<int32_t>(321))}));
}

TEST_CASE("variants of lut use the rates of synapses and subtract gradients", "[lut]") {
    const std::string arithmetic = GENERATE("float", "integer"), policy = GENERATE("internal", "external");
    const Settings settings = sized(
        9, 12, 7, 40, 3,
        {{"arithmetic", arithmetic}, {"gradient_policy", policy}, {"connectivity", "sparse"}, {"lr", 0.3}});
    Problem problem(lut_family(), settings);
    problem.inputs = generated_inputs(lut_family(), problem.parameters, true);
    REQUIRE(find(problem.inputs, "synapse_meta"));
    check_variants(problem);
    check_variants(Problem(
        lut_family(), sized(9, 12, 7, 40, 3, {{"arithmetic", arithmetic}, {"gradient_policy", policy}})));
}

TEST_CASE("a sparse table with all synapses gives what a full one gives", "[lut]") {
    constexpr int64_t outputs = 9, detectors = 37, neurons = detectors * 16;
    const std::string arithmetic = GENERATE("float", "integer");
    const Problem full(lut_family(), sized(5, 20, outputs, detectors, 4, {{"arithmetic", arithmetic}}));
    Array weights = full["weights"];
    weights.name = "synapse_weights";
    weights.shape = {neurons * outputs};
    std::vector<int32_t> offsets, targets;
    for (int32_t n = 0; n <= neurons; ++n) offsets.push_back(n * outputs);
    for (int32_t s = 0; s < neurons * outputs; ++s) targets.push_back(s % outputs);
    const Problem sparse(
        lut_family(), sized(5, 20, outputs, detectors, 4, {{"arithmetic", arithmetic}}),
        {full["x"], full["anchors"], full["dy"], weights, integers("synapse_offsets", {neurons + 1}, offsets),
         integers("synapse_targets", {neurons * outputs}, targets)});
    REQUIRE(sparse.parameters.is("connectivity", "sparse"));
    for (const Implementation& implementation : implementations(lut_family())) {
        INFO(implementation.name << " " << arithmetic);
        const auto of_full = full.run(implementation), of_sparse = sparse.run(implementation);
        REQUIRE(of_full);
        for (const Array& output : *of_full) {
            INFO(output.name);
            if (arithmetic == "integer")
                CHECK(values_of(of_sparse, output.name) == values_of(output));
            else
                CHECK(distance_of_values(*find(*of_sparse, output.name), output) < 2e-6);
        }
    }
}

// Returns the problem with only some of its detectors.
Problem part_of(const Problem& whole, int64_t first, int64_t last) {
    Arrays given = {whole["x"], whole["dy"]};
    for (const char* name : {"anchors", "weights"}) {
        Array array = whole[name];
        const int64_t bytes = array.bytes() / array.shape[0];
        array.shape[0] = last - first;
        array.data = {array.data, array.data.get() + first * bytes};
        given.push_back(std::move(array));
    }
    Problem part(whole.family, {}, given);
    part.parameters = whole.parameters;
    part.parameters.set("detectors", last - first);
    part.inputs = given;
    return part;
}

TEST_CASE("the outputs of detectors add up", "[lut]") {
    const std::string arithmetic = GENERATE("float", "integer");
    const int64_t first = GENERATE(1, 17, 32);
    const Problem whole(lut_family(), sized(9, 20, 9, 50, 4, {{"arithmetic", arithmetic}}));
    const Problem front = part_of(whole, 0, first), back = part_of(whole, first, 50);
    for (const Implementation& implementation : implementations(lut_family())) {
        INFO(implementation.name << " " << arithmetic << " after " << first);
        const auto of_whole = whole.run(implementation), of_front = front.run(implementation),
                   of_back = back.run(implementation);
        for (const char* name : {"y", "dx"}) {
            INFO(name);
            std::vector<double> sum = values_of(of_front, name);
            const std::vector<double> rest = values_of(of_back, name), all = values_of(of_whole, name);
            for (size_t i = 0; i < sum.size(); ++i)
                // The integers are below 2^24, which f32 holds.
                if (arithmetic == "integer")
                    CHECK(sum[i] + rest[i] == all[i]);
                else
                    CHECK(sum[i] + rest[i] == Approx(all[i]).epsilon(1e-5).margin(2e-5));
        }
        std::vector<double> dweights = values_of(of_front, "dweights");
        const std::vector<double> rest = values_of(of_back, "dweights");
        dweights.insert(dweights.end(), rest.begin(), rest.end());
        CHECK(dweights == values_of(of_whole, "dweights"));
    }
}

TEST_CASE("integer sums differ from sums of floats by the roundings of their terms", "[lut]") {
    const std::string connectivity = GENERATE("full", "sparse");
    constexpr int64_t detectors = 50, outputs = 9, batch = 9, synapses = 12;
    const auto problem_with = [&](const char* arithmetic) {
        return Problem(lut_family(), sized(batch, 20, outputs, detectors, 4,
                                           {{"arithmetic", arithmetic},
                                            {"connectivity", connectivity},
                                            {"synapses_per_neuron", synapses}}));
    };
    const Problem floats = problem_with("float"), integers = problem_with("integer");
    // Every term is rounded by up to half of 2^-20 / rescale; `rounding` is that of f32 for sums of magnitude
    // 20.
    const double half = 0x1p-17, rounding = 1e-5;
    for (const Implementation& implementation : implementations(lut_family())) {
        INFO(implementation.name << " " << connectivity);
        const auto exact = floats.reference(), rounded = integers.run(implementation);
        const auto largest = [&](const char* name) {
            const std::vector<double> left = values_of(exact, name), right = values_of(rounded, name);
            double difference = 0;
            for (size_t i = 0; i < left.size(); ++i)
                difference = std::max(difference, std::abs(left[i] - right[i]));
            return difference;
        };
        CHECK(largest("y") <= detectors * synapses * half + rounding);
        CHECK(largest("dweights") <= batch * half + rounding);
        // |up'| is at most 1/2; g has the terms of two rows, and an input may be in all weakest pairs.
        CHECK(largest("dx") <= 2 * detectors * (synapses + 1) * half + rounding);
        CHECK(largest("y") > 0);
    }
}

TEST_CASE("sums in fixed point are judged by every bit", "[lut]") {
    const Family& family = *GENERATE(&lut_family(), &lut_sequence_family());
    const Problem problem(family,
                          {{"arithmetic", "integer"}, {"gradient_policy", "internal"}, {"backward", true}});
    for (const Variant& variant : family.variants) {
        Arrays outputs = run(variant.name, problem.parameters, problem.inputs).outputs;
        const auto verdicts = [&] {
            return judged(family, variant.name, problem.parameters, problem.inputs, outputs);
        };
        for (const OutputVerdict& verdict : verdicts()) {
            INFO(variant.name << " " << verdict.output);
            CHECK(verdict.verdict == Verdict::right);
        }
        for (const char* name : {"y", "dx", "dweights"}) {
            const auto values = find(outputs, name)->as<float>();
            float& largest = *std::ranges::max_element(values);
            largest = std::nextafter(std::nextafter(largest, 0.0f), 0.0f);
        }
        int wrong = 0;
        for (const OutputVerdict& verdict : verdicts()) wrong += verdict.verdict == Verdict::wrong;
        CHECK(wrong == 3);
    }
}

TEST_CASE("any number of threads gives the same bits of lut", "[lut][cpu][threads]") {
    const Problem problem(lut_family(), with_kinds(sized(300, 40, 70, 65, 5)));
    for (const char* variant : {"unfused", "fused"})
        check_any_threads(variant, problem.parameters, problem.inputs);
}

TEST_CASE("every variant of lut fails with the array whose sum overflows", "[lut]") {
    const Problem dx(lut_family(), sized(1, 2, 1, 2, 1, {{"arithmetic", "integer"}, {"rescale", 1.0}}),
                     {floats("x", {1, 2}, {0, 0}), integers("anchors", {2, 1, 2}, {0, 1, 0, 1}),
                      floats("weights", {2, 2, 1}, {1000, -1000, 1000, -1000}), floats("dy", {1, 1}, {2})});
    for (const Implementation& implementation : implementations(lut_family())) {
        INFO(implementation.name);
        const auto error = [&](const Problem& problem) {
            const auto outputs = problem.run(implementation), wanted = problem.reference();
            REQUIRE(static_cast<bool>(outputs) == static_cast<bool>(wanted));
            if (outputs) return std::string();
            CHECK(outputs.error().text == wanted.error().text);
            return outputs.error().text;
        };
        CHECK(error(sums_of({1000, 1000, 47}, {1}, 1)).empty());
        CHECK(error(sums_of({3000, 1, -3000}, {0.125f}, 1)).empty());
        CHECK(contains(error(sums_of({1000, 1000, 48}, {0.5f}, 1)), "sum of y "));
        CHECK(contains(error(sums_of({1e30f}, {0}, 1)), "sum of y "));
        CHECK(contains(error(sums_of({100}, {30}, 1)), "sum of gradient_sums "));
        CHECK(contains(error(sums_of({1}, {30, 30, 30}, 1, 100)), "sum of dweights "));
        CHECK(contains(error(dx), "sum of dx "));
    }
}

std::vector<std::string> launches_of(const std::string& variant, const Settings& settings) {
    const Problem problem(lut_family(), settings);
    return names_of(plan_on_cpu(lut_family(), variant, problem.parameters, problem.inputs));
}

TEST_CASE("each kernel of the source is a launch of unfused", "[lut][cpu]") {
    using Names = std::vector<std::string>;
    CHECK(launches_of("unfused", {}) == Names{"clear_y", "check_detectors", "fill_outputs_fully_connected"});
    CHECK(launches_of("unfused", {{"connectivity", "sparse"}, {"arithmetic", "integer"}}) ==
          Names{"clear_y", "clear_event_count", "fire_detectors", "fill_outputs_by_forward_groups",
                "convert_integers_to_floats"});
    const auto has = [](const Names& names, const std::string& name) {
        return std::find(names.begin(), names.end(), name) != names.end();
    };
    const Names full = launches_of("unfused", {{"backward", true}});
    for (const char* name : {"gather_x_gradients_fully_connected", "gather_w_gradients_fully_connected",
                             "propagate_through_detectors", "clear_dx", "clear_dweights"})
        CHECK(has(full, name));
    const Names sparse = launches_of("unfused", {{"backward", true}, {"connectivity", "sparse"}});
    for (const char* name : {"fire_detectors_by_lookup_indices", "gather_gradients",
                             "propagate_through_detectors", "clear_dx", "clear_dweights"})
        CHECK(has(sparse, name));
}

}  // namespace
}  // namespace sawtooth
