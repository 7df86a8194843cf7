// The numbers in the figures of attention, against small computations of their own.

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

#include "kernels/attention/figures/scores.h"
#include "tests/engine/run_engine.h"
#include "tests/kernels/attention/run_attention.h"
#include "tests/kernels/figures/figure_facts.h"
#include "tests/kit/catch.h"
#include "tests/kit/contains.h"

namespace sawtooth {
namespace {

using namespace attention;
using namespace attention_facts;
using namespace figure_facts;

Result result_with(const Settings& settings) { return run_in_engine(attention_family(), settings); }

struct TileSizes {
    int64_t length, block_m, block_n, window;
};

TEST_CASE("tiles are counted by kind as their pairs say", "[attention][figures]") {
    const bool causal = GENERATE(true, false);
    const auto sizes = GENERATE(TileSizes{1, 4, 4, 1}, TileSizes{64, 16, 16, 16}, TileSizes{61, 16, 4, 1},
                                TileSizes{61, 4, 16, 13}, TileSizes{50, 7, 5, 20}, TileSizes{50, 64, 64, 49},
                                TileSizes{48, 16, 8, 48}, TileSizes{47, 5, 9, 1000}, TileSizes{80, 8, 32, 9});
    const Parameters parameters = parameters_with({{"N", sizes.length},
                                                   {"BLOCK_M", sizes.block_m},
                                                   {"BLOCK_N", sizes.block_n},
                                                   {"window", sizes.window},
                                                   {"causal", causal}});
    INFO(sizes.length << " " << sizes.block_m << " " << sizes.block_n << " " << sizes.window);
    const Drawn drawn(parameters);
    int64_t wanted[4] = {};
    for (int64_t row = 0; row * sizes.block_m < sizes.length; ++row)
        for (int64_t column = 0; column < drawn.key_tiles(); ++column)
            ++wanted[static_cast<int>(
                kind_by_pairs(drawn.mask, tile_at(row, sizes.block_m, sizes.length), drawn.keys(column)))];
    const TileCounts counts = count_tiles(parameters);
    CHECK(counts.skipped == wanted[0]);
    CHECK(counts.near == wanted[1]);
    CHECK(counts.far == wanted[2]);
    CHECK(counts.mixed == wanted[3]);
}

TEST_CASE("tiles of queries with a cache begin at the first query", "[attention][figures]") {
    const bool causal = GENERATE(true, false);
    const int64_t queries = GENERATE(1, 7, 40, 61), window = GENERATE(1, 13, 30, 100);
    const Parameters parameters = parameters_with({{"N", int64_t{61}},
                                                   {"N_q", queries},
                                                   {"BLOCK_M", int64_t{16}},
                                                   {"BLOCK_N", int64_t{4}},
                                                   {"window", window},
                                                   {"causal", causal}});
    const Drawn drawn(parameters);
    int64_t wanted[4] = {};
    for (int64_t first = 61 - queries; first < 61; first += 16)
        for (int64_t column = 0; column < drawn.key_tiles(); ++column)
            ++wanted[static_cast<int>(
                kind_by_pairs(drawn.mask, {first, std::min<int64_t>(first + 16, 61)}, drawn.keys(column)))];
    const TileCounts counts = count_tiles(parameters);
    CHECK(counts.skipped == wanted[0]);
    CHECK(counts.near == wanted[1]);
    CHECK(counts.far == wanted[2]);
    CHECK(counts.mixed == wanted[3]);
}

TEST_CASE("figures of shared keys and a cache show the keys of the head, and queries at their positions",
          "[attention][figures]") {
    const std::string form = GENERATE("qkv", "four");
    const Result result = result_with({{"H", int64_t{4}},
                                       {"H_kv", int64_t{2}},
                                       {"N", int64_t{150}},
                                       {"N_q", int64_t{70}},
                                       {"D", int64_t{10}},
                                       {"window", int64_t{90}},
                                       {"base", 100.0},
                                       {"form", form},
                                       {"backward", true},
                                       {"drawn_head", int64_t{3}},
                                       {"drawn_query", int64_t{66}}});
    const auto rows = score_rows(result);
    REQUIRE(rows);
    CHECK(rows->queries.first == 80 + 64);
    CHECK(rows->queries.last == 150);
    const auto steps = running_softmax(Drawn(result.parameters), *rows);
    const double lse = find(result.reference, "lse")->as<double>()[3 * 70 + 66];
    CHECK(steps.back().m * std::numbers::log2e + std::log2(steps.back().l) == Approx(lse).epsilon(1e-12));
    const Figure map = figure_of(result, "tile-map");
    CHECK(contains(marks_of<KindMap>(map).front().row_names[1], "queries 144 to 149: tile 1"));
    CHECK(map.y.minimum == 79.5);
    CHECK(marks_of<Rule>(figure_of(result, "error-o")).front().at == 10);  // position 90
    for (const Figure& figure : attention::figures(result, {})) {
        INFO(figure.id);
        CHECK(figure.missing.empty());
        CHECK_FALSE(figure.marks.empty());
    }
}

TEST_CASE("the tile map shows every tile's kind, and names it with positions and thread block",
          "[attention][figures]") {
    Result result = result_with({{"N", int64_t{300}}, {"window", int64_t{100}}, {"drawn_head", int64_t{1}}});
    Figure figure = figure_of(result, "tile-map");
    CHECK(figure.title == "Tiles: 5 near, 3 far, 7 mixed, 10 skipped");
    // 15 tiles of 64 x 64 x 64 multiplications, twice; 8 of them need one encoding.
    CHECK(contains(figure.caption, "saves 27 % of the score products"));
    KindMap map = marks_of<KindMap>(figure).front();
    REQUIRE(map.row_names.size() == 5);
    REQUIRE(map.column_names.size() == 5);
    const Drawn drawn(result.parameters);
    for (size_t row = 0; row < 5; ++row)
        for (size_t column = 0; column < 5; ++column)
            CHECK(map.kind_at(row, column) ==
                  static_cast<int>(kind_by_pairs(drawn.mask, tile_at(static_cast<int64_t>(row), 64, 300),
                                                 drawn.keys(static_cast<int64_t>(column)))));
    CHECK(map.column_names[4] == "keys 256 to 299: tile 4");
    CHECK(map.row_names[2] == "queries 128 to 191: tile 2, work item 7");  // 5 of head 0 come first
    result.backend = Backend::cuda;
    map = marks_of<KindMap>(figure_of(result, "tile-map")).front();
    CHECK(map.row_names[2] == "queries 128 to 191: tile 2, thread block (2, 1)");
    // The last key outside the window of query 200 is 100.
    const Line edge = line_named(marks_of<Line>(figure), "edge of the window");
    for (size_t i = 0; i < edge.x.size(); ++i) CHECK(edge.y[i] - edge.x[i] == 99.5);
    CHECK(edge.x.front() == 0);
    CHECK(edge.y.back() == 299.5);
    result.parameters.set("window", int64_t{300});
    figure = figure_of(result, "tile-map");
    CHECK(contains(figure.caption, "streaming never multiplies q2 k2"));
    CHECK(marks_of<Line>(figure).empty());
}

TEST_CASE("a map of very many tiles has few cells, which keep the edge of the window",
          "[attention][figures]") {
    Result result;
    result.parameters = parameters_with({{"N", int64_t{1} << 20},
                                         {"BLOCK_M", int64_t{16}},
                                         {"BLOCK_N", int64_t{16}},
                                         {"window", int64_t{1} << 18}});
    const Figure figure = tile_map_figure(result, {});
    const KindMap map = marks_of<KindMap>(figure).front();
    REQUIRE(map.row_names.size() == 256);
    REQUIRE(map.column_names.size() == 256);
    const auto mixed = static_cast<int>(TileKind::mixed);
    for (size_t row = 64; row < 256; ++row)
        CHECK(std::count_if(map.cells.begin() + static_cast<std::ptrdiff_t>(row * 256),
                            map.cells.begin() + static_cast<std::ptrdiff_t>((row + 1) * 256),
                            [&](int kind) { return kind == mixed; }) >= 1);
    CHECK(map.kind_at(0, 255) == static_cast<int>(TileKind::skipped));
    CHECK(map.kind_at(255, 0) == static_cast<int>(TileKind::far));
    CHECK(map.kind_at(255, 255) == static_cast<int>(TileKind::near));
    CHECK(contains(map.column_names[1], "keys 4096 to 8191: tiles 256 to 511"));
    CHECK(contains(figure.caption, "A cell shows about 256 x 256 tiles."));
    const TileCounts counts = count_tiles(result.parameters);
    CHECK(counts.skipped + counts.computed() == (int64_t{1} << 32));
    // Zoomed in, cells are tiles again.
    View zoomed;
    zoomed.visible["key"] = {1600, 3199};
    const KindMap part = marks_of<KindMap>(tile_map_figure(result, zoomed)).front();
    CHECK(part.column_names.front() == "keys 1600 to 1615: tile 100");
    CHECK(part.column_names.back() == "keys 3184 to 3199: tile 199");
}

TEST_CASE("probabilities are the reference's: they sum to 1, and weight v to o", "[attention][figures]") {
    const std::string form = GENERATE("qkv", "four");
    const bool causal = GENERATE(true, false);
    const Result result = result_with({{"Z", int64_t{2}},
                                       {"N", int64_t{150}},
                                       {"D", int64_t{16}},
                                       {"window", int64_t{20}},
                                       {"form", form},
                                       {"causal", causal},
                                       {"drawn_batch", int64_t{1}},
                                       {"drawn_head", int64_t{1}},
                                       {"drawn_query", int64_t{100}}});
    const auto rows = score_rows(result);
    REQUIRE(rows);
    CHECK(rows->queries.first == 64);
    CHECK(rows->queries.last == 128);
    const auto p = probabilities_of(*rows);
    const auto v = find(result.inputs, "v")->as<float>();
    const auto o = find(result.reference, "o")->as<double>();
    constexpr int64_t head = 3;
    for (int64_t i = 64; i < 128; ++i) {
        double sum = 0, weighted = 0;
        for (int64_t j = 0; j < 150; ++j) {
            const double share = p[rows->place(i, j)];
            CHECK(std::isnan(share) == (causal && j > i));
            if (std::isnan(share)) continue;
            sum += share;
            weighted += share * double{v[static_cast<size_t>((head * 150 + j) * 16 + 5)]};
        }
        CHECK(sum == Approx(1).epsilon(1e-14));
        CHECK(weighted == Approx(o[static_cast<size_t>((head * 150 + i) * 16 + 5)]).margin(1e-13));
    }
}

TEST_CASE("heat maps show the visible keys, reduced to the largest where there are many",
          "[attention][figures]") {
    const Result result =
        result_with({{"N", int64_t{1100}}, {"D", int64_t{16}}, {"drawn_query", int64_t{1090}}});
    const auto rows = *score_rows(result);
    CHECK(rows.queries.first == 1088);
    CHECK(rows.queries.last == 1100);
    const HeatMap whole = marks_of<HeatMap>(figure_of(result, "scores")).front();
    REQUIRE(whole.columns == 512);
    CHECK(whole.y_low == 1087.5);
    double largest = 0, drawn = 0;
    for (const double score : rows.scores) largest = std::fmax(largest, std::abs(score));
    for (const double score : whole.values) drawn = std::fmax(drawn, std::abs(score));
    CHECK(drawn == largest);
    View view;
    view.visible["key"] = {500, 599};
    const HeatMap part = marks_of<HeatMap>(figure_of(result, "scores", view)).front();
    REQUIRE(part.columns == 100);
    CHECK(part.x_low == 499.5);
    CHECK(part.values[3 * 100 + 7] == rows.at(1091, 507));
    CHECK(std::isnan(whole.values[511]));  // keys 1097 to 1099 of query 1088
}

TEST_CASE("the running maximum and sum end at the lse of the reference", "[attention][figures]") {
    const bool causal = GENERATE(true, false);
    const double scale = GENERATE(0.125, 20.0);
    const Result result = result_with({{"N", int64_t{200}},
                                       {"window", int64_t{40}},
                                       {"BLOCK_M", int64_t{32}},
                                       {"BLOCK_N", int64_t{16}},
                                       {"causal", causal},
                                       {"scale", scale},
                                       {"drawn_query", int64_t{131}}});
    const Drawn drawn(result.parameters);
    const auto rows = *score_rows(result);
    const auto steps = running_softmax(drawn, rows);
    REQUIRE(steps.size() == (causal ? 10 : 13));  // keys 0 to 159, or all
    for (size_t i = 0; i < steps.size(); ++i) {
        CHECK(steps[i].kind == kind_by_pairs(drawn.mask, {128, 160}, steps[i].keys));
        CHECK(steps[i].m >= steps[i == 0 ? 0 : i - 1].m);
        // The sum of exp(s - m) over the keys so far.
        double sum = 0;
        for (int64_t j = 0; j < steps[i].keys.last && drawn.mask.allows(131, j); ++j)
            sum += std::exp(rows.at(131, j) - steps[i].m);
        CHECK(steps[i].l == Approx(sum).epsilon(1e-12));
    }
    const double lse = find(result.reference, "lse")->as<double>()[131];
    CHECK(steps.back().m * std::numbers::log2e + std::log2(steps.back().l) == Approx(lse).epsilon(1e-13));
    const Figure figure = figure_of(result, "running-softmax");
    CHECK(line_named(marks_of<Line>(figure), "m + log2 l").y.back() == Approx(lse).epsilon(1e-13));
    const KindMap strip = marks_of<KindMap>(figure).front();
    REQUIRE(strip.cells.size() == steps.size());
    CHECK(strip.column_names.back() == (causal ? "keys 144 to 159: tile 9" : "keys 192 to 199: tile 12"));
}

TEST_CASE("the error of every head is that of its rows in the reference", "[attention][figures]") {
    const bool whole = GENERATE(true, false);
    Result result = result_with(
        {{"Z", int64_t{2}}, {"H", int64_t{3}}, {"N", int64_t{400}}, {"D", int64_t{16}}, {"dtype", "bf16"}});
    const Array all = *find(result.reference, "o");
    if (!whole) result.reference = *attention::reference_of_chosen_rows(result.parameters, result.inputs, {});
    const Array& reference = *find(result.reference, "o");
    REQUIRE((reference.rows == nullptr) == whole);
    const Figure figure = figure_of(result, "error-by-head");
    const auto lines = marks_of<Line>(figure);
    const Line &relative = line_named(lines, "streaming"),
               &absolute = line_named(lines, "streaming, largest absolute");
    REQUIRE(relative.y.size() == 6);
    const Array& o = *find(find(result, "streaming")->outputs, "o");
    int64_t known = 0;
    for (int64_t head = 0; head < 6; ++head) {
        double difference = 0, square = 0, most = 0;
        for (int64_t at = head * 400 * 16; at < (head + 1) * 400 * 16; ++at) {
            if (!whole &&
                !std::binary_search(reference.rows->places.begin(), reference.rows->places.end(), at / 16))
                continue;
            const double off = std::abs(o.value(at) - all.value(at));
            difference += off * off;
            square += std::norm(all.value(at));
            most = std::max(most, off);
            ++known;
        }
        const auto index = static_cast<size_t>(head);
        CHECK(std::isnan(relative.y[index]) == (square == 0));
        if (square == 0) continue;
        CHECK(relative.y[index] == Approx(std::sqrt(difference / square)));
        CHECK(absolute.y[index] == Approx(most));
    }
    CHECK(known == reference.count());
    CHECK(figure.x.categories.size() == 6);
    CHECK(contains(figure.caption, "streaming"));
}

TEST_CASE("rates stand beside the peak of the products that the device has", "[attention][figures]") {
    Result result;
    result.parameters = parameters_with({{"dtype", "bf16"}});
    result.work.operations = 4e9;
    VariantResult variant;
    variant.name = "streaming";
    variant.index = 1;
    variant.time = TimeStatistics{100, 99, 101, {}};  // us
    variant.exact = true;
    variant.verdicts = {{.output = "o", .verdict = Verdict::right, .judged = 9, .elements = 9}};
    result.variants = {variant};
    CHECK_FALSE(peak_figure(result).missing.empty());
    result.ceilings = Ceilings{};
    result.ceilings->operations_per_second = 80e12;
    Figure figure = peak_figure(result);
    CHECK(figure.x.unit == "GFLOP/s");
    CHECK(marks_of<Bars>(figure).front().bars.front().segments.front().length == Approx(40000));
    CHECK(marks_of<Bars>(figure).front().bars.front().text == "50 % of peak");
    result.backend = Backend::cuda;
    result.ceilings->gpu = GpuCeilings{};
    result.ceilings->gpu->bf16_operations_per_second = 400e12;
    figure = peak_figure(result);
    CHECK(marks_of<Bars>(figure).front().bars.front().text == "10 % of peak");
    CHECK(marks_of<Rule>(figure).front().label == "measured peak: 400 TFLOP/s");
    CHECK(contains(figure.caption, "streaming reaches 10 %"));
    result.parameters.set("dtype", "f32");
    CHECK(marks_of<Rule>(peak_figure(result)).front().at == Approx(80));
}

TEST_CASE("every figure of attention has marks or a sentence, and gradients appear with the backward pass",
          "[attention][figures]") {
    const std::string form = GENERATE("qkv", "four");
    const bool backward = GENERATE(false, true);
    Result result = result_with({{"N", int64_t{70}}, {"form", form}, {"backward", backward}});
    std::set<std::string> ids;
    for (const Figure& figure : attention::figures(result, {})) {
        INFO(figure.id);
        CHECK(ids.insert(figure.id).second);
        CHECK_FALSE(figure.marks.empty());
        CHECK(figure.missing.empty());
        CHECK_FALSE(figure.title.empty());
        for (const std::string& name : figure.chosen_by)
            CHECK(attention_family().parameter(name)->renews == Renews::figures);
    }
    for (const char* id : {"tile-map", "scores", "probabilities", "running-softmax", "output-o", "output-lse",
                           "error-o", "error-lse", "error-by-head", "share-of-peak"})
        CHECK(ids.count(id) == 1);
    CHECK(ids.count("output-dq") == (backward && form == "qkv"));
    CHECK(ids.count("error-dk2") == (backward && form == "four"));
    CHECK(ids.count("output-dv") == backward);
    // A partial result has no times yet.
    for (VariantResult& variant : result.variants) variant.time.reset(), variant.launches.clear();
    for (const Figure& figure : attention::figures(result, {}))
        CHECK(figure.marks.empty() == !figure.missing.empty());
}

TEST_CASE("scores that would keep the window waiting are left out with a reason", "[attention][figures]") {
    Result result;
    result.parameters = parameters_with({{"N", int64_t{1} << 18}});
    CHECK_FALSE(score_rows(result));
    const auto figures = score_figures(result, {});
    CHECK(contains(figure_named(figures, "scores").missing, "4,194,304"));
    CHECK(figure_named(figures, "probabilities").marks.empty());
}

}  // namespace
}  // namespace sawtooth
