// The roofline of invented results.

#include "profiling/figures.h"
#include "tests/kernels/figures/figure_facts.h"
#include "tests/kit/catch.h"
#include "tests/kit/contains.h"

namespace {

using namespace sawtooth;
using figure_facts::line_named;
using figure_facts::marks_of;

Ceilings ceilings_with(double copy, double f32) {
    Ceilings ceilings;
    ceilings.copy_bytes_per_second = copy;
    ceilings.triad_bytes_per_second = copy;
    ceilings.operations_per_second = f32;
    return ceilings;
}

// One right variant of two launches, which move 1000 bytes and do `operations` in 10 us: 0.1 GB/s.
Result result_of(double operations) {
    Result result;
    VariantResult variant;
    variant.name = "fused";
    variant.time = TimeStatistics{10, 10, 10, {10, 10, 10}};
    LaunchInfo info;
    info.name = "half";
    info.work = {500, operations / 2};
    LaunchRecord launch;
    launch.info = std::make_shared<const LaunchInfo>(info);
    variant.launches = {launch, launch};
    variant.launch_count = 2;
    variant.verdicts = {{"y", Verdict::right, 8}};
    result.variants = {variant};
    result.ceilings = ceilings_with(1e9, 1e9);
    return result;
}

TEST_CASE("a variant is at its operations per byte and per second, below the ceilings",
          "[profiling][roofline]") {
    const Result result = result_of(250);
    const Figure figure = roofline_figure(result);
    CHECK(figure.id == "roofline");
    CHECK(figure.x.scale == Scale::log10);
    CHECK(figure.y.scale == Scale::log10);
    const auto lines = marks_of<Line>(figure);
    REQUIRE(lines.size() == 3);
    const Line& copy = line_named(lines, "copy, 1 GB/s");
    CHECK(copy.y[0] == Approx(copy.x[0]));  // 1 GFLOP/s at 1 FLOP per byte
    CHECK(copy.x[1] == Approx(1));
    const Line& peak = line_named(lines, "f32 peak, 1 GFLOP/s");
    CHECK(peak.x[0] == Approx(1));
    CHECK(peak.y == std::vector<double>{1, 1});
    const Line& mark = line_named(lines, "fused");
    CHECK_FALSE(mark.joined);
    CHECK(mark.x == std::vector<double>{0.25});
    CHECK(mark.y[0] == Approx(0.025));  // 250 operations in 10 us
}

TEST_CASE("launches with names of their own are marks beside their variant", "[profiling][roofline]") {
    Result result = result_of(250);
    auto& launches = result.variants[0].launches;
    launches.push_back(launches[0]);
    LaunchInfo other = *launches[0].info;
    other.name = "other";
    other.work = {4000, 100};
    launches[1].info = std::make_shared<const LaunchInfo>(other);
    launches[0].duration_us = launches[2].duration_us = 2, launches[1].duration_us = 4;
    result.variants[0].launch_count = 3;
    const Figure figure = roofline_figure(result);
    const Line parts = line_named(marks_of<Line>(figure), "fused, launches");
    CHECK(parts.names == std::vector<std::string>{"half", "other"});
    CHECK(parts.x == std::vector<double>{0.25, 0.025});  // two halves with 250 operations and 1000 bytes
    CHECK(parts.y[0] == Approx(250 / 4e-6 / 1e9));
    CHECK(parts.y[1] == Approx(100 / 4e-6 / 1e9));
    CHECK_FALSE(parts.joined);
    CHECK(figure.x.minimum < 0.025);
    CHECK(contains(figure.caption, "Small marks are the launches"));
    other.work.operations = 0;  // has no place on a logarithmic axis
    launches[1].info = std::make_shared<const LaunchInfo>(other);
    CHECK(line_named(marks_of<Line>(roofline_figure(result)), "fused, launches").names.size() == 1);
}

TEST_CASE("the caption names a limit only where the numbers decide it", "[profiling][roofline]") {
    Result result = result_of(250);  // 0.1 GB/s
    CHECK(
        contains(roofline_figure(result).caption,
                 "fused does 0.25 FLOP per byte and reaches 10 % of copy bandwidth, the nearest ceiling. "));
    result.ceilings = ceilings_with(1.2e8, 1e9);
    CHECK(contains(roofline_figure(result).caption, "83 % of copy bandwidth, which limits it."));
    result.ceilings = ceilings_with(1.7e8, 1e9);
    CHECK(contains(roofline_figure(result).caption, "59 % of copy bandwidth, the nearest ceiling. "));
    result.ceilings = ceilings_with(5e7, 1e9);
    CHECK(contains(roofline_figure(result).caption, "fused is above copy bandwidth: a cache holds part"));
    result = result_of(9000);  // 0.9 GFLOP/s at 9 FLOP per byte
    CHECK(contains(roofline_figure(result).caption, "90 % of the f32 peak, which limits it."));
    result.ceilings->gpu.emplace().bf16_operations_per_second = 1e11;
    // Which of the two limits it is not known.
    CHECK(contains(roofline_figure(result).caption,
                   "FLOP per byte: 90 % of the f32 peak, 0.9 % of the bf16 tensor core peak. "));
    result.ceilings->operations_per_second = 5e8;
    CHECK(contains(roofline_figure(result).caption,
                   ": above the f32 peak, 0.9 % of the bf16 tensor core peak. "));
    result.variants[0].verdicts[0].verdict = Verdict::wrong;
    CHECK_FALSE(contains(roofline_figure(result).caption, "fused"));
    CHECK(line_named(marks_of<Line>(roofline_figure(result)), "fused").wrong ==
          std::vector<std::string>{"wrong"});
}

TEST_CASE("a GPU adds the tensor cores, and counters a mark for the measured bytes",
          "[profiling][roofline]") {
    Result result = result_of(250);
    result.ceilings = ceilings_with(2e12, 5e13);
    result.ceilings->gpu.emplace().bf16_operations_per_second = 6e14;
    for (LaunchRecord& launch : result.variants[0].launches) launch.counters = {{"DRAM bytes", 625}};
    const auto lines = marks_of<Line>(roofline_figure(result));
    CHECK(line_named(lines, "bf16 tensor core peak, 600 TFLOP/s").x[0] == Approx(300));
    const Line& declared = line_named(lines, "fused");
    const Line& measured = line_named(lines, "fused, measured DRAM bytes");
    CHECK(declared.x[0] == Approx(0.25));
    CHECK(measured.x[0] == Approx(0.2));  // 1250 bytes instead of 1000
    CHECK(measured.y == declared.y);
    CHECK(measured.ink.dashed);
    result.ceilings->gpu->l2_read_bytes_per_second = 6e12;
    const auto with_l2 = marks_of<Line>(roofline_figure(result));
    CHECK(line_named(with_l2, "reads from L2, 6 TB/s").x[1] == Approx(100));
    CHECK(line_named(with_l2, "bf16 tensor core peak, 600 TFLOP/s").x[0] == Approx(100));
    result.ceilings->gpu->l2_read_bytes_per_second = 0;
    result.variants[0].launches[1].counters.clear();  // then the measured bytes are not all of them
    CHECK(marks_of<Line>(roofline_figure(result)).size() == lines.size() - 1);
}

TEST_CASE("without limits, times or all launches the roofline says how to get it", "[profiling][roofline]") {
    Result result = result_of(250);
    result.ceilings.reset();
    CHECK(contains(roofline_figure(result).missing, "sawtooth devices --measure"));
    result = result_of(250);
    result.variants[0].time.reset();
    CHECK(contains(roofline_figure(result).missing, "profile timeline"));
    CHECK(roofline_figure(result_of(0)).marks.empty());
    result = result_of(250);
    result.variants[0].launch_count = 3;
    CHECK(roofline_figure(result).marks.empty());
}

}  // namespace
