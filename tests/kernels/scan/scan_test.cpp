#include <cmath>
#include <cstring>

#include "kernels/core/common_parameters.h"
#include "kernels/scan/job.h"
#include "kernels/scan/parts.h"
#include "tests/engine/run_engine.h"
#include "tests/kernels/cpu/vector_targets.h"
#include "tests/kernels/figures/figure_facts.h"
#include "tests/kernels/scan/run_scan.h"
#include "tests/kit/contains.h"
#include "tests/kit/run_judge.h"

namespace sawtooth {
namespace {

cpu::Pool& pool() {
    static cpu::Pool two(2);
    return two;
}

TEST_CASE("every variant is right in every operator and direction", "[scan][cpu]") {
    const std::string op =
        GENERATE("sum", "product", "max", "min", "linear", "complex_sum", "complex_linear", "logcumsumexp");
    const std::string direction = GENERATE("forward", "reverse", "both");
    // Lengths around a block (127 to 129), without any step (1), not a power of two (3), and of several
    // blocks and a short one (1000).
    const int64_t length = GENERATE(1, 3, 127, 128, 129, 1000);
    // One channel, few channels in chunks (3), whole vectors and a tail (16, 17), and more than four vectors
    // (70).
    const int64_t channels = GENERATE(1, 3, 16, 17, 70);
    const auto parameters = scan_parameters({{"batch", int64_t{2}},
                                             {"length", length},
                                             {"channels", channels},
                                             {"op", op},
                                             {"direction", direction},
                                             {"block_size", int64_t{128}},
                                             {"distribution", "uniform"}});
    check_variants(parameters, generated_inputs(parameters, true));
}

TEST_CASE("long sequences are right", "[scan][cpu]") {
    const int64_t length = GENERATE(8192, 65536);
    const int64_t channels = GENERATE(1, 3);
    const std::string op = GENERATE("sum", "linear");
    const auto parameters = scan_parameters({{"batch", int64_t{1}},
                                             {"length", length},
                                             {"channels", channels},
                                             {"op", op},
                                             {"compensated", op == "sum"}});
    check_variants(parameters, generated_inputs(parameters));
}

TEST_CASE("compensated sums keep cancelled terms that plain sums and Kahan's loop lose", "[scan][cpu]") {
    const Settings badly = {{"batch", int64_t{1}},
                            {"length", int64_t{16384}},
                            {"channels", int64_t{1}},
                            {"distribution", "badly_conditioned"}};
    const auto largest_error = [](const Parameters& parameters, const std::string& variant) {
        const Arrays inputs = generated_inputs(parameters);
        const Arrays reference = reference_for(parameters, inputs);
        const Ran ran = run(variant, parameters, inputs, pool());
        double largest = 0;
        for (int64_t i = 0; i < ran.outputs[0].count(); ++i)
            largest = std::max(largest, std::abs(ran.outputs[0].value(i) - reference[0].value(i)));
        return largest;
    };
    CHECK(largest_error(scan_parameters(badly), "sequential") > 0.5);
    Settings compensated = badly;
    compensated.emplace_back("compensated", true);
    for (const std::string& variant : variant_names()) {
        INFO(variant);
        CHECK(largest_error(scan_parameters(compensated), variant) < 0.002);
    }
}

TEST_CASE("one channel of any length is right", "[scan][cpu]") {
    const std::string op = GENERATE("sum", "compensated", "product", "max", "min", "linear", "logcumsumexp");
    const std::string direction = GENERATE("forward", "reverse");
    const std::string dtype = GENERATE("f32", "f16", "bf16");
    // Lengths around vectors of 4, 8 and 16 lanes, around four of these, and around tiles of 128 steps.
    for (const int64_t length : {1, 7, 8, 9, 15, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 191, 193, 401}) {
        const auto parameters = scan_parameters({{"batch", int64_t{2}},
                                                 {"length", length},
                                                 {"channels", int64_t{1}},
                                                 {"op", op == "compensated" ? "sum" : op},
                                                 {"compensated", op == "compensated"},
                                                 {"direction", direction},
                                                 {"dtype", dtype},
                                                 {"block_size", int64_t{128}},
                                                 {"distribution", "uniform"}});
        check_variants(parameters, generated_inputs(parameters, true));
    }
}

// The bits are equal on one vector target only: a single channel is scanned inside vectors, so their width
// decides the order.
TEST_CASE("any number of threads gives the same bits", "[scan][cpu][threads]") {
    const std::string op =
        GENERATE("sum", "compensated", "product", "max", "min", "linear", "complex_linear", "logcumsumexp");
    const int64_t channels = GENERATE(1, 100);
    const auto parameters = scan_parameters({{"length", int64_t{channels == 1 ? 16501 : 1501}},
                                             {"channels", channels},
                                             {"op", op == "compensated" ? "sum" : op},
                                             {"compensated", op == "compensated"},
                                             {"direction", "both"},
                                             {"block_size", int64_t{128}},
                                             {"backward", true}});
    const Arrays inputs = generated_inputs(parameters, true);
    cpu::Pool one(1), two(2), four(4);
    for_each_vector_target([&] {
        for (const std::string& variant : variant_names()) {
            const Ran expected = run(variant, parameters, inputs, one);
            for (cpu::Pool* pool : {&two, &four}) {
                const Ran ran = run(variant, parameters, inputs, *pool);
                for (size_t i = 0; i < ran.outputs.size(); ++i) {
                    INFO(variant << " with " << pool->threads() << " threads, " << ran.outputs[i].name);
                    CHECK(same_bits(ran.outputs[i], expected.outputs[i]));
                }
            }
        }
    });
}

TEST_CASE("a last strip of one column has the same bits with any number of threads", "[scan][cpu][threads]") {
    // A strip is 512 columns wide at 1024 steps: narrow inputs of the 513th column are contiguous, its f32
    // gradient is not.
    const auto parameters = scan_parameters({{"batch", int64_t{1}},
                                             {"length", int64_t{16384}},
                                             {"channels", int64_t{513}},
                                             {"op", "linear"},
                                             {"dtype", "bf16"},
                                             {"block_size", int64_t{1024}},
                                             {"backward", true}});
    const Arrays inputs = generated_inputs(parameters);
    cpu::Pool one(1), three(3);
    const Ran expected = run("lookback", parameters, inputs, one);
    for (int repeat = 0; repeat < 3; ++repeat)
        CHECK(same_bits(run("lookback", parameters, inputs, three).outputs, expected.outputs));
}

TEST_CASE("NaN and infinities stay in their column and do not reach back", "[scan][cpu]") {
    const std::string op = GENERATE("sum", "max", "min", "linear", "logcumsumexp");
    const std::string direction = GENERATE("forward", "reverse");
    const bool compensated = op == "sum" && GENERATE(false, true);
    const float strange = GENERATE(NAN, INFINITY, -INFINITY);
    const int64_t channels = GENERATE(1, 5, 20);
    const auto parameters = scan_parameters({{"batch", int64_t{2}},
                                             {"length", int64_t{400}},
                                             {"channels", channels},
                                             {"op", op},
                                             {"direction", direction},
                                             {"block_size", int64_t{128}},
                                             {"compensated", compensated}});
    Arrays inputs = generated_inputs(parameters);
    const int64_t at = (400 + 200) * channels + channels / 2;  // second sequence, position 200
    find(inputs, "x")->as<float>()[static_cast<size_t>(at)] = strange;
    const Arrays reference = reference_for(parameters, inputs);
    for (const std::string& variant : variant_names()) {
        const Ran ran = run(variant, parameters, inputs, pool());
        INFO(variant << " " << op << " " << direction << " " << strange << " D " << channels);
        CHECK(differing_in_kind(ran.outputs[0], reference[0]) == 0);
    }
}

TEST_CASE("an infinite first gate multiplies the state 0 before it", "[scan][cpu]") {
    const int64_t length = GENERATE(1, 2, 300), channels = GENERATE(1, 16);
    const auto parameters = scan_parameters(
        {{"batch", int64_t{1}}, {"length", length}, {"channels", channels}, {"op", "linear"}});
    Arrays inputs = generated_inputs(parameters);
    find(inputs, "a")->as<float>()[0] = INFINITY;
    const Arrays reference = reference_for(parameters, inputs);
    REQUIRE(std::isnan(reference[0].as<double>()[0]));
    for (const std::string& variant : variant_names()) {
        const Ran ran = run(variant, parameters, inputs, pool());
        INFO(variant << " length " << length << " channels " << channels);
        CHECK(differing_in_kind(ran.outputs[0], reference[0]) == 0);
    }
}

TEST_CASE("gates of zero restart the recurrence and gates of one make it a sum", "[scan][cpu]") {
    const auto parameters = scan_parameters({{"batch", int64_t{1}},
                                             {"length", int64_t{300}},
                                             {"channels", int64_t{4}},
                                             {"op", "linear"},
                                             {"block_size", int64_t{128}}});
    Arrays inputs = generated_inputs(parameters);
    const float gate = GENERATE(0.0f, 1.0f);
    for (float& value : find(inputs, "a")->as<float>()) value = gate;
    const Array& x = *find(inputs, "x");
    for (const std::string& variant : variant_names()) {
        const Ran ran = run(variant, parameters, inputs, pool());
        double sum = 0;
        for (int64_t t = 0; t < 300; ++t) {
            sum = gate == 0 ? x.value(t * 4).real() : sum + x.value(t * 4).real();
            CHECK(ran.outputs[0].value(t * 4).real() == Approx(sum).margin(1e-4));
        }
    }
}

// Launches, combines counted while running, and elements moved identify an algorithm.
TEST_CASE("every variant is the algorithm of its name", "[scan][cpu]") {
    const int64_t length = GENERATE(1, 2, 5, 1000, 1024, 4096);
    const int64_t channels = GENERATE(1, 24);
    const auto parameters = scan_parameters(
        {{"batch", int64_t{3}}, {"length", length}, {"channels", channels}, {"block_size", int64_t{128}}});
    const Arrays inputs = generated_inputs(parameters);
    const int64_t columns = 3 * channels, elements = columns * length, blocks = (length + 127) / 128;
    const int64_t levels = static_cast<int64_t>(std::ceil(std::log2(static_cast<double>(length))));
    const auto run = [&](const char* variant) { return sawtooth::run(variant, parameters, inputs, pool()); };

    SECTION("sequential: one launch, one combine an element") {
        const Ran done = run("sequential");
        CHECK(done.launches.size() == 1);
        CHECK(done.tally().combines == elements);
    }
    SECTION("hillis_steele: ceil(log2 L) steps, step k combines all but the first 2^k positions") {
        const Ran done = run("hillis_steele");
        CHECK(done.launches.size() == static_cast<size_t>(std::max<int64_t>(levels, 1)));
        int64_t combines = 0;
        for (int64_t step = 0; step < levels; ++step) combines += (length - (int64_t{1} << step)) * columns;
        CHECK(done.tally().combines == combines);
        for (const auto& launch : done.launches) {
            CHECK(launch.tally.written == elements);
            CHECK(launch.tally.read >= elements);
            CHECK(launch.tally.read <= 2 * elements);
        }
    }
    SECTION("blelloch: up and down a tree of ceil(log2 L) levels, at most 3 combines an element") {
        const Ran done = run("blelloch");
        CHECK(done.launches.size() == static_cast<size_t>(std::max<int64_t>(2 * levels - 1, 1)));
        CHECK(done.tally().combines >= elements);
        CHECK(done.tally().combines <= 3 * elements);
        int64_t ups = 0;
        for (const LaunchRecord& launch : done.launches) ups += launch.info->name.starts_with("up_sweep");
        CHECK(ups == std::max<int64_t>(levels - 1, 0));
    }
    SECTION("three_phase: three launches, the second one a combine a block") {
        const Ran done = run("three_phase");
        REQUIRE(done.launches.size() == 3);
        CHECK(done.launches[0].tally.written == elements);
        CHECK(done.launches[1].tally.combines == blocks * columns);
        CHECK(done.launches[2].tally.combines == elements);
    }
    SECTION("lookback: one launch that reads and writes every element once") {
        const Ran done = run("lookback");
        CHECK(done.launches.size() == 1);
        CHECK(done.tally().read == elements);
        CHECK(done.tally().written == elements);
    }
}

TEST_CASE("an example small enough to check by eye", "[scan][cpu]") {
    const auto parameters = scan_parameters(
        {{"batch", int64_t{1}}, {"length", int64_t{4}}, {"channels", int64_t{1}}, {"op", "linear"}});
    // y = 0.5 * 8 + 1 = 5, 2 * 5 + 2 = 12, 0 * 12 + 3 = 3, 1 * 3 + 4 = 7
    const Arrays inputs = {floats("a", {1, 4, 1}, {0.5f, 2, 0, 1}), floats("x", {1, 4, 1}, {1, 2, 3, 4}),
                           floats("initial", {1, 1}, {8})};
    const std::vector<float> expected = {5, 12, 3, 7};
    for (const std::string& variant : variant_names()) {
        const Ran ran = run(variant, parameters, inputs, pool());
        INFO(variant);
        CHECK(std::equal(expected.begin(), expected.end(), ran.outputs[0].as<float>().begin()));
    }
}

// The order of the definition is sequential; these lengths have many blocks and high trees. Terms that repeat
// make roundings repeat.
TEST_CASE("long scans are judged right in every order", "[scan][cpu]") {
    const std::string op = GENERATE("sum", "linear", "complex_sum", "complex_linear", "logcumsumexp", "max");
    const std::string distribution = GENERATE("normal", "badly_conditioned", "impulse", "constant");
    const bool compensated = GENERATE(false, true), is_constant = distribution == "constant";
    Settings settings = {{"batch", int64_t{1}},
                         {"length", int64_t{20000}},
                         {"channels", GENERATE(int64_t{1}, int64_t{17})},
                         {"op", op},
                         {"backward", true},
                         {"distribution", is_constant ? "normal" : distribution},
                         {"compensated", compensated}};
    const auto parameters = scan_parameters(settings);
    if (scan_family().check(parameters)) return;
    Arrays inputs = generated_inputs(parameters);
    if (is_constant)
        for (const char* name : {"x", "dy"})
            if (Array* const array = find(inputs, name)) std::ranges::fill(array->as<float>(), 0.1f);
    Definitions definitions;
    for (const std::string& variant : variant_names()) {
        const Ran ran = run(variant, parameters, inputs, pool());
        for (const OutputVerdict& verdict :
             judged(scan_family(), variant, parameters, inputs, ran.outputs, Backend::cpu, &definitions)) {
            INFO(variant << " " << op << " " << distribution << " " << verdict.output);
            CHECK(verdict.verdict == Verdict::right);
        }
    }
}

TEST_CASE("a sum that loses its compensation is judged wrong", "[scan][cpu]") {
    Settings settings = {{"batch", int64_t{1}}, {"length", int64_t{4000}}, {"channels", int64_t{8}}};
    const Arrays inputs = generated_inputs(scan_parameters(settings));
    const Ran plain = run("sequential", scan_parameters(settings), inputs, pool());
    settings.emplace_back("compensated", true);
    const auto verdicts =
        judged(scan_family(), "sequential", scan_parameters(settings), inputs, plain.outputs);
    REQUIRE(verdicts.size() == 1);
    CHECK(verdicts[0].verdict == Verdict::wrong);
}

TEST_CASE("the largest of a scan is exact", "[scan][cpu]") {
    const auto parameters = scan_parameters({{"length", int64_t{300}}, {"op", "max"}, {"dtype", "f16"}});
    const Arrays inputs = generated_inputs(parameters);
    Ran ran = run("blelloch", parameters, inputs, pool());
    CHECK(judged(scan_family(), "blelloch", parameters, inputs, ran.outputs)[0].verdict == Verdict::right);
    float& last = ran.outputs[0].as<float>().back();
    last *= 1 + 0x1p-10f;
    CHECK(judged(scan_family(), "blelloch", parameters, inputs, ran.outputs)[0].verdict == Verdict::wrong);
}

TEST_CASE("of many long sequences the first and the last are judged", "[scan][cpu]") {
    // The sequences together have a little more than 2^22 numbers, the most that are judged.
    constexpr int64_t length = 1'400'000;
    const auto parameters =
        scan_parameters({{"batch", int64_t{3}}, {"length", length}, {"channels", int64_t{1}}});
    const Arrays inputs = generated_inputs(parameters);
    Ran ran = run("sequential", parameters, inputs, pool());
    const auto y = ran.outputs[0].as<float>();
    const auto verdict = [&] {
        return judged(scan_family(), "sequential", parameters, inputs, ran.outputs)[0];
    };
    CHECK(verdict().verdict == Verdict::right);
    CHECK(verdict().judged == 2 * length);
    y.front() += 1;
    y.back() += 1e6f;
    CHECK(verdict().elements == 2);
}

TEST_CASE("impossible settings of a scan are refused with a reason", "[scan]") {
    const auto refusal = [](const Settings& settings) {
        return scan_family().check(scan_parameters(settings));
    };
    const std::string op = GENERATE("linear", "logcumsumexp", "complex_linear");
    REQUIRE(refusal({{"op", op}, {"compensated", true}}));
    CHECK(contains(refusal({{"op", op}, {"compensated", true}})->sentence(), op));
    const std::string complex = GENERATE("complex_sum", "complex_linear");
    REQUIRE(refusal({{"op", complex}, {"dtype", "bf16"}}));
    CHECK(contains(refusal({{"op", complex}, {"dtype", "bf16"}})->sentence(), complex));
    CHECK_FALSE(refusal({{"op", "complex_sum"}, {"compensated", true}}));
    CHECK_FALSE(refusal({{"op", complex}, {"direction", "both"}, {"backward", true}}));
}

TEST_CASE("the automatic block size grows with the length up to 1024", "[scan]") {
    const auto size_of = [](int64_t length, int64_t channels) {
        return scan::automatic_block_size({.batch = 2, .length = length, .channels = channels}, Backend::cpu);
    };
    CHECK(size_of(256, 16) == 256);
    CHECK(size_of(257, 16) == 512);
    CHECK(size_of(512, 16) == 512);
    CHECK(size_of(513, 16) == 1024);
    CHECK(size_of(513, 512) == 1024);
}

TEST_CASE("on a GPU automatic blocks are shorter: 512 for many channels, 256 with gates, 12 tiles for few",
          "[scan]") {
    const auto size_of = [](int64_t length, int64_t channels, cpu::Operator op = cpu::Operator::sum) {
        return scan::automatic_block_size({.op = op, .batch = 2, .length = length, .channels = channels},
                                          Backend::cuda);
    };
    CHECK(size_of(256, 16) == 256);
    CHECK(size_of(512, 16) == 512);
    CHECK(size_of(513, 16) == 256);
    CHECK(size_of(12 * 256, 16) == 256);
    CHECK(size_of(12 * 256 + 1, 16) == 512);
    CHECK(size_of(12 * 512, 511) == 512);
    CHECK(size_of(12 * 512 + 1, 511) == 1024);
    CHECK(size_of(int64_t{1} << 20, 16) == 1024);
    CHECK(size_of(8192, 512) == 512);
    CHECK(size_of(8192, 512, cpu::Operator::linear) == 256);
    CHECK(size_of(8192, 512, cpu::Operator::complex_linear) == 256);
    CHECK(size_of(512, 512, cpu::Operator::linear) == 512);
    CHECK(scan::automatic_block_size({.batch = 4096, .length = 513, .channels = 1}, Backend::cuda) == 1024);
}

TEST_CASE("the figure of work says which blocks its depths are of, also where each backend chooses its own",
          "[scan]") {
    Result result = run_in_engine(scan_family(), {{"length", int64_t{2048}}});
    const auto caption = [&] {
        return figure_facts::figure_named(scan::figures(result, {}), "work-and-depth").caption;
    };
    CHECK(contains(caption(), "Depth with blocks of 1024"));
    result.backend = Backend::cuda;
    CHECK(contains(caption(), "Depth with blocks of 256"));
    CHECK(contains(caption(), "The depth of tiles on a GPU depends on how threads share them"));
}

TEST_CASE("the depth of look-back over one channel is that of its tiles of 8192 steps", "[scan]") {
    const Variant& lookback = *scan_family().variant("lookback");
    Parameters parameters = scan_family().defaults();
    parameters.set("length", int64_t{1} << 20);
    CHECK(scan::depth_of(lookback, parameters, Backend::cpu, 1024) == 1024 + 1024);
    parameters.set("channels", int64_t{1});
    CHECK(scan::depth_of(lookback, parameters, Backend::cpu, 1024) == 8192 + 128);
    CHECK_FALSE(scan::depth_of(lookback, parameters, Backend::cuda, 1024));
}

TEST_CASE("on a GPU, whose kernels do not count, the figure of work has launches and depth alone", "[scan]") {
    Result result = run_in_engine(scan_family(), {{"length", int64_t{300}}});
    const auto figure = [&] {
        return figure_facts::figure_named(scan::figures(result, {}), "work-and-depth");
    };
    const auto matrix = [&] { return figure_facts::marks_of<Matrix>(figure()).front(); };
    CHECK(matrix().column_labels.size() == 5);
    CHECK(contains(figure().caption, "combines, depth"));
    const std::vector<std::string> counted = matrix().texts;
    result.backend = Backend::cuda;
    for (VariantResult& variant : result.variants)
        for (LaunchRecord& launch : variant.launches) launch.tally = {};
    REQUIRE(matrix().column_labels == std::vector<std::string>{"launches", "depth"});
    for (size_t row = 0; row < 5; ++row) {
        CHECK(matrix().texts[2 * row] == counted[5 * row]);
        const bool has_tiles = row > 2;  // three_phase and lookback
        CHECK(matrix().texts[2 * row + 1] == (has_tiles ? "not known" : counted[5 * row + 4]));
    }
    CHECK_FALSE(contains(figure().caption, "combines,"));
}

}  // namespace
}  // namespace sawtooth
