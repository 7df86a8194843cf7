// The figures of btp over sweeps, of launches and of speed, from hand-made results and small runs.

#include <algorithm>
#include <cmath>

#include "app/engine/run/result_figures.h"
#include "app/engine/sources/local_source.h"
#include "app/engine/sources/sweep_loop.h"
#include "kernels/btp/figures/common.h"
#include "kernels/btp/figures/sweeps.h"
#include "kernels/core/common_parameters.h"
#include "kernels/figures/launch_figures.h"
#include "tests/kernels/btp/run_btp.h"
#include "tests/kernels/figures/figure_facts.h"
#include "tests/kit/catch.h"
#include "tests/kit/contains.h"
#include "tests/kit/temporary_folder.h"
#include "viz/figure_csv.h"

namespace sawtooth {
namespace {

using namespace btp_facts;
using namespace figure_facts;

VariantResult timed(const std::string& name, double us) {
    VariantResult variant;
    variant.name = name;
    const auto& rows = btp_family().variants;
    variant.index = static_cast<int>(
        std::find_if(rows.begin(), rows.end(), [&](const Variant& row) { return row.name == name; }) -
        rows.begin());
    variant.time = TimeStatistics{us, us, us, std::vector<double>(9, us)};
    return variant;
}

// Returns a variant with `count` launches of 2 us each, which start every 3 us.
VariantResult launched(const std::string& name, int count) {
    VariantResult variant = timed(name, 3.0 * count);
    LaunchInfo info;
    info.name = name;
    const auto shared = std::make_shared<const LaunchInfo>(info);
    for (int i = 0; i < count; ++i) {
        LaunchRecord launch;
        launch.info = shared;
        launch.start_us = 3.0 * i;
        launch.duration_us = 2;
        launch.busy = {{0, 3.0 * i, 3.0 * i + 2}};
        variant.launches.push_back(launch);
    }
    variant.launch_count = count;
    return variant;
}

Result result_of(const Parameters& parameters, std::vector<VariantResult> variants) {
    Result result;
    result.parameters = parameters;
    result.variants = std::move(variants);
    for (VariantResult& variant : result.variants)
        variant.work = work_of(btp_family(), *btp_family().variant(variant.name), parameters, {});
    result.work = btp::work(parameters, {});
    result.processors = 2;
    return result;
}

SweepCell cell_of(const Sweep& sweep, size_t index, std::vector<VariantResult> variants) {
    Parameters parameters = sweep.base.parameters;
    for (const auto& [name, value] : sweep.request(index).parameters.values) parameters.set(name, value);
    Result result = result_of(parameters, std::move(variants));
    result.copy = Copy{1e6, {.median = 100}};  // 10 GB/s
    return {sweep.cell(index), "", std::make_shared<const Result>(std::move(result))};
}

TEST_CASE("launches on one axis: the teeth of sequential, two launches, one launch", "[btp][figures]") {
    const Parameters parameters = parameters_with({{"L", int64_t{300}}});
    const Result result =
        result_of(parameters, {launched("sequential", 300), launched("two_pass", 2), launched("fused", 1)});
    const auto figures = launches_figures(result, {}, "Launches");
    REQUIRE(figures.size() == 2);
    const Figure& figure = figures.front();
    const auto tracks = marks_of<Tracks>(figure).front().tracks;
    REQUIRE(tracks.size() == 3);
    CHECK(tracks[0].label == "sequential");
    CHECK(tracks[0].spans.size() == 300);
    CHECK(tracks[1].spans.size() == 2);
    CHECK(tracks[2].spans.size() == 1);
    // Typical teeth, not those that start the run, have a figure of their own, with its axis.
    const Figure& zoom = figures.back();
    REQUIRE(zoom.zoom);
    CHECK(zoom.zoom->figure == "launches");
    CHECK(zoom.x.minimum == 90.0);
    CHECK(zoom.x.maximum == 180.0);
    const auto zoomed = marks_of<Tracks>(zoom).front().tracks;
    REQUIRE(zoomed.size() == 2);
    CHECK(zoomed[0].spans.size() == 30);
    CHECK(contains(zoomed[1].label, "utilisation"));
    CHECK(zoom.zoom->low == 90.0);
    CHECK(zoom.zoom->high == 180.0);
    CHECK(contains(figure.caption, "sequential: 300 launches, idle 33 % of the time"));
    CHECK(contains(figure.caption, "two_pass: 2 launches, 5 us"));
    CHECK(contains(figure.caption, "fused: 1 launch, 2 us"));
    CHECK(to_csv(figure).size() > 1000);
}

TEST_CASE("launches without sequential, and without a timeline", "[btp][figures]") {
    const Parameters parameters = parameters_with({});
    const auto two = launches_figures(result_of(parameters, {launched("two_pass", 2), launched("fused", 1)}),
                                      {}, "Launches");
    CHECK(two.size() == 1);
    CHECK(marks_of<Tracks>(two.front()).front().tracks.size() == 2);
    const Figure none = launches_figures(result_of(parameters, {timed("fused", 3)}), {}, "Launches").front();
    CHECK(none.marks.empty());
    CHECK(contains(none.missing, "profile timeline"));
}

TEST_CASE("the rate counts the bytes that a variant has to move, beside the copy", "[btp][figures]") {
    const Parameters parameters = parameters_with({{"backward", true}});
    VariantResult fused = timed("fused", 100);
    fused.outputs.push_back(Array::uninitialised("du", Dtype::f32, {1}));
    Result result = result_of(parameters, {timed("sequential", 1000), fused});
    Figure figure = figure_named(btp::speed_figures(result), "rate");
    CHECK(figure.marks.empty());              // no copy, no ceilings
    result.copy = Copy{1e6, {.median = 10}};  // 100 GB/s
    for (VariantResult& variant : result.variants) {
        variant.exact = true;
        variant.verdicts = {{.output = "x", .verdict = Verdict::right, .judged = 9, .elements = 0}};
    }
    figure = figure_named(btp::speed_figures(result), "rate");
    const Bars bars = marks_of<Bars>(figure).front();
    const Parameters forward = parameters_with({});
    CHECK(bars.bars[0].segments[0].length == Approx(btp::work(forward, {}).bytes / 1000 / 1e3));
    CHECK(bars.bars[1].segments[0].length == Approx(btp::work(parameters, {}).bytes / 100 / 1e3));
    CHECK(marks_of<Rule>(figure).front().at == 100);
    CHECK(contains(figure.caption, "fused reaches"));
    result.variants[1].verdicts = {{.output = "x", .verdict = Verdict::wrong, .judged = 9, .elements = 5}};
    CHECK(contains(figure_named(btp::speed_figures(result), "rate").caption, "sequential reaches"));
    CHECK(figure_named(btp::speed_figures(result), "time-a-token").y.categories.back() ==
          "fused with backward, whole / L");
}

TEST_CASE("time per token: steps beside the whole, with the size of the state", "[btp][figures]") {
    const Parameters parameters =
        parameters_with({{"B", int64_t{2}}, {"H", int64_t{4}}, {"DH", int64_t{16}}, {"L", int64_t{1000}}});
    const Result result = result_of(parameters, {timed("sequential", 3000), timed("two_pass", 9),
                                                 timed("fused", 10), timed("decode", 50)});
    const Figure figure = figure_named(btp::speed_figures(result), "time-a-token");
    CHECK(figure.y.categories == std::vector<std::string>{"sequential", "decode", "fused, whole / L"});
    const Bars bars = marks_of<Bars>(figure).front();
    CHECK(bars.bars[0].segments[0].length == Approx(3000));
    CHECK(bars.bars[1].text == "50 ns");
    CHECK(figure.x.scale == Scale::linear);
    CHECK(bars.most == Approx(1000));  // 20 times decode: the bar of sequential is broken
    CHECK(contains(figure.caption, "decode is 60x faster than sequential"));
    CHECK(contains(figure.caption, "1 KiB: the local value and the carry of 128 channels"));
}

TEST_CASE("time and rate against BL name the ratio and the best block", "[btp][figures]") {
    SweepResult swept;
    swept.sweep = {"BL", {}, {{"BL", {int64_t{16}, int64_t{32}, int64_t{64}}}}};
    swept.sweep.base.parameters = parameters_with({});
    for (size_t i = 0; i < 3; ++i)
        swept.cells.push_back(
            cell_of(swept.sweep, i, {timed("two_pass", 300), timed("fused", 100.0 + 100 * i)}));
    CHECK_FALSE(contains(figure_named(btp::block_figures(swept), "time_by_block").caption, "fastest"));
    swept.complete = true;
    const auto figures = btp::block_figures(swept);
    const Figure& time = figure_named(figures, "time_by_block");
    CHECK(marks_of<Line>(time).size() == 2);
    CHECK(marks_of<Line>(time)[1].sets.parameter == "BL");
    CHECK(contains(time.caption,
                   "fused is fastest at BL 16. From BL 16 to 64 its products do 3.8 times the work."));
    const Figure& rate = figure_named(figures, "rate_by_block");
    const auto lines = marks_of<Line>(rate);
    REQUIRE(lines.size() == 3);
    CHECK(line_named(lines, "a copy").y == std::vector<double>{10, 10, 10});
    CHECK(contains(rate.caption, "fused is nearest to a same-size copy at BL 16"));
}

TEST_CASE("no caption of a sweep tells how fast a wrong variant is", "[btp][figures]") {
    SweepResult swept;
    swept.sweep = {"BL", {}, {{"BL", {int64_t{16}, int64_t{32}, int64_t{64}}}}};
    swept.sweep.base.parameters = parameters_with({});
    swept.complete = true;
    for (size_t i = 0; i < 3; ++i) {
        VariantResult fused = timed("fused", 100.0 + 200 * static_cast<double>(i));
        if (i < 1) fused.verdicts = {{.output = "x", .verdict = Verdict::wrong, .judged = 9, .elements = 1}};
        swept.cells.push_back(cell_of(swept.sweep, i, {fused}));
    }
    const auto caption = [&] { return figure_named(btp::block_figures(swept), "time_by_block").caption; };
    CHECK(contains(caption(), "fused is fastest at BL 32."));
    Result second = *swept.cells[1].result;
    second.variants[0].verdicts = {{.output = "x", .verdict = Verdict::wrong, .judged = 9, .elements = 1}};
    swept.cells[1].result = std::make_shared<const Result>(std::move(second));
    CHECK_FALSE(contains(caption(), "fastest"));
}

TEST_CASE("time over BL and wpb: the fastest cell is framed, a refused one says why", "[btp][figures]") {
    SweepResult swept;
    swept.sweep = {"BL_wpb",
                   {},
                   {{"BL", {int64_t{16}, int64_t{32}, int64_t{64}}},
                    {"wpb", {int64_t{4}, int64_t{8}, int64_t{16}, int64_t{32}}}}};
    swept.sweep.base.variants = {"fused"};
    swept.sweep.base.parameters = parameters_with({});
    for (size_t i = 0; i < 11; ++i)
        swept.cells.push_back(cell_of(swept.sweep, i, {timed("fused", i == 6 ? 20 : 50)}));
    swept.cells.push_back(
        {swept.sweep.cell(11), "no variant can run this; fused: wpb = 32, BL = 64: needs more", nullptr});
    swept.complete = true;
    const auto figures = btp::warp_figures(swept);
    REQUIRE(figures.size() == 1);  // no occupancy is known
    const Figure& figure = figure_named(figures, "time_by_block_and_warps");
    CHECK(figure.title == "Time (us) by BL and wpb: fused");
    const HeatMap map = marks_of<HeatMap>(figure).front();
    CHECK(map.framed.at(0).row == 1);
    CHECK(map.framed.at(0).column == 2);
    CHECK(map.texts[11] == "needs more");
    CHECK(map.sets_x.parameter == "wpb");
    CHECK(map.sets_y.parameter == "BL");
    CHECK(contains(figure.caption, "Fastest: 32 x 16, 20 us; 2.5x faster than 16 x 4."));
}

TEST_CASE("time by order says what the chain of carries costs", "[btp][figures]") {
    SweepResult swept;
    swept.sweep = {"order", {}, {{"order", {int64_t{1}, int64_t{2}, "full"}}}};
    swept.sweep.base.parameters = parameters_with({});
    const double us[] = {60, 100, 180};
    for (size_t i = 0; i < 3; ++i)
        swept.cells.push_back(
            cell_of(swept.sweep, i, {timed("two_pass", us[i]), timed("fused", us[i] / 2 + 5)}));
    swept.complete = true;
    const Figure figure = btp::order_figures(swept).front();
    CHECK(figure.y.categories.size() == 6);
    CHECK(figure.y.categories[2] == "two_pass, full");
    CHECK(marks_of<Bars>(figure).front().bars[2].text == "180 us");
    CHECK(figure.caption ==
          "Time against order 2: full: fused 1.73x, two_pass 1.8x; order 1: fused 0.636x, two_pass "
          "0.6x. With full, blocks wait for earlier carries.");
    // The caption gives no cause where one variant is not slower.
    swept.cells[2] = cell_of(swept.sweep, 2, {timed("two_pass", 180), timed("fused", 56)});
    const std::string undecided = btp::order_figures(swept).front().caption;
    CHECK(contains(undecided, "full: fused same, two_pass 1.8x; "));
    CHECK_FALSE(contains(undecided, "wait"));
    // Neither does it where only one variant ran.
    swept.cells.clear();
    for (size_t i = 0; i < 3; ++i) swept.cells.push_back(cell_of(swept.sweep, i, {timed("two_pass", us[i])}));
    CHECK_FALSE(contains(btp::order_figures(swept).front().caption, "wait"));
    swept.cells.clear();
    CHECK_FALSE(btp::order_figures(swept).front().missing.empty());
}

TEST_CASE("curves of btp over a sweep that cannot run say why", "[btp][figures]") {
    SweepResult swept;
    swept.sweep = {"BL", {}, {{"BL", {int64_t{16}}}}};
    swept.cells.push_back({swept.sweep.cell(0), "no variant can run this; fused: dtype = f16", nullptr});
    for (const auto& figures_of : {btp::block_figures, btp::order_figures, btp::length_figures})
        for (const Figure& figure : figures_of(swept)) {
            CHECK(figure.missing == "Not computed: dtype = f16.");
            CHECK(figure.marks.empty());
        }
}

TEST_CASE("sweeps of btp on the CPU have small shapes", "[btp][figures]") {
    const Parameters paper = parameters_with({{"B", int64_t{8}}, {"H", int64_t{128}}, {"L", int64_t{32768}}});
    for (const FigureSweep& sweep : btp::sweeps(paper)) {
        INFO(sweep.id);
        REQUIRE(sweep.only_on);
        for (const auto& [name, value] : sweep.overrides)
            if (const auto* size = std::get_if<int64_t>(&value))
                CHECK(*size <= (name == "L" ? 8192 : name == "H" ? 16 : 1));
        CHECK(sweep.overrides.empty() == (sweep.only_on == Backend::cuda && sweep.id.starts_with("BL")));
        CHECK((sweep.id == "BL_wpb") == (sweep.axes.size() == 2));
    }
}

TEST_CASE("every sweep of btp runs on the CPU and gives its figures", "[btp][figures]") {
    LocalSource source(shared_cache());
    const Parameters parameters = parameters_with({{"L", int64_t{200}}, {"H", int64_t{2}}});
    Request request;
    request.family = "btp";
    request.repeats = 1;
    for (Sweep& sweep : figure_sweeps(request, parameters, Backend::cpu)) {
        if (sweep.id == "L") sweep.axes[0].values = {int64_t{64}, int64_t{128}};
        const auto done = run_sweep(source, sweep, {});
        REQUIRE(done);
        for (const Figure& figure : figures_of(*done)) {
            INFO(figure.id);
            CHECK(figure.missing.empty());
            CHECK_FALSE(figure.marks.empty());
            CHECK_FALSE(figure.caption.empty());
        }
    }
}

}  // namespace
}  // namespace sawtooth
