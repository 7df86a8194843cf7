// The figures of lut over sweeps, from hand-made results and small runs.

#include <algorithm>

#include "app/engine/run/result_figures.h"
#include "app/engine/sources/local_source.h"
#include "app/engine/sources/sweep_loop.h"
#include "kernels/lut/family.h"
#include "kernels/lut/figures/sweeps.h"
#include "kernels/lut/parts.h"
#include "tests/kernels/figures/figure_facts.h"
#include "tests/kit/catch.h"
#include "tests/kit/contains.h"
#include "tests/kit/run_family.h"
#include "tests/kit/temporary_folder.h"

namespace sawtooth {
namespace {

using namespace figure_facts;

VariantResult timed(const std::string& name, double us) {
    VariantResult variant;
    variant.name = name;
    variant.index = name == "fused";
    variant.time = TimeStatistics{us, us, us, std::vector<double>(9, us)};
    for (const auto& [launch, share] : {std::pair{"check", 0.25}, {"fill", 0.75}}) {
        LaunchInfo info;
        info.name = launch;
        LaunchRecord record;
        record.info = std::make_shared<const LaunchInfo>(info);
        record.duration_us = share * us;
        variant.launches.push_back(std::move(record));
    }
    return variant;
}

SweepCell cell_of(const Sweep& sweep, size_t index, std::vector<VariantResult> variants) {
    Result result;
    result.parameters = sweep.base.parameters;
    result.main_output = "y";
    result.variants = std::move(variants);
    return {sweep.cell(index), "", std::make_shared<const Result>(std::move(result))};
}

SweepResult sweep_over(const std::string& parameter, std::vector<Value> values) {
    SweepResult swept;
    swept.sweep = {parameter, {}, {{parameter, std::move(values)}}};
    swept.sweep.base.parameters = settled(lut_family());
    return swept;
}

TEST_CASE("lut: time against detectors, of the variants and of the kernels", "[lut][figures]") {
    SweepResult swept = sweep_over("detectors", {int64_t{8}, int64_t{16}});
    for (size_t i = 0; i < 2; ++i)
        swept.cells.push_back(cell_of(swept.sweep, i, {timed("unfused", 10 + 30.0 * i), timed("fused", 5)}));
    CHECK_FALSE(contains(figure_named(lut::size_figures(swept), "time_by_detectors").caption, "faster"));
    swept.complete = true;
    const auto figures = lut::size_figures(swept);
    const Figure& time = figure_named(figures, "time_by_detectors");
    CHECK(marks_of<Line>(time).size() == 2);
    CHECK(contains(time.caption, "fused is faster throughout: 8x at 16. "));
    const Figure& kernels = figure_named(figures, "kernels_by_detectors");
    const Line fill = line_named(marks_of<Line>(kernels), "fill");
    CHECK(fill.y == std::vector<double>{7.5, 30});
    CHECK(fill.sets.parameter == "detectors");
    CHECK(contains(kernels.caption, "At 16, fill takes 75 % of the kernel time"));
}

TEST_CASE("lut: the caption of times against a size says from where on a variant is faster",
          "[lut][figures]") {
    SweepResult swept = sweep_over("detectors", {int64_t{8}, int64_t{16}, int64_t{32}});
    const auto caption_of = [&](std::vector<double> unfused, std::vector<double> fused) {
        swept.cells.clear();
        for (size_t i = 0; i < 3; ++i)
            swept.cells.push_back(
                cell_of(swept.sweep, i, {timed("unfused", unfused[i]), timed("fused", fused[i])}));
        swept.complete = true;
        return figure_named(lut::size_figures(swept), "time_by_detectors").caption;
    };
    CHECK(contains(caption_of({10, 40, 24000}, {20, 20, 20}), "fused is faster from 16 on: 1,200x at 32. "));
    CHECK(contains(caption_of({10, 40, 20}, {20, 20, 50}), "unfused is faster at 32: 2.5x. "));
    CHECK(contains(caption_of({10, 40, 20}, {20, 20, 20.5}), "Both take the same time at 32. "));
}

TEST_CASE("lut: kernels against a size are the longest five and the sum of the others", "[lut][figures]") {
    SweepResult swept = sweep_over("detectors", {int64_t{8}});
    VariantResult unfused = timed("unfused", 100);
    const LaunchRecord launch = unfused.launches.front();
    unfused.launches.clear();
    for (const auto& [name, us] :
         {std::pair{"a", 1.0}, {"b", 30.0}, {"c", 2.0}, {"d", 40.0}, {"e", 5.0}, {"f", 6.0}, {"g", 16.0}}) {
        LaunchInfo info;
        info.name = name;
        unfused.launches.push_back(launch);
        unfused.launches.back().info = std::make_shared<const LaunchInfo>(info);
        unfused.launches.back().duration_us = us;
    }
    swept.cells.push_back(cell_of(swept.sweep, 0, {unfused}));
    const Figure figure = figure_named(lut::size_figures(swept), "kernels_by_detectors");
    const auto lines = marks_of<Line>(figure);
    REQUIRE(lines.size() == 6);
    CHECK(lines.front().label == "b");
    CHECK(line_named(lines, "other kernels").y == std::vector<double>{3});
    CHECK(contains(figure.caption, "At 8, d takes 40 % of the kernel time. "));
}

TEST_CASE("lut: errors and changed values with float and integer arithmetic", "[lut][figures]") {
    SweepResult swept = sweep_over("arithmetic", {"float", "integer"});
    for (size_t i = 0; i < 2; ++i) {
        VariantResult unfused = timed("unfused", 10), fused = timed("fused", 5);
        unfused.errors = {{"y", 1e-6, i == 0 ? 2e-7 : 0, 0, {}, {}}};
        fused.errors = {{"y", 1e-6, 1e-7, 0, {}, {}}};
        unfused.metrics = {{"changed_values", "changed values", "", i == 0 ? 1234.0 : 0.0}};
        swept.cells.push_back(cell_of(swept.sweep, i, {unfused, fused}));
    }
    const auto figures = lut::arithmetic_figures(swept);
    const Figure& error = figure_named(figures, "error_by_arithmetic");
    CHECK(error.y.categories ==
          std::vector<std::string>{"unfused, float", "unfused, integer", "fused, float", "fused, integer"});
    CHECK(marks_of<Bars>(error).front().bars[1].text == "0");
    CHECK(contains(error.caption, "unfused, float 2.0e-07"));
    const Figure& changes = figure_named(figures, "changes_by_arithmetic");
    const auto bars = marks_of<Bars>(changes).front().bars;
    REQUIRE(bars.size() == 2);  // the bar of fused is not measured
    CHECK(bars[0].text == "1,234");
    CHECK(bars[1].text == "0");
    CHECK(contains(changes.caption, "Atomics add in any order"));
}

TEST_CASE("lut: curves over a sweep that cannot run say why", "[lut][figures]") {
    SweepResult swept = sweep_over("detectors", {int64_t{8}});
    swept.cells.push_back({swept.sweep.cell(0), "no variant can run this; unfused: too large", nullptr});
    for (const auto& figures_of : {lut::size_figures, lut::arithmetic_figures})
        for (const Figure& figure : figures_of(swept)) {
            CHECK(figure.missing == "Not computed: too large.");
            CHECK(figure.marks.empty());
        }
}

TEST_CASE("lut: every sweep runs on the CPU and gives its figures", "[lut][figures]") {
    LocalSource source(shared_cache());
    Request request;
    request.family = "lut";
    request.repeats = 2;
    request.parameters.set("backward", true);
    for (Sweep& sweep : figure_sweeps(request, settled(lut_family(), {{"backward", true}}), Backend::cpu)) {
        if (sweep.id != "arithmetic") sweep.axes[0].values.resize(2);
        const auto done = run_sweep(source, sweep, {});
        REQUIRE(done);
        for (const Figure& figure : figures_of(*done)) {
            INFO(figure.id);
            CHECK((figure.missing.empty() || figure.id == "changes_by_arithmetic"));
            CHECK(figure.missing.empty() == !figure.caption.empty());
        }
    }
}

}  // namespace
}  // namespace sawtooth
