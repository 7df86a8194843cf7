// The values that are read under the mouse, tested without a window.

#include "viz/imgui/readout.h"

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tests/kit/catch.h"
#include "viz/canvas_svg.h"

namespace sawtooth {
namespace {

using NamesAndValues = std::vector<std::pair<std::string, std::string>>;

NamesAndValues words_of_rows(const std::vector<ReadoutRow>& rows) {
    NamesAndValues words;
    for (const ReadoutRow& row : rows) words.emplace_back(row.name, row.value);
    return words;
}

// A figure in a plot of 1000 x 1000 pixels.
struct ReadPlot {
    Figure figure;
    Frame frame;

    // `top` is the value at the upper edge, which is less than `bottom` where rows are counted downwards.
    ReadPlot(Axis x, Axis y, std::vector<Mark> marks, Range across, double top, double bottom) {
        figure.x = std::move(x), figure.y = std::move(y), figure.marks = std::move(marks);
        frame = {{0, 0, 1000, 1000}, figure.x.scale, figure.y.scale, across, bottom, top};
    }

    std::vector<ReadoutRow> rows_at(double x, double y, const DescribeSpan& describe_span = {},
                                    const std::string& click = "") const {
        SvgCanvas canvas;
        const Pen pen = pen_for(canvas, dark_theme(), frame, figure);
        return readout_rows(pen, figure, frame.at(x, y), describe_span, click);
    }
    NamesAndValues words_at(double x, double y) const { return words_of_rows(rows_at(x, y)); }
};

const Axis time_axis{"time", "us"}, rate_axis{"rate", "GB/s"};

TEST_CASE("a line is read at its nearest point in x, in the unit of y", "[viz]") {
    const Line one{"one", {}, {1, 2, 4}, {10, 20, 40}};
    const Line other{"other", {Ink::Role::variant, 1}, {1, 2, 4}, {0.5, 0.25, 0.125}};
    ReadPlot plot(time_axis, rate_axis, {one, other}, {1, 4}, 40, 0);
    CHECK(plot.words_at(2.9, 5) ==
          NamesAndValues{{"time", "2 us"}, {"one", "20 GB/s"}, {"other", "0.25 GB/s"}});
    CHECK(plot.rows_at(2.9, 5)[2].stroke == stroke_of_line(dark_theme(), other));
    plot.frame.scale_x = Scale::log2;
    CHECK(plot.words_at(2.9, 5).front() == std::pair<std::string, std::string>{"time", "4 us"});
    plot.figure.y.categories = {"zero", "first"};
    plot.figure.marks = {Line{"one", {}, {1, 2}, {1, 0}}};
    CHECK(plot.words_at(1, 5) == NamesAndValues{{"time", "1 us"}, {"one", "first"}});
}

TEST_CASE("the readout of a point says that there is none, and what is wrong with its result", "[viz]") {
    Line line{"one", {}, {1, 2}, {std::numeric_limits<double>::quiet_NaN(), 20}};
    line.unstable = {"", "unstable: 2x"}, line.wrong = {"", "diverged"};
    const ReadPlot plot({}, rate_axis, {line}, {1, 2}, 40, 0);
    CHECK(plot.words_at(1, 5) == NamesAndValues{{"x", "1"}, {"one", "none"}});
    CHECK(plot.words_at(2, 5) == NamesAndValues{{"x", "2"}, {"one", "20 GB/s, unstable: 2x, diverged"}});
}

TEST_CASE("points that no line joins are read only where the mouse is on them", "[viz]") {
    Line points{"one", {}, {1, 2, 3}, {10, 20, 30}};
    points.names = {"first", "second", "third"}, points.joined = false;
    ReadPlot plot(time_axis, rate_axis, {points}, {0, 4}, 40, 0);
    CHECK(plot.words_at(2.01, 20) == NamesAndValues{{"one: second", "2 us, 20 GB/s"}});
    CHECK(plot.words_at(2.5, 20).empty());
    points.names.clear(), points.label.clear();
    plot.figure.y.categories = {"lookback"};
    points.y = {0, 0, 0};
    plot.figure.marks = {points};
    CHECK(plot.words_at(3, 0) == NamesAndValues{{"lookback", "3 us"}});
}

TEST_CASE("the bar under the mouse is read with its segments, its tick and its whisker", "[viz]") {
    Bar upper, lower;
    upper.segments = {{"walk", 900}}, upper.text = "900 us";
    lower.segments = {{"upsweep", 300.5}, {"downsweep", 100}}, lower.text = "400.5 us";
    lower.tick = Bar::Segment{"limit", 250};
    lower.low = 390.25, lower.high = 420.75;
    ReadPlot plot(time_axis, {}, {Bars{{upper, lower}}}, {0, 1000}, -0.5, 2.5);
    plot.figure.y.categories = {"sequential", "blelloch"};
    CHECK(plot.words_at(500, 0.2) == NamesAndValues{{"sequential", "900 us"}, {"walk", "900 us"}});
    CHECK(plot.words_at(500, 0.8) == NamesAndValues{{"blelloch", "400.5 us"},
                                                    {"upsweep", "300.5 us"},
                                                    {"downsweep", "100 us"},
                                                    {"limit", "250 us"},
                                                    {"between", "390.2 us and 420.8 us"}});
    CHECK(plot.words_at(500, 2).empty());
}

TEST_CASE("a cell of a heat map is read with the places it covers", "[viz]") {
    HeatMap map;
    map.label = "error", map.unit = "ulp", map.rows = 2, map.columns = 3;
    map.values = {1, 2, 3, 4, 5, std::numeric_limits<double>::quiet_NaN()};
    map.x_low = 0, map.x_high = 30, map.y_low = 4, map.y_high = 6;
    ReadPlot plot({"position"}, {"channel"}, {map}, {0, 30}, 4, 6);
    CHECK(plot.words_at(5, 5.5) ==
          NamesAndValues{{"position", "0 to 9"}, {"channel", "5"}, {"error", "4 ulp"}});
    CHECK(plot.words_at(15, 4.5) ==
          NamesAndValues{{"position", "10 to 19"}, {"channel", "4"}, {"error", "2 ulp"}});
    CHECK(plot.words_at(25, 5.5).back().second == "no value");
    CHECK(plot.words_at(25, 6.5).empty());

    map.texts = {"", "", "", "", "a text", "needs 300 KiB"};
    plot.figure.marks = {map};
    CHECK(plot.words_at(15, 5.5).back().second == "5 ulp (a text)");
    CHECK(plot.words_at(25, 5.5).back().second == "needs 300 KiB");

    map.best = 2;
    map.unstable.assign(6, ""), map.unstable[4] = "unstable: 2x";
    map.framed = {{1, 1, "fastest", {}}, {1, 0, "current", {}}};
    plot.figure.marks = {map};
    CHECK(plot.words_at(15, 5.5).back().second == "5 ulp, 2.5x the shortest, unstable: 2x, fastest");
    plot.figure.x.categories = {"16", "32", "64"};
    std::get<HeatMap>(plot.figure.marks[0]).x_low = -0.5;
    std::get<HeatMap>(plot.figure.marks[0]).x_high = 2.5;
    CHECK(plot.words_at(1, 4.5).front().second == "32");
}

TEST_CASE("a cell of a map of kinds is read with its kind, its row and its column", "[viz]") {
    KindMap map{"tile",
                {{"near", {}}, {"far", {}}, {"mixed", {}}},
                {"rows 0 to 9", "rows 10 to 19"},
                {"keys 0 to 4", "keys 5 to 9", "keys 10 to 14"},
                {0, 0, 1, 2, 0, 0},
                0,
                15,
                0,
                20};
    ReadPlot plot({"key"}, {"query"}, {map}, {0, 15}, 0, 20);
    CHECK(plot.words_at(12, 5) ==
          NamesAndValues{{"tile", "far"}, {"query", "rows 0 to 9"}, {"key", "keys 10 to 14"}});
    CHECK(plot.words_at(2, 15) ==
          NamesAndValues{{"tile", "mixed"}, {"query", "rows 10 to 19"}, {"key", "keys 0 to 4"}});
    CHECK(plot.words_at(15.5, 5).empty());
    // A single row is read at any height.
    map.row_names = {""}, map.cells = {0, 2, 1}, map.y_high = 1;
    plot.figure.marks = {map};
    CHECK(plot.words_at(7, 15) == NamesAndValues{{"tile", "mixed"}, {"key", "keys 5 to 9"}});
}

TEST_CASE("tracks are read at the time of the mouse: a span, its gaps, and the value of a curve", "[viz]") {
    Tracks tracks;
    tracks.tracks.push_back({"one", {}, {{0, 40, "first"}, {50, 60, "second"}}, {}, {}, ""});
    tracks.tracks.push_back({"SM active", {}, {}, {10, 50, 90}, {15, 55, 95}, "%"});
    const ReadPlot plot(time_axis, {}, {tracks}, {0, 100}, -0.5, 2.5);
    CHECK(plot.words_at(55, 0) ==
          NamesAndValues{{"time", "55 us"}, {"second", "10 us"}, {"from", "50 us to 60 us"}});
    CHECK(plot.words_at(45, 0) == NamesAndValues{{"time", "45 us"}, {"one", "idle"}});
    CHECK(plot.words_at(60, 1) == NamesAndValues{{"time", "60 us"}, {"SM active", "55 %"}});
    CHECK(plot.words_at(95, 1).back().second == "95 %");
    CHECK(plot.words_at(5, 1) == NamesAndValues{{"time", "5 us"}});
    CHECK(plot.words_at(55, 2).empty());

    const auto describe = [](const Tracks::Track& track, const Tracks::Span& span) {
        return NamesAndValues{{"of", track.label + " " + span.label}};
    };
    const auto words = words_of_rows(plot.rows_at(20, 0, describe));
    REQUIRE(words.size() == 5);
    CHECK(words[3] == std::pair<std::string, std::string>{"of", "one first"});
    CHECK(words[4].first == "a click");
}

TEST_CASE("a cell of a matrix is read with its row, its column and its kind", "[viz]") {
    const SvgCanvas canvas;
    Matrix matrix;
    matrix.row_labels = {"worker 0", "worker 1"}, matrix.column_labels = {"b0", "b1", "b2"};
    matrix.kinds = {{"computes", {}}, {"waits", {}}};
    matrix.cells = {0, 0, 1, -1, 0, 0}, matrix.texts = {"c00", "c01", "c02", "", "c11", "c12"};
    Figure figure;
    figure.y.label = "thread";
    const Box area{0, 0, 600, 300};
    const Box cells = place_of(canvas, figure, matrix, area).cells;
    const auto words_at = [&](float column, float row) {
        const Point mouse{cells.left + cells.width() * (column + 0.5f) / 3,
                          cells.top + cells.height() * (row + 0.5f) / 2};
        return words_of_rows(readout_rows(canvas, figure, matrix, area, mouse));
    };
    CHECK(words_at(2, 0) == NamesAndValues{{"thread", "worker 0"}, {"column", "b2"}, {"waits", "c02"}});
    CHECK(words_at(0, 1) == NamesAndValues{{"thread", "worker 1"}, {"column", "b0"}});
    CHECK(words_at(-1, 0).empty());
}

TEST_CASE("the readout ends with the effect of a click", "[viz]") {
    const ReadPlot plot(time_axis, rate_axis, {Line{"one", {}, {1, 2}, {10, 20}}}, {1, 2}, 40, 0);
    const auto words = words_of_rows(plot.rows_at(1, 10, {}, "sets length to 64"));
    CHECK(words.back() == std::pair<std::string, std::string>{"a click", "sets length to 64"});
}

}  // namespace
}  // namespace sawtooth
