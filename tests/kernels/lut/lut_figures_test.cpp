// The numbers in the figures of lut, against the reference and small computations of their own.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "kernels/figures/launch_figures.h"
#include "kernels/lut/figures/common.h"
#include "kernels/lut/parts.h"
#include "tests/engine/run_engine.h"
#include "tests/kernels/figures/figure_facts.h"
#include "tests/kernels/lut/run_lut.h"
#include "tests/kit/contains.h"
#include "viz/figure_csv.h"

namespace sawtooth {
namespace {

using namespace lut_facts;
using namespace figure_facts;

// Returns a result with inputs and reference, in which no variant ran.
Result result_of(const Problem& problem) {
    Result result;
    result.parameters = problem.parameters;
    result.inputs = problem.inputs;
    result.reference = *problem.reference();
    return result;
}

Result result_of(const Settings& settings) { return result_of(Problem(lut_family(), settings)); }

// Returns an element of a two-dimensional output of the reference.
double reference_at(const Result& result, const char* name, int64_t row, int64_t column) {
    const Array& array = *find(result.reference, name);
    return array.value(row * array.shape[1] + column).real();
}

using Cell = std::pair<int64_t, int64_t>;  // row, column

std::set<Cell> framed(const HeatMap& map, const std::string& label) {
    std::set<Cell> cells;
    for (const HeatMap::Framed& frame : map.framed)
        if (frame.label == label) cells.insert({frame.row, frame.column});
    return cells;
}

TEST_CASE("lut: bits are those of the lookup indices, and the weakest pair of each detector is framed",
          "[lut][figures]") {
    const Result result = result_of(sized(3, 20, 4, 40, 5, {{"drawn_batch", 2}}));
    const Figure figure = figure_of(result, "bits");
    const HeatMap map = marks_of<HeatMap>(figure).front();
    REQUIRE(map.rows == 5);
    REQUIRE(map.columns == 40);
    CHECK(figure.y.categories.size() == 5);
    const auto x = find(result.inputs, "x")->as<float>();
    const auto anchors = find(result.inputs, "anchors")->as<int32_t>();
    std::set<Cell> weakest;
    int64_t skipped = 0;
    for (int64_t t = 0; t < 40; ++t) {
        const auto index = static_cast<int64_t>(reference_at(result, "lookup_index", 2, t));
        weakest.insert({static_cast<int64_t>(reference_at(result, "min_delta_index", 2, t)), t});
        for (int64_t r = 0; r < 5; ++r) {
            const auto cell = static_cast<size_t>(r * 40 + t), pair = static_cast<size_t>(2 * (t * 5 + r));
            if (anchors[pair] < 0 || anchors[pair + 1] < 0) {
                CHECK(std::isnan(map.values[cell]));
                CHECK(map.texts[cell] == "skipped");
                ++skipped;
                continue;
            }
            const float* const item = x.data() + 2 * 20;
            CHECK(map.values[cell] == double{item[anchors[pair]] - item[anchors[pair + 1]]});
            CHECK(map.texts[cell] == (index >> r & 1 ? "1" : "0"));
        }
    }
    CHECK(skipped > 0);
    CHECK(framed(map, "weakest pair") == weakest);
    CHECK(framed(map, "flipped by dragging").empty());
}

TEST_CASE("lut: dragging moves one input of every item, and frames the bits that it flips",
          "[lut][figures]") {
    const double by = GENERATE(1.5, -2.0);
    const Settings shape = sized(3, 20, 4, 40, 5, {{"drawn_batch", 1}});
    const Result before = result_of(shape);
    // The lowest input of the item is moved up, or the highest one down, past other inputs.
    const auto item = find(before.inputs, "x")->as<float>().subspan(20, 20);
    const auto input =
        (by > 0 ? std::ranges::min_element(item) : std::ranges::max_element(item)) - item.begin();
    const Result after = result_of(with(shape, {{"dragged_input", int64_t{input}}, {"dragged_by", by}}));
    for (size_t at = 0; at < 60; ++at) {
        const float still = find(before.inputs, "x")->as<float>()[at];
        CHECK(find(after.inputs, "x")->as<float>()[at] ==
              (static_cast<int64_t>(at % 20) == input ? still + static_cast<float>(by) : still));
    }
    std::set<Cell> flipped;
    for (int64_t t = 0; t < 40; ++t) {
        const auto was = static_cast<int64_t>(reference_at(before, "lookup_index", 1, t)),
                   is = static_cast<int64_t>(reference_at(after, "lookup_index", 1, t));
        for (int64_t r = 0; r < 5; ++r)
            if ((was ^ is) >> r & 1) flipped.insert({r, t});
    }
    REQUIRE(flipped.size() > 1);
    const Figure figure = figure_of(after, "bits");
    CHECK(framed(marks_of<HeatMap>(figure).front(), "flipped by dragging") == flipped);
    CHECK(contains(figure.caption, fmt::format("moved by {:+.3g} it flips {} bits", by, flipped.size())));
    CHECK(contains(figure_of(before, "bits").caption, "flips the first bit"));
}

TEST_CASE("lut: given inputs are not dragged", "[lut]") {
    const Array x = floats("x", {1, 2}, {0, 1});
    const Problem problem(lut_family(), sized(1, 2, 1, 1, 1, {{"dragged_by", 1.0}}), {x});
    CHECK(problem.parameters.real("dragged_by") == 0);
    CHECK(problem["x"].as<float>()[0] == 0);
}

TEST_CASE("lut: margins are the magnitudes of the weakest differences", "[lut][figures]") {
    const Result result = result_of(sized(2, 20, 4, 100, 5, {{"drawn_batch", 1}, {"drawn_detector", 99}}));
    const Figure figure = figure_of(result, "margins");
    CHECK(contains(figure.caption, "Detectors 64 to 99 of 100."));
    const Line line = line_named(marks_of<Line>(figure), "margin");
    size_t at = 0;
    for (int64_t t = 64; t < 100; ++t) {
        const double margin = std::abs(reference_at(result, "min_delta", 1, t));
        if (margin == 0) continue;
        REQUIRE(at + 3 <= line.x.size());
        CHECK(line.x[at] == Approx(static_cast<double>(t) - 0.4));
        CHECK(line.y[at] == margin);
        CHECK(std::isnan(line.y[at + 2]));
        at += 3;
    }
    CHECK(at == line.x.size());
}

TEST_CASE("lut: y against an input is y of the reference with that input dragged", "[lut][figures]") {
    const auto connectivity = GENERATE(as<std::string>(), "full", "sparse");
    const Settings drawn = {{"connectivity", connectivity}, {"drawn_batch", 1},   {"drawn_output", 2},
                            {"dragged_input", 4},           {"dragged_by", 0.25}, {"detectors", 12}};
    Result result = result_of(sized(2, 6, 4, 12, 3, drawn));
    std::ranges::fill(find(result.inputs, "dy")->as<float>(), 0.0f);
    find(result.inputs, "dy")->as<float>()[1 * 4 + 2] = 1;  // so that dx is the slope of the drawn output
    result.reference = *lut::reference(result.parameters, result.inputs, {});
    const Figure figure = figure_of(result, "steps");
    const Line y = line_named(marks_of<Line>(figure), "y");
    REQUIRE(y.x.size() > 10);
    CHECK(y.sets.parameter == "dragged_by");
    bool has_present = false;
    for (size_t i = 0; i < y.x.size(); i += 2) {
        CHECK(y.x[i] <= y.x[i + 1]);
        CHECK(y.y[i] == y.y[i + 1]);
        CHECK(y.sets.values[i] == Approx((y.x[i] + y.x[i + 1]) / 2));
        if (y.x[i + 1] - y.x[i] < 1e-5) continue;
        Arrays inputs = result.inputs;
        Array& x = *find(inputs, "x");
        const auto numbers = x.as<float>();
        const Array moved = floats("x", x.shape, {numbers.begin(), numbers.end()});
        x = moved;
        x.as<float>()[1 * 6 + 4] += static_cast<float>(y.sets.values[i] - 0.25);
        const Arrays wanted = *lut::reference(result.parameters, inputs, {});
        CHECK(y.y[i] == Approx(find(wanted, "y")->value(1 * 4 + 2).real()).margin(1e-9));
        has_present = has_present || (y.x[i] <= 0.25 && 0.25 <= y.x[i + 1]);
    }
    CHECK(has_present);
    const Line slope = line_named(marks_of<Line>(figure), "surrogate gradient");
    CHECK((slope.y[1] - slope.y[0]) / (slope.x[1] - slope.x[0]) ==
          Approx(reference_at(result, "dx", 1, 4)).margin(1e-9));
    CHECK((slope.y[1] + slope.y[0]) / 2 == Approx(reference_at(result, "y", 1, 2)).margin(1e-9));
}

TEST_CASE("lut: the surrogate is up' with the weakest differences of the item, and u its integral",
          "[lut][figures]") {
    const Result result = result_of(sized(2, 20, 4, 30, 4, {{"drawn_batch", 1}}));
    const auto lines = marks_of<Line>(figure_of(result, "surrogate"));
    const Line stems = line_named(lines, "min_delta, item 1"), u = line_named(lines, "u, its integral");
    REQUIRE(stems.x.size() == 3 * 30);
    for (int64_t t = 0; t < 30; ++t) {
        const double delta = reference_at(result, "min_delta", 1, t);
        CHECK(stems.x[static_cast<size_t>(3 * t)] == delta);
        CHECK(stems.y[static_cast<size_t>(3 * t + 1)] ==
              Approx((delta > 0 ? 0.5 : -0.5) / std::pow(1 + std::abs(delta), 2)));
    }
    for (size_t i = 1; i < u.x.size(); ++i) {
        const double middle = (u.x[i] + u.x[i - 1]) / 2, step = u.x[i] - u.x[i - 1];
        CHECK((u.y[i] - u.y[i - 1]) / step == Approx(lut::surrogate_slope(middle)).epsilon(1e-3));
    }
    CHECK(lut::surrogate_slope(0) == -0.5);
}

TEST_CASE("lut: rows that are hit are those of the lookup indices", "[lut][figures]") {
    const Result result = result_of(sized(9, 12, 2, 7, 4));
    const Figure figure = figure_of(result, "rows");
    const HeatMap map = marks_of<HeatMap>(figure).front();
    REQUIRE(map.rows == 7);
    REQUIRE(map.columns == 16);
    int64_t used = 0;
    for (int64_t t = 0; t < 7; ++t)
        for (int64_t row = 0; row < 16; ++row) {
            int64_t hits = 0;
            for (int64_t item = 0; item < 9; ++item)
                hits += reference_at(result, "lookup_index", item, t) == static_cast<double>(row);
            const double cell = map.values[static_cast<size_t>(t * 16 + row)];
            CHECK(std::isnan(cell) == (hits == 0));
            if (hits > 0) CHECK(cell == static_cast<double>(hits));
            used += hits > 0;
        }
    const double share = 100 * static_cast<double>(used) / (7 * 16);
    CHECK(contains(figure.caption, fmt::format("9 items use {:.2g} % of the rows", share)));
    const Line by_anchors = line_named(marks_of<Line>(figure_of(result, "rows-by-anchors")), "rows used");
    CHECK(by_anchors.x.size() == 4);
    CHECK(by_anchors.y.back() == Approx(share));
    const Line by_items = line_named(marks_of<Line>(figure_of(result, "rows-by-items")), "rows used");
    CHECK(by_items.x == std::vector<double>{1, 2, 4, 8, 9});
    CHECK(by_items.y.front() == Approx(100.0 / 16));
    CHECK(by_items.y.back() == Approx(share));
}

TEST_CASE("lut: wide tables are drawn in cells of several rows", "[lut][figures]") {
    const Result result = result_of(sized(5, 30, 1, 3, 10));
    const Figure figure = figure_of(result, "rows");
    const HeatMap map = marks_of<HeatMap>(figure).front();
    CHECK(map.columns == 256);
    CHECK(contains(figure.caption, "A cell is 4 rows."));
    double items = 0;
    for (const double cell : map.values) items += std::isnan(cell) ? 0 : cell;
    CHECK(items == 15);
}

TEST_CASE("lut: outputs are drawn along their own dimension, weights of the row that is chosen",
          "[lut][figures]") {
    const auto connectivity = GENERATE(as<std::string>(), "full", "sparse");
    const Result result = run_in_engine(lut_family(), sized(3, 10, 8, 6, 3,
                                                            {{"connectivity", connectivity},
                                                             {"synapses_per_neuron", 9},
                                                             {"drawn_batch", 1},
                                                             {"drawn_detector", 4}}));
    const auto truth = [&](const char* id) {
        return line_named(marks_of<Line>(figure_of(result, id)), "float64 reference").y;
    };
    for (const auto& [id, name, width] :
         {std::tuple{"output-y", "y", 8}, std::tuple{"output-dx", "dx", 10}}) {
        REQUIRE(truth(id).size() == static_cast<size_t>(width));
        for (int64_t at = 0; at < width; ++at)
            CHECK(truth(id)[static_cast<size_t>(at)] == reference_at(result, name, 1, at));
    }
    const int64_t row = 4 * 8 + static_cast<int64_t>(reference_at(result, "lookup_index", 1, 4));
    int64_t first = row * 8, last = first + 8;
    if (connectivity == "sparse") {
        const auto offsets = find(result.inputs, "synapse_offsets")->as<int32_t>();
        first = offsets[static_cast<size_t>(row)], last = offsets[static_cast<size_t>(row) + 1];
    }
    const Figure weights = figure_of(result, "output-dweights");
    if (first == last) {
        CHECK(contains(weights.missing, "no synapses"));
        return;
    }
    REQUIRE(truth("output-dweights").size() == static_cast<size_t>(last - first));
    for (int64_t at = first; at < last; ++at)
        CHECK(truth("output-dweights")[static_cast<size_t>(at - first)] ==
              find(result.reference, "dweights")->value(at).real());
}

TEST_CASE("lut: every figure has marks or a sentence", "[lut][figures]") {
    const auto connectivity = GENERATE(as<std::string>(), "full", "sparse");
    const auto arithmetic = GENERATE(as<std::string>(), "float", "integer");
    const bool backward = GENERATE(false, true);
    Result result = run_in_engine(lut_family(), {{"connectivity", connectivity},
                                                 {"arithmetic", arithmetic},
                                                 {"backward", backward},
                                                 {"synapses_per_neuron", backward ? 4 : 0},
                                                 {"dragged_by", backward ? 1.0 : 0.0}});
    const auto check_all = [&] {
        std::set<std::string> ids;
        for (const Figure& figure : lut::figures(result, {})) {
            INFO(figure.id);
            CHECK(ids.insert(figure.id).second);
            CHECK(figure.marks.empty() == !figure.missing.empty());
            CHECK(figure.caption.empty() == !figure.missing.empty());
            CHECK_FALSE(figure.title.empty());
            for (const std::string& name : figure.chosen_by) CHECK(lut_family().parameter(name));
            if (!figure.marks.empty()) CHECK_FALSE(to_csv(figure).empty());
        }
        for (const char* id :
             {"bits", "margins", "steps", "surrogate", "rows", "kernels", "kernels-stacked", "output-y"})
            CHECK(ids.count(id) == 1);
        for (const char* id : {"output-dx", "error-dx", "output-dweights"}) CHECK(ids.count(id) == backward);
    };
    check_all();
    // A partial result has no times and launches.
    forget_times(result);
    check_all();
    CHECK(contains(figure_of(result, "kernels").missing, "after a run with repeats"));
    refuse_variants(result);
    check_all();
    std::ranges::fill(find(result.inputs, "anchors")->as<int32_t>(), -1);
    check_all();
    CHECK(contains(figure_of(result, "surrogate").missing, "All pairs are skipped"));
    CHECK(contains(figure_of(result, "steps").missing, "No detector compares input 0"));
}

TEST_CASE("lut: many kernels share rows, and bars far longer than those of another variant are broken",
          "[lut][figures]") {
    Result result;
    for (int index = 0; index < 2; ++index) {
        VariantResult variant;
        variant.name = index == 0 ? "unfused" : "fused";
        for (int kernel = 0; kernel < 8; ++kernel) {
            LaunchInfo info;
            info.name = fmt::format("kernel_{}_for_sequence", kernel);
            LaunchRecord record;
            record.info = std::make_shared<const LaunchInfo>(info);
            record.duration_us = (index == 0 ? 1000.0 : 1.0) * (kernel + 1);
            variant.launches.push_back(std::move(record));
        }
        result.variants.push_back(std::move(variant));
    }
    const Figure each = figure_named(kernel_figures(result, {.label_of = lut::kernel_label}), "kernels");
    REQUIRE(each.y.categories.size() == 12);
    CHECK(each.y.categories[0] == "kernel_3");
    CHECK(each.y.categories[5] == "3 others");
    CHECK(marks_of<Bars>(each).front().bars[5].segments[0].length == 6000);
    CHECK(each.x.scale == Scale::linear);
    CHECK(marks_of<Bars>(each).front().most.has_value());
}

// Returns a variant with two launches of one name and one of another, of 10 and 20 us and 1 MB each.
VariantResult launched(const std::string& name, int index) {
    VariantResult variant;
    variant.name = name;
    variant.index = index;
    variant.time = TimeStatistics{45, 45, 45, {45}};
    double start = 0;
    for (const auto& [launch, us] : {std::pair{"gather", 10.0}, {"propagate", 20.0}, {"gather", 10.0}}) {
        LaunchInfo info;
        info.name = launch;
        info.work.bytes = 1e6;
        LaunchRecord record;
        record.info = std::make_shared<const LaunchInfo>(info);
        record.start_us = start;
        record.duration_us = us;
        start += us + 1;
        variant.launches.push_back(std::move(record));
    }
    return variant;
}

TEST_CASE("lut: kernels have their times and rates, with a copy of their bytes as a tick", "[lut][figures]") {
    Result result;
    result.variants = {launched("unfused", 0)};
    result.copy = Copy{1e6, {.median = 10}};  // 100 GB/s
    const auto figures = kernel_figures(result);
    const Figure& each = figure_named(figures, "kernels");
    CHECK(each.y.categories == std::vector<std::string>{"gather, 2x", "propagate"});
    const auto bars = marks_of<Bars>(each).front().bars;
    CHECK(bars[0].segments[0].length == 20);
    CHECK(bars[0].text == "20 us, 100 GB/s");
    CHECK(bars[0].tick->length == Approx(20));
    CHECK(bars[1].text == "20 us, 50 GB/s");
    CHECK(bars[1].tick->length == Approx(10));
    CHECK(
        contains(each.caption, "gather takes 50 % of the kernel time of unfused: 20 us for 1.91 MiB, 100 %"));
    CHECK(each.x.scale == Scale::linear);
    const Bar stacked = marks_of<Bars>(figure_named(figures, "kernels-stacked")).front().bars.front();
    REQUIRE(stacked.segments.size() == 2);
    CHECK(stacked.segments[1].label == "propagate");
    CHECK(stacked.text == "40 us");
}

}  // namespace
}  // namespace sawtooth
