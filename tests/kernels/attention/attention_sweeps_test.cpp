// The figures of attention over sweeps, and the flow of one tile, from hand-made results and small runs.

#include <algorithm>
#include <cmath>

#include "app/engine/run/result_figures.h"
#include "app/engine/sources/local_source.h"
#include "app/engine/sources/sweep_loop.h"
#include "kernels/attention/figures/common.h"
#include "kernels/attention/figures/sweeps.h"
#include "tests/kernels/attention/run_attention.h"
#include "tests/kernels/figures/figure_facts.h"
#include "tests/kit/catch.h"
#include "tests/kit/contains.h"
#include "tests/kit/temporary_folder.h"
#include "viz/figure_csv.h"
#include "viz/present.h"

namespace sawtooth {
namespace {

using namespace attention_facts;
using namespace figure_facts;

const FigureSweep& sweep_named(const std::vector<FigureSweep>& sweeps, const std::string& id,
                               Backend backend) {
    const auto found = std::find_if(sweeps.begin(), sweeps.end(), [&](const FigureSweep& sweep) {
        return sweep.id == id && sweep.only_on == backend;
    });
    if (found == sweeps.end()) FAIL("no sweep " << id);
    return *found;
}

VariantResult timed(const std::string& name, double us) {
    VariantResult variant;
    variant.name = name;
    variant.index = name == "naive" ? 0 : 1;
    variant.time = TimeStatistics{us, us, us, std::vector<double>(9, us)};
    variant.memory_bytes = 1 << 20;
    return variant;
}

SweepCell cell_of(const Sweep& sweep, size_t index, Backend backend, std::vector<VariantResult> variants) {
    Result result;
    result.request = sweep.request(index);
    result.parameters = sweep.base.parameters;
    for (const auto& [name, value] : result.request.parameters.values) result.parameters.set(name, value);
    result.backend = backend;
    result.variants = std::move(variants);
    return {sweep.cell(index), "", std::make_shared<const Result>(std::move(result))};
}

const std::string refusal =
    "BLOCK_M = 256, BLOCK_N = 256, stages = 2, D = 64: needs 300000 bytes of shared memory per thread "
    "block; Chip has 232448";

// The sweep over tiles on a GPU: refused where both are 256, wrong in the first cell, fastest in cell 7.
SweepResult tiles_swept() {
    SweepResult swept;
    swept.sweep = {"tiles", {}, {{"BLOCK_M", {}}, {"BLOCK_N", {}}}};
    for (int64_t block = 16; block <= 256; block *= 2)
        for (SweepAxis& axis : swept.sweep.axes) axis.values.emplace_back(block);
    swept.sweep.base.variants = {"streaming"};
    swept.sweep.base.parameters = parameters_with({});
    for (size_t i = 0; i < 24; ++i) {
        VariantResult variant = timed("streaming", i == 0   ? 1.0
                                                   : i == 7 ? 50.0
                                                            : 100.0 + 10 * static_cast<double>(i));
        if (i == 0)
            variant.verdicts = {{.output = "o", .verdict = Verdict::wrong, .judged = 9, .elements = 5}};
        LaunchInfo info;
        info.name = "forward";
        LaunchRecord launch;
        launch.info = std::make_shared<const LaunchInfo>(info);
        launch.occupancy = {i == 3 ? 0.5 : 0.25, {}, "registers"};
        variant.launches = {launch};
        swept.cells.push_back(cell_of(swept.sweep, i, Backend::cuda, {variant}));
    }
    swept.cells.push_back({swept.sweep.cell(24), "no variant can run this; streaming: " + refusal, nullptr});
    swept.complete = true;
    return swept;
}

TEST_CASE("time over BLOCK_M and BLOCK_N: the fastest right cell is framed, a refused one says why",
          "[attention][figures]") {
    const auto figures = attention::tile_figures(tiles_swept());
    const Figure& figure = figure_named(figures, "time_by_tiles");
    const HeatMap map = marks_of<HeatMap>(figure).front();
    CHECK(map.rows == 5);
    CHECK(map.values[1] == 110);
    REQUIRE(map.framed.size() == 1);
    CHECK(map.framed[0].row == 1);
    CHECK(map.framed[0].column == 2);
    CHECK(map.texts[0] == "wrong");
    CHECK(std::isnan(map.values[0]));
    CHECK(std::isnan(map.values[24]));
    CHECK(map.texts[24] == "needs 300000 bytes of shared memory per thread block; Chip has 232448");
    CHECK(contains(figure.caption, "Fastest: 32 x 64, 50 us; 6.6x faster than 256 x 128."));
    CHECK(contains(figure.caption, "1 of 25 are refused, the first at 256 x 256: needs 300000 bytes"));
    CHECK(contains(to_csv(figure), "cell,time (us),256,256,,,,needs 300000 bytes"));
    CHECK(contains(to_csv(figure), "frame,fastest,64,32,"));
}

TEST_CASE("the cell of the present tiles is framed, and a cell sets both", "[attention][figures]") {
    const Figure figure = figure_named(attention::tile_figures(tiles_swept()), "time_by_tiles");
    CHECK(sets_parameters(figure));
    const Figure marked =
        with_present(figure, parameters_with({{"BLOCK_M", int64_t{128}}, {"BLOCK_N", int64_t{16}}}));
    const HeatMap map = marks_of<HeatMap>(marked).front();
    REQUIRE(map.framed.size() == 2);
    CHECK(map.framed[1].row == 3);
    CHECK(map.framed[1].column == 0);
    CHECK(map.framed[1].label == "current");
    CHECK(map.sets_x.parameter == "BLOCK_N");
    CHECK(map.sets_x.values == std::vector<double>{16, 32, 64, 128, 256});
    CHECK(map.sets_y.parameter == "BLOCK_M");
}

TEST_CASE("occupancy by tiles names the limiter, and is not offered without occupancy",
          "[attention][figures]") {
    SweepResult swept = tiles_swept();
    const Figure figure = figure_named(attention::tile_figures(swept), "occupancy_by_tiles");
    const HeatMap map = marks_of<HeatMap>(figure).front();
    CHECK(map.texts[3] == "50 %, registers");
    CHECK(map.framed.at(0).column == 3);
    CHECK(contains(map.texts[24], "needs 300000 bytes"));
    // It ran on the CPU, and refuses the chip that it should be compiled for.
    Result refused = *swept.cells[2].result;
    refused.variants[0].launches.clear();
    refused.notes = {"streaming skipped for sm_90a: " + refusal};
    swept.cells[2].result = std::make_shared<const Result>(std::move(refused));
    const Figure compiled = figure_named(attention::tile_figures(swept), "occupancy_by_tiles");
    CHECK(contains(marks_of<HeatMap>(compiled).front().texts[2], "needs 300000 bytes"));
    swept.cells.clear();
    CHECK(attention::tile_figures(swept).size() == 1);
    CHECK_FALSE(attention::tile_figures(swept).front().missing.empty());
}

TEST_CASE("speed-up over naive against N, with the speed-up of the document and the end of a refused variant",
          "[attention][figures]") {
    SweepResult swept;
    swept.sweep = {"N", {}, {{"N", {int64_t{128}, int64_t{256}, int64_t{512}}}, {"backward", {false, true}}}};
    swept.sweep.base.parameters = parameters_with({});
    for (size_t i = 0; i < 6; ++i) {
        const double us = 100 * static_cast<double>(i + 1);
        VariantResult naive = timed("naive", 3 * us);
        if (i >= 4) naive.refused = "needs 8 GiB of memory; 2 GiB are free", naive.time.reset();
        swept.cells.push_back(cell_of(swept.sweep, i, Backend::cpu, {naive, timed("streaming", us)}));
    }
    const auto figures = attention::length_figures(swept);
    const Figure& faster = figure_named(figures, "speed-up-against-N");
    const auto lines = marks_of<Line>(faster);
    REQUIRE(lines.size() == 2);
    CHECK(lines[0].label == "streaming, forward");
    CHECK(lines[1].label == "streaming, with backward");
    CHECK(lines[0].y == std::vector<double>{3, 3});
    CHECK(marks_of<Rule>(faster).front().at == 6);
    CHECK(contains(faster.caption, "At N 256, speed-up: 3x forward, 3x with backward."));
    const Figure& time = figure_named(figures, "time-against-N");
    CHECK(marks_of<Line>(time).size() == 4);
    const auto notes = marks_of<Note>(time);
    REQUIRE(notes.size() == 1);
    CHECK(notes[0].x == 256);
    CHECK(notes[0].text == "naive, forward at N 512: needs 8 GiB of memory; 2 GiB are free");
    const Line naive = marks_of<Line>(time).front();
    CHECK(naive.x.back() == 512);
    CHECK(std::isnan(naive.y.back()));
    CHECK(naive.sets.values == naive.x);
    CHECK(marks_of<Line>(figure_named(figures, "memory-against-N")).front().y.front() == 1);
}

TEST_CASE("the tiles of a window are counted, and their products predict its time", "[attention][figures]") {
    SweepResult swept;
    swept.sweep = {"window", {}, {{"window", {int64_t{1}, int64_t{64}, int64_t{256}}}}};
    swept.sweep.base.parameters =
        parameters_with({{"N", int64_t{256}}, {"BLOCK_M", int64_t{64}}, {"BLOCK_N", int64_t{64}}});
    for (size_t i = 0; i < 3; ++i)
        swept.cells.push_back(cell_of(swept.sweep, i, Backend::cpu, {timed("streaming", 200)}));
    swept.complete = true;
    const auto figures = attention::window_figures(swept);
    // 10 of 16 tiles are not above the diagonal. With window 1 only the diagonal itself is near, so 4 are
    // mixed; with 64 the diagonal tiles are near and the 3 below them mixed.
    const auto tiles = marks_of<Line>(figure_named(figures, "tiles-against-window"));
    REQUIRE(tiles.size() == 3);
    CHECK(tiles[0].y == std::vector<double>{0, 4, 10});  // near
    CHECK(tiles[1].y == std::vector<double>{6, 3, 0});   // far
    CHECK(tiles[2].y == std::vector<double>{4, 3, 0});   // mixed
    const auto lines = marks_of<Line>(figure_named(figures, "time-against-window"));
    REQUIRE(lines.size() == 2);
    // 24, 23 and 20 products: the time per product of the middle one is the median.
    CHECK(lines[1].y[0] == Approx(200 * 24.0 / 23));
    CHECK(lines[1].y[1] == Approx(200));
    CHECK(lines[1].y[2] == Approx(200 * 20.0 / 23));
    CHECK(contains(figure_named(figures, "time-against-window").caption, "Window 1 mixes 4 of 10 tiles"));
}

TEST_CASE("curves over a sweep that cannot run say why", "[attention][figures]") {
    SweepResult swept;
    swept.sweep = {"window", {}, {{"window", {int64_t{1}, int64_t{2}}}}};
    swept.cells.push_back({swept.sweep.cell(0), "no variant can run this; streaming: dtype = f32", nullptr});
    for (const Figure& figure : attention::window_figures(swept))
        CHECK(figure.missing == "Not computed: dtype = f32.");
    swept.sweep = {"N", {}, {{"N", {int64_t{128}}}, {"backward", {false, true}}}};
    swept.cells.front().values = swept.sweep.cell(0);
    for (const Figure& figure : attention::length_figures(swept)) {
        CHECK(figure.missing == "Not computed: dtype = f32.");
        CHECK(figure.marks.empty());
    }
}

TEST_CASE("sweeps of attention on the CPU have small shapes, and no more than what is set",
          "[attention][figures]") {
    const auto large = attention::sweeps(parameters_with({{"N", int64_t{8192}}, {"H", int64_t{32}}}));
    for (const FigureSweep& sweep : large) {
        INFO(sweep.id);
        REQUIRE(sweep.only_on);
        for (const auto& [name, value] : sweep.overrides) {
            INFO(name << " = " << to_text(value));
            const bool settles_again = name == "H_kv" || name == "N_q";
            CHECK((*sweep.only_on == Backend::cpu || name == "N_q"));
            CHECK(settles_again == (value == Value("auto")));
            if (!settles_again) CHECK(std::get<int64_t>(value) <= (name == "N" ? 2048 : 2));
        }
    }
    CHECK(sweep_named(large, "window", Backend::cpu).axes[0].values.back() == Value(int64_t{2048}));
    CHECK(sweep_named(large, "window", Backend::cuda).axes[0].values.back() == Value(int64_t{8192}));
    const auto ragged = attention::sweeps(parameters_with({{"N", int64_t{100}}}));
    CHECK(sweep_named(ragged, "window", Backend::cpu).axes[0].values.back() == Value(int64_t{100}));
    CHECK(sweep_named(ragged, "tiles", Backend::cpu).axes.size() == 2);
}

TEST_CASE("every sweep of attention runs on the CPU and gives its figures", "[attention][figures]") {
    LocalSource source(shared_cache());
    // By default, and with heads that share keys and a cache, of which a sweep has fewer.
    const auto [heads, key_heads, queries] =
        GENERATE(table<int64_t, Value, Value>({{1, "auto", "auto"}, {4, int64_t{2}, int64_t{3}}}));
    const Parameters parameters = parameters_with(
        {{"N", int64_t{64}}, {"H", heads}, {"H_kv", key_heads}, {"N_q", queries}, {"D", int64_t{16}}});
    Request request;
    request.family = "attention";
    request.repeats = 1;
    for (Sweep& sweep : figure_sweeps(request, parameters, Backend::cpu)) {
        for (SweepAxis& axis : sweep.axes) axis.values.resize(2);
        if (sweep.id == "window") sweep.axes[0].values = {int64_t{8}, int64_t{64}};
        const auto done = run_sweep(source, sweep, {});
        REQUIRE(done);
        const auto figures = figures_of(*done);
        CHECK(figures.size() == (sweep.id == "tiles" ? 1 : sweep.id == "N" ? 3 : 2));
        for (const Figure& figure : figures) {
            INFO(figure.id);
            CHECK(figure.missing.empty());
            CHECK_FALSE(figure.marks.empty());
            CHECK_FALSE(figure.caption.empty());
        }
    }
}

Result flowing(Backend backend, const Parameters& parameters) {
    Result result;
    result.backend = backend;
    result.parameters = parameters;
    result.variants = {timed("streaming", 100)};
    LaunchInfo info;
    info.name = "forward";
    LaunchRecord launch;
    launch.info = std::make_shared<const LaunchInfo>(info);
    result.variants[0].launches = {launch};
    return result;
}

// The texts of the edges of a row of the flow.
std::vector<std::string> edges_of(const Figure& figure, const std::string& row) {
    const auto& names = figure.y.categories;
    const auto y = static_cast<double>(std::find(names.begin(), names.end(), row) - names.begin());
    const Tree tree = marks_of<Tree>(figure).front();
    std::vector<std::string> texts;
    for (const Tree::Edge& edge : tree.edges)
        if (tree.nodes[static_cast<size_t>(edge.from)].y == y) texts.push_back(edge.text);
    return texts;
}

TEST_CASE("the flow of a tile: a near tile brings k1 and v, a mixed one k1, k2 and v",
          "[attention][figures]") {
    const Parameters parameters = parameters_with({{"N", int64_t{256}},
                                                   {"D", int64_t{64}},
                                                   {"window", int64_t{100}},
                                                   {"BLOCK_M", int64_t{64}},
                                                   {"BLOCK_N", int64_t{64}},
                                                   {"dtype", "bf16"}});
    Result result = flowing(Backend::cuda, parameters);
    Figure figure = attention::flow_figures(result).front();
    CHECK(figure.id == "tile_flow");
    // 64 keys of 64 numbers of 2 bytes: 8 KiB. 4 warps of 16 queries each read them from shared memory, with
    // 8 KiB of queries.
    CHECK(edges_of(figure, "one near tile of 4") ==
          std::vector<std::string>{"16 KiB", "72 KiB", "192 KiB", "32 KiB"});
    CHECK(edges_of(figure, "one mixed tile of 5").front() == "24 KiB");
    // 4 near, 5 mixed and 1 far tile of 2 heads, and both encodings of the queries.
    CHECK(edges_of(figure, "launch").front() == "528 KiB");
    CHECK(edges_of(figure, "launch").back() == "66 KiB");  // o and lse
    CHECK(contains(figure.caption, "Profile counters"));
    auto& counters = result.variants[0].launches[0].counters;
    counters = {{"DRAM bytes", 1048576}, {"L2 hit rate (%)", 93}};
    figure = attention::flow_figures(result).front();
    CHECK(edges_of(figure, "measured") == std::vector<std::string>{"1 MiB"});
    CHECK(contains(figure.caption, "the L2 hit rate is 93 %"));
}

TEST_CASE("the flow on the CPU goes through the cache, and needs streaming", "[attention][figures]") {
    Result result = flowing(Backend::cpu, parameters_with({}));
    const Figure figure = attention::flow_figures(result).front();
    CHECK(figure.x.categories[1] == "cache");
    CHECK(edges_of(figure, "one near tile of 15").front() == "32 KiB");
    result.variants[0].refused = "no memory";
    CHECK(attention::flow_figures(result).empty());
}

}  // namespace
}  // namespace sawtooth
