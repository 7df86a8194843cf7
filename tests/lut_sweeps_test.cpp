// The figures of lut over sweeps, from hand-made results and small runs.

#include <algorithm>

#include "app/engine/engine.h"
#include "app/engine/runner.h"
#include "kernels/lut/family.h"
#include "kernels/lut/figures/sweeps.h"
#include "kernels/lut/parts.h"
#include "tests/catch.h"
#include "tests/contains.h"
#include "tests/figure_facts.h"
#include "tests/run_family.h"
#include "tests/temporary_folder.h"

namespace sawtooth {
namespace {

using namespace figure_facts;

VariantResult timed(const std::string& name, double us) {
    VariantResult variant;
    variant.name = name;
    variant.index = name == "fused";
    variant.time = TimeStatistics{us, us, us, {us}};
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
    const auto figures = lut::size_figures(swept);
    const Figure& time = figure_named(figures, "time_by_detectors");
    CHECK(marks_of<Line>(time).size() == 2);
    CHECK(contains(time.caption, "From detectors 8 to 16, unfused takes 4x the time, fused 1x."));
    CHECK(contains(time.caption, "anchors_per_detector 6, full, forward"));
    const Figure& kernels = figure_named(figures, "kernels_by_detectors");
    const Line fill = line_named(marks_of<Line>(kernels), "fill");
    CHECK(fill.y == std::vector<double>{7.5, 30});
    CHECK(fill.sets.parameter == "detectors");
    CHECK(contains(kernels.caption, "At 16, fill takes 75 % of the time of all kernels"));
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
    REQUIRE(bars.size() == 2);  // that of fused is not measured
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
    TemporaryFolder folder;
    Runner runner(folder.path());
    Request request;
    request.family = "lut";
    request.repeats = 2;
    request.parameters.set("backward", true);
    for (Sweep& sweep : figure_sweeps(request, settled(lut_family(), {{"backward", true}}), Backend::cpu)) {
        if (sweep.id != "arithmetic") sweep.axes[0].values.resize(2);
        const auto done = runner.sweep(sweep, {});
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
