// The memory rules on the CPU: every strategy against the double-precision reference.

#include "kernels/memory/figures/common.h"
#include "tests/kernels/memory/run_memory.h"
#include "tests/kit/catch.h"

namespace sawtooth {
namespace {

using namespace memory_facts;

// f32 rounds by about 1e-7 per token, and forgetting also removes rounding. The tolerance is ten times the
// largest error seen over all shapes here.
constexpr double tolerance = 5e-6;

// Compares every output that has a reference; returns the number of comparisons.
int check_against_reference(const std::string& strategy, const Parameters& parameters, const Arrays& inputs,
                            const Arrays& wanted, double limit = tolerance) {
    const Ran ran = run(strategy, parameters, inputs);
    int compared = 0;
    for (const Array& output : ran.outputs) {
        const Array* const reference = find(wanted, output.name);
        if (!reference) continue;
        INFO(strategy << " " << output.name << " " << to_text(output.shape));
        CHECK(distance(output, *reference) < limit);
        ++compared;
    }
    return compared;
}

TEST_CASE("exact strategies agree with the reference in every rule, width and chunk", "[memory][cpu]") {
    const std::string rule = any_rule();
    // 1 is a single number; 17 is one more than a whole strip; 64 is whole strips; 128 is the widest size in
    // use.
    const int64_t d = GENERATE(1, 17, 64, 128);
    // 1; sizes around a block of 16 and a tile of 64; longer than the sequence.
    const int64_t chunk = GENERATE(1, 15, 64, 65, 500);
    if (d == 128 && chunk != 65) return;  // the reference takes a while
    const auto parameters = parameters_with({{"rule", rule},
                                             {"batch", int64_t{2}},
                                             {"length", int64_t{150}},
                                             {"d", d},
                                             {"chunk", chunk},
                                             {"slot_count", int64_t{5}},
                                             {"compress", std::min<int64_t>(d, 7)}});
    const Arrays inputs = inputs_for(parameters);
    const Arrays wanted = reference_for(parameters, inputs);
    INFO(rule << " d " << d << " chunk " << chunk);
    for (const std::string& strategy : strategies_for(parameters))
        if (is_exact(strategy, parameters)) {
            // y, m and boundaries, with momentum also s; of trellis y, sk and sv.
            const bool has_s = rule == "titans" || rule.starts_with("atlas");
            CHECK(check_against_reference(strategy, parameters, inputs, wanted) == (has_s ? 4 : 3));
        }
}

TEST_CASE("gates of zero and one, and a gate that forgets everything inside a chunk", "[memory][cpu]") {
    const std::string rule = GENERATE("titans", "delta", "hebbian", "atlas", "atlas_omega", "trellis");
    const auto parameters = parameters_with({{"rule", rule},
                                             {"length", int64_t{100}},
                                             {"d", int64_t{12}},
                                             {"compress", int64_t{5}},
                                             {"chunk", int64_t{40}}});
    Arrays inputs = inputs_for(parameters);
    SECTION("forget nothing") { fill(inputs, "alpha", 0); }
    SECTION("forget all, always") { fill(inputs, "alpha", 1); }
    SECTION("forget all, here and there") {
        for (const size_t token : {size_t{0}, size_t{17}, size_t{18}, size_t{40}, size_t{99}})
            find(inputs, "alpha")->as<float>()[token] = 1;
    }
    SECTION("no momentum") { fill(inputs, "eta", 0); }
    SECTION("all momentum") {
        fill(inputs, "eta", 1);
        fill(inputs, "theta", 0.01f);
    }
    SECTION("no step") { fill(inputs, "theta", 0); }
    SECTION("whole steps") { fill(inputs, "theta", rule == "trellis" ? 0.2f : 1); }
    const Arrays wanted = reference_for(parameters, inputs);
    for (const std::string& strategy : strategies_for(parameters))
        if (is_exact(strategy, parameters)) check_against_reference(strategy, parameters, inputs, wanted);
}

TEST_CASE("decay products that underflow become zeros and nothing worse", "[memory][cpu]") {
    const std::string rule = GENERATE("delta", "hebbian", "atlas");
    const float alpha = GENERATE(0.5f, 0.9f, 0.99f);
    const auto parameters = parameters_with(
        {{"rule", rule}, {"length", int64_t{3000}}, {"d", int64_t{8}}, {"chunk", int64_t{3000}}});
    Arrays inputs = inputs_for(parameters);
    fill(inputs, "alpha", alpha);
    const Arrays wanted = reference_for(parameters, inputs);
    for (const std::string& strategy : strategies_for(parameters))
        if (is_exact(strategy, parameters)) check_against_reference(strategy, parameters, inputs, wanted);
}

TEST_CASE("very short keys are normalised safely", "[memory][cpu]") {
    const float size = GENERATE(0.0f, 1e-30f, 1e-10f, 1e25f);
    const auto parameters = parameters_with({{"length", int64_t{40}}, {"d", int64_t{8}}});
    Arrays inputs = inputs_for(parameters);
    for (const char* name : {"k", "q"})
        for (float& value : find(inputs, name)->as<float>()) value *= size;
    const Arrays wanted = reference_for(parameters, inputs);
    for (const char* strategy : {"sequential", "sequential_persistent", "exact_chunk"})
        check_against_reference(strategy, parameters, inputs, wanted);
}

TEST_CASE("narrow types lose only the rounding of y", "[memory][cpu]") {
    const std::string dtype = GENERATE("f16", "bf16");
    const std::string rule = any_rule();
    const auto parameters = parameters_with({{"rule", rule}, {"length", int64_t{130}}, {"dtype", dtype}});
    const Arrays inputs = inputs_for(parameters);
    const Arrays wanted = reference_for(parameters, inputs);
    for (const std::string& strategy : strategies_for(parameters)) {
        if (!is_exact(strategy, parameters)) continue;
        const Ran ran = run(strategy, parameters, inputs);
        INFO(strategy << " " << rule);
        // Each value is rounded once, by at most 2^-11 or 2^-8. The states stay f32.
        CHECK(distance(ran["y"], *find(wanted, "y")) < (dtype == "f16" ? 0x1p-11 : 0x1p-8));
        const char* const state = rule == "trellis" ? "sv" : "m";
        CHECK(distance(ran[state], *find(wanted, state)) < tolerance);
    }
}

TEST_CASE("a chunk of one token read at its boundary gives the memory before the token", "[memory][cpu]") {
    const std::string rule = any_rule();
    const auto parameters = parameters_with({{"rule", rule},
                                             {"length", int64_t{50}},
                                             {"d", int64_t{12}},
                                             {"compress", int64_t{5}},
                                             {"chunk", int64_t{1}},
                                             {"readout", "boundary"},
                                             {"levels", std::vector<int64_t>{1}}});
    const Arrays inputs = inputs_for(parameters);
    const Array wanted = *find(reference_for(parameters, inputs), "level_y");  // [1, 1, 50, 12]
    for (const std::string& strategy : strategies_for(parameters)) {
        if (strategy.starts_with("sequential") || strategy == "tnt") continue;  // readout has no effect
        if (strategy == "lattice_gla" && rule == "trellis") continue;           // boundaries are rescaled
        Array y = run(strategy, parameters, inputs)["y"];
        y.shape = wanted.shape;
        INFO(strategy << " " << rule);
        CHECK(distance(y, wanted) < tolerance);
    }
}

TEST_CASE("a level is chunkwise_gd at its chunk, read at the boundary", "[memory][cpu]") {
    const std::string rule = any_rule();
    const std::string dtype = GENERATE("f32", "bf16");
    const std::vector<int64_t> levels = {1, 8, 64, 512};
    Settings settings = {{"rule", rule},     {"batch", int64_t{2}}, {"length", int64_t{130}},
                         {"d", int64_t{20}}, {"dtype", dtype},      {"levels", levels}};
    const auto parameters = parameters_with(settings);
    const Arrays inputs = inputs_for(parameters);
    const Ran together = run("chunkwise_gd", parameters, inputs);
    REQUIRE(find(together.outputs, "level_y"));
    for (size_t level = 0; level < levels.size(); ++level) {
        const Settings alone =
            with(settings, {{"chunk", levels[level]}, {"readout", "boundary"}, {"levels", "none"}});
        const Array y = run("chunkwise_gd", parameters_with(alone), inputs)["y"];
        const auto all = together["level_y"].as<float>(), wanted = y.as<float>();
        const size_t size = 130 * 20;
        for (size_t b = 0; b < 2; ++b)
            CHECK(std::equal(wanted.begin() + static_cast<std::ptrdiff_t>(b * size),
                             wanted.begin() + static_cast<std::ptrdiff_t>((b + 1) * size),
                             all.begin() + static_cast<std::ptrdiff_t>((b * levels.size() + level) * size)));
        const auto pulse = together["pulse"].as<int32_t>();
        for (size_t t = 0; t < 130; ++t)
            CHECK(pulse[level * 130 + t] == (static_cast<int64_t>(t) % levels[level] == 0 ? 1 : 0));
    }
    CHECK(same_bits(together["pulse"], *find(reference_for(parameters, inputs), "pulse")));
}

TEST_CASE("two tokens of a memory, small enough to check by eye", "[memory][cpu]") {
    const auto parameters = parameters_with(
        {{"length", int64_t{2}}, {"d", int64_t{1}}, {"chunk", int64_t{2}}, {"normalise", false}});
    const Arrays inputs = {floats("k", {1, 2, 1}, {1, 2}),     floats("v", {1, 2, 1}, {3, 4}),
                           floats("q", {1, 2, 1}, {1, 10}),    floats("alpha", {1, 2}, {0.5f, 0}),
                           floats("theta", {1, 2}, {0.5f, 1}), floats("m0", {1, 1, 1}, {1})};
    // e = 1*1 - 3 = -2, M = 0.5*1 + 0.5*2*1 = 1.5; y = 1.5
    // exactly: e = 1.5*2 - 4 = -1, M = 1.5 + 1*2 = 3.5; y = 35. frozen: e = 1*2 - 4 = -2, M = 1.5 + 4 = 5.5
    for (const char* strategy : {"sequential", "sequential_persistent", "exact_chunk"}) {
        const Ran ran = run(strategy, parameters, inputs);
        CHECK(ran["y"].value(0).real() == 1.5);
        CHECK(ran["y"].value(1).real() == 35);
        CHECK(ran["m"].value(0).real() == 3.5);
    }
    for (const char* strategy : {"chunkwise_gd", "associative_scan"}) {
        const Ran ran = run(strategy, parameters, inputs);
        CHECK(ran["y"].value(0).real() == 1.5);
        CHECK(ran["y"].value(1).real() == 55);
    }
}

TEST_CASE("the window divides by its own length for any sequence length", "[memory][cpu]") {
    const auto parameters = parameters_with({{"rule", "atlas_omega"},
                                             {"length", int64_t{2}},
                                             {"d", int64_t{1}},
                                             {"omega_window", int64_t{4}},
                                             {"chunk", int64_t{1}},
                                             {"normalise", false}});
    const Arrays inputs = {floats("k", {1, 2, 1}, {1, 2}),   floats("v", {1, 2, 1}, {4, 10}),
                           floats("q", {1, 2, 1}, {1, 1}),   floats("alpha", {1, 2}, {0, 0.5f}),
                           floats("eta", {1, 2}, {0, 0.5f}), floats("theta", {1, 2}, {1, 2})};
    // G = (0*1 - 4)*1 / 4 = -1, S = 1, M = 1; G = ((1*1 - 4)*1 + (1*2 - 10)*2) / 4 = -4.75,
    // S = 0.5*1 + 2*4.75 = 10, M = 0.5*1 + 10 = 10.5
    CHECK(find(reference_for(parameters, inputs), "y")->value(1).real() == 10.5);
    for (const std::string& strategy : strategies_for(parameters)) {
        INFO(strategy);
        const Ran ran = run(strategy, parameters, inputs);
        CHECK(ran["y"].value(0).real() == 1);
        CHECK(ran["y"].value(1).real() == 10.5);
        if (strategy != "tnt") CHECK(ran["s"].value(0).real() == 10);  // which passes no momentum on
    }
}

TEST_CASE("later tokens do not change the values of earlier ones", "[memory][cpu]") {
    const int64_t window = GENERATE(8, 60, 1000);
    const Settings settings = {
        {"rule", "atlas_omega"}, {"d", int64_t{12}}, {"chunk", int64_t{20}}, {"omega_window", window}};
    const auto with_length = [&](int64_t length) {
        Settings all = settings;
        all.emplace_back("length", length);
        return parameters_with(all);
    };
    const auto whole = with_length(150), part = with_length(40);
    const Arrays inputs = inputs_for(whole);
    Arrays first;
    for (const Array& input : inputs) {
        first.push_back(Array::uninitialised(input.name, input.dtype,
                                             memory_family().array(input.name)->shape_for(part, first)));
        const auto to = first.back().as<float>();
        std::copy_n(input.as<float>().begin(), to.size(), to.begin());
    }
    const auto starts_with = [](const Array& all, const Array& start) {
        return std::memcmp(all.data.get(), start.data.get(), static_cast<size_t>(start.bytes())) == 0;
    };
    CHECK(starts_with(*find(reference_for(whole, inputs), "y"), *find(reference_for(part, first), "y")));
    for (const std::string& strategy : strategies_for(whole)) {
        INFO(strategy << " window " << window);
        CHECK(starts_with(run(strategy, whole, inputs)["y"], run(strategy, part, first)["y"]));
    }
}

TEST_CASE("strategies declare where they are exact", "[memory]") {
    const auto is_exact_with = [](const char* strategy, const Settings& settings) {
        return is_exact(strategy, parameters_with(settings));
    };
    const Settings::value_type boundary = {"readout", "boundary"}, one = {"chunk", int64_t{1}};
    CHECK(is_exact_with("sequential", {boundary}));
    CHECK(is_exact_with("exact_chunk", {}));
    CHECK_FALSE(is_exact_with("exact_chunk", {boundary}));
    CHECK_FALSE(is_exact_with("chunkwise_gd", {}));
    CHECK(is_exact_with("chunkwise_gd", {one}));
    CHECK(is_exact_with("chunkwise_gd", {{"length", int64_t{1}}}));
    CHECK_FALSE(is_exact_with("chunkwise_gd", {one, boundary}));
    CHECK_FALSE(is_exact_with("chunkwise_gd", {one, {"levels", std::vector<int64_t>{1, 8}}}));
    for (const char* const rule : {"hebbian", "atlas"}) {
        CHECK(is_exact_with("chunkwise_gd", {{"rule", rule}}));
        CHECK(is_exact_with("chunkwise_gd", {{"rule", rule}, {"levels", std::vector<int64_t>{8}}}));
        CHECK(is_exact_with("associative_scan", {{"rule", rule}}));
        CHECK_FALSE(is_exact_with("associative_scan", {{"rule", rule}, boundary}));
    }
    CHECK(is_exact_with("lattice_gla", {{"rule", "lattice"}, one}));
    CHECK_FALSE(is_exact_with("lattice_gla", {{"rule", "trellis"}, one}));
    CHECK_FALSE(is_exact_with("tnt", {{"rule", "lattice"}}));
    CHECK_FALSE(is_exact_with("atlas_parallel", {{"rule", "atlas_omega"}}));
    CHECK_FALSE(is_exact_with("tnt", {{"C_G", int64_t{1}}, {"C_L", int64_t{1}}, one}));
}

TEST_CASE("decay products are running products, also after a gate that forgets everything", "[memory]") {
    const std::vector<float> alpha = {0.5f, 0.25f, 1, 0.5f};
    const std::vector<float> wanted = {1,     0, 0,    0,  //
                                       0.75f, 1, 0,    0,  //
                                       0,     0, 1,    0,  //
                                       0,     0, 0.5f, 1};
    CHECK(memory::decay_products(alpha) == wanted);
    CHECK(memory::decay_products({}).empty());
}

TEST_CASE("diverging values become non-finite without other harm", "[memory][cpu]") {
    const std::string rule = GENERATE("titans", "delta", "atlas_omega", "trellis");
    const auto parameters = parameters_with({{"rule", rule},
                                             {"length", int64_t{600}},
                                             {"d", int64_t{8}},
                                             {"compress", int64_t{4}},
                                             {"chunk", int64_t{32}}});
    Arrays inputs = inputs_for(parameters);
    fill(inputs, "theta", 50);
    for (const std::string& strategy : strategies_for(parameters)) {
        const Ran ran = run(strategy, parameters, inputs);
        int64_t nonfinite = 0;
        for (const float value : ran["y"].as<float>()) nonfinite += !std::isfinite(value);
        INFO(strategy << " " << rule);
        CHECK((nonfinite > 0) == (strategy != "lattice_gla"));  // which bounds the norms of slots
        CHECK(std::isfinite(ran["y"].as<float>()[0]));
    }
}

}  // namespace
}  // namespace sawtooth
