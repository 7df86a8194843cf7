// The curves of theoretical occupancy for compiled launches.

#include "kernels/cuda/chips.h"
#include "kernels/cuda/occupancy.h"
#include "profiling/figures.h"
#include "tests/kernels/figures/figure_facts.h"
#include "tests/kit/catch.h"
#include "tests/kit/contains.h"

namespace {

using namespace sawtooth;
using figure_facts::figure_named;
using figure_facts::marks_of;

CompiledLaunch compiled(const std::string& name, int64_t threads, int registers, int64_t shared) {
    const Resources resources{registers, shared, 0};
    return {name, "sm_90a", resources,
            cuda::theoretical_occupancy(*cuda::chip_of("sm_90a"), threads, resources), threads};
}

Result result_of(std::vector<CompiledLaunch> launches) {
    Result result;
    VariantResult variant;
    variant.name = "fused";
    variant.index = 2;
    variant.compiled = std::move(launches);
    result.variants = {variant};
    return result;
}

double y_at(const Figure& figure, double x) {
    const Line line = marks_of<Line>(figure).at(0);
    for (size_t i = 0; i < line.x.size(); ++i)
        if (line.x[i] == x) return line.y[i];
    return -1;
}

TEST_CASE("the curves of a launch pass through the present point and agree with the calculation",
          "[profiling][occupancy]") {
    // 65,536 registers of an SM: 4 blocks of 256 threads with 64 registers, 2 with 128.
    const auto figures = occupancy_curve_figures(result_of({compiled("tiles", 256, 64, 16384)}));
    REQUIRE(figures.size() == 3);
    const Figure& registers = figure_named(figures, "occupancy-registers");
    CHECK(contains(registers.title, "tiles of fused, sm_90a"));
    CHECK(y_at(registers, 64) == Approx(50));
    CHECK(y_at(registers, 128) == Approx(25));
    CHECK(y_at(registers, 32) == Approx(100));
    CHECK(
        registers.caption ==
        "50 % with 64 registers per thread, limited by registers; 62 % with 48. Everything else stays as it "
        "is.");
    const Figure& shared = figure_named(figures, "occupancy-shared");
    CHECK(y_at(shared, 16) == Approx(50));
    CHECK(y_at(shared, 227) == Approx(12.5));
    CHECK(contains(shared.caption, "no other value gives more"));
    const Figure& block = figure_named(figures, "occupancy-block");
    CHECK(y_at(block, 256) == Approx(50));
    CHECK(marks_of<Line>(block)[0].x.size() == 32);
    for (const Figure& figure : figures) {
        const auto notes = marks_of<Note>(figure);
        REQUIRE(notes.size() == 1);
        CHECK(notes[0].y == Approx(50));
        CHECK(contains(notes[0].text, ": 50 %"));
        CHECK(marks_of<Line>(figure)[0].ink.index == 2);
    }
}

TEST_CASE("the launch of the curves takes most of the time, or has the least occupancy",
          "[profiling][occupancy]") {
    Result result = result_of({compiled("light", 256, 32, 0), compiled("heavy", 256, 168, 0)});
    CHECK(contains(occupancy_curve_figures(result)[0].title, "heavy of fused"));
    for (const auto& [name, us] : {std::pair("light", 9.0), {"heavy", 3.0}}) {
        LaunchInfo info;
        info.name = name;
        info.resources = Resources{};
        LaunchRecord launch;
        launch.info = std::make_shared<const LaunchInfo>(info);
        launch.duration_us = us;
        result.variants[0].launches.push_back(launch);
    }
    CHECK(contains(occupancy_curve_figures(result)[0].title, "light of fused"));
}

TEST_CASE("without a compiled launch the curves say how to get them", "[profiling][occupancy]") {
    Result result;
    const auto figures = occupancy_curve_figures(result);
    REQUIRE(figures.size() == 1);  // for all three
    CHECK(figures[0].marks.empty());
    CHECK(contains(figures[0].missing, "--arch"));
    result = result_of({compiled("tiles", 256, 64, 0)});
    result.variants[0].compiled[0].threads = 0;  // from a worker that does not send it
    CHECK(occupancy_curve_figures(result)[0].marks.empty());
    result.variants[0].compiled[0].threads = 256;
    result.variants[0].compiled[0].architecture = "sm_1";
    CHECK(occupancy_curve_figures(result)[0].marks.empty());
}

TEST_CASE("a launch that does not fit is at 0", "[profiling][occupancy]") {
    const auto figures = occupancy_curve_figures(result_of({compiled("tiles", 1024, 128, 0)}));
    CHECK(contains(figures[0].caption, "0 % with 128 registers per thread, does not fit; 50 % with 64."));
}

}  // namespace
