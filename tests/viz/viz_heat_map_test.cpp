// Heat maps: colours and their scale, texts, frames, and cells that are reduced to pixels.

#include <algorithm>
#include <cmath>

#include "tests/gui/drawn_figure.h"
#include "tests/kit/catch.h"
#include "tests/kit/contains.h"
#include "viz/canvas_svg.h"
#include "viz/colour_map.h"
#include "viz/figure_csv.h"
#include "viz/figure_svg.h"
#include "viz/heading.h"
#include "viz/layout.h"
#include "viz/marks.h"
#include "viz/present.h"

namespace {

using namespace sawtooth;

TEST_CASE("a heat map has a colour bar with label and unit", "[viz]") {
    HeatMap map;
    map.label = "time", map.unit = "us", map.rows = 2, map.columns = 2, map.values = {0, 1, 2.5, gap};
    const Figure figure = figure_with(map);
    const std::string svg = svg_of(figure);
    CHECK(contains(svg, "time (us)"));
    CHECK(contains(svg, "#440154"));
    CHECK(contains(svg, "#fde725"));
    CHECK(contains(to_csv(figure), "cell,time (us),0.25,0.75,,,2.5,\r\n"));
}

TEST_CASE("a colour bar does not repeat the title of its figure", "[viz]") {
    HeatMap map;
    map.label = "x: got", map.rows = 1, map.columns = 2, map.values = {0, 1};
    Figure figure = figure_with(map);
    figure.title = "another";
    CHECK(contains(svg_of(figure), "x: got</text>"));
    figure.title = "x: got";
    const std::string svg = svg_of(figure);
    const size_t first = svg.find("x: got</text>");
    CHECK(first != std::string::npos);
    CHECK(svg.find("x: got</text>", first + 1) == std::string::npos);
}

TEST_CASE("cells of a heat map have texts, reasons and frames, and a click sets their row and column",
          "[viz]") {
    HeatMap map;
    map.label = "time", map.unit = "us", map.rows = 1, map.columns = 3, map.values = {1, 2, gap};
    map.x_low = -0.5, map.x_high = 2.5, map.y_low = -0.5, map.y_high = 0.5;
    map.texts = {"1 us", "2 us", "needs 300 KiB"};
    map.framed = {{0, 0, "fastest", {Ink::Role::highlight}}};
    map.sets_x = {"BLOCK_N", {16, 32, 64}}, map.sets_y = {"BLOCK_M", {128}};
    Figure figure = figure_with(map);
    figure.x = {.label = "BLOCK_N", .categories = {"16", "32", "64"}};
    figure.y = {.label = "BLOCK_M", .categories = {"128"}};
    const std::string svg = svg_of(figure);
    for (const char* part : {"1 us", "2 us", "needs 300 KiB", "fastest"}) CHECK(contains(svg, part));
    CHECK(contains(to_csv(figure), "cell,time (us),64,128,,,,needs 300 KiB\r\n"));
    CHECK(contains(to_csv(figure), "frame,fastest,16,128,,,,\r\n"));
    CHECK(legend_of(figure, dark_theme()).at(0).kind == LegendEntry::Kind::frame);

    Parameters present;
    present.set("BLOCK_M", int64_t{128});
    present.set("BLOCK_N", int64_t{64});
    const Figure marked = with_present(figure, present);
    CHECK(std::get<HeatMap>(marked.marks[0]).framed.at(1).column == 2);
    present.set("BLOCK_N", int64_t{256});
    CHECK(std::get<HeatMap>(with_present(figure, present).marks[0]).framed.size() == 1);
    // No cell is current where other sizes were measured.
    Figure smaller = figure;
    smaller.caption = "Times.";
    smaller.sizes.set("H", int64_t{2});
    smaller.sizes.set("N", int64_t{64});
    present.set("BLOCK_N", int64_t{64});
    present.set("H", int64_t{2});
    present.set("N", int64_t{64});
    CHECK(with_present(smaller, present).caption == "Times.");
    CHECK(std::get<HeatMap>(with_present(smaller, present).marks[0]).framed.size() == 2);
    present.set("N", int64_t{4096});
    CHECK(with_present(smaller, present).caption == "Times. Measured at N 64.");
    CHECK(std::get<HeatMap>(with_present(smaller, present).marks[0]).framed.size() == 1);

    const SvgCanvas canvas;
    const Layout layout = lay_out(canvas, figure, {0, 0, 600, 300}, {});
    SvgCanvas target;
    const Pen pen = pen_for(target, dark_theme(), layout.frame, figure);
    const Box box = cell_box(pen, map, 0, 1);
    const auto at = cell_at(pen, map, {(box.left + box.right) / 2, box.middle()});
    REQUIRE(at);
    CHECK(at->column == 1);
    CHECK_FALSE(cell_at(pen, map, {box.left, layout.frame.box.top - 1}));
}

// A canvas that keeps the cells of a heat map.
class CanvasForCells : public SvgCanvas {
  public:
    Box box;
    CellGrid grid;

    void cells(const Box& at, const CellGrid& drawn, const ColourScale&) override { box = at, grid = drawn; }
};

TEST_CASE("only the columns in sight are drawn of a heat map, each in its place", "[viz]") {
    HeatMap map;
    map.rows = 1, map.columns = 4, map.values = {10, 11, 12, 13};
    map.x_high = 4;
    CanvasForCells canvas;
    const Figure figure = figure_with(map);
    const Frame frame{{0, 0, 400, 100}, Scale::linear, Scale::linear, {1.2, 2.5}, 1, 0};
    draw(pen_for(canvas, dark_theme(), frame, figure), map);
    CHECK(canvas.grid.rows == 1);
    CHECK(canvas.grid.values == std::vector<double>{11, 12});
    CHECK(canvas.box.left == Approx(frame.at_x(1)));
    CHECK(canvas.box.right == Approx(frame.at_x(3)));
}

TEST_CASE("a heat map writes all of its values or none", "[viz]") {
    HeatMap map;
    map.label = "time", map.unit = "us", map.rows = 1, map.columns = 8;
    map.values = {1, 2, 3, 4, 5, 6, 7, 8};
    map.texts.assign(8, "short");
    CHECK(contains(svg_of(figure_with(map)), "short"));
    map.texts[3] = "too long for a narrow cell";
    CHECK_FALSE(contains(svg_of(figure_with(map)), "short"));
    map.values[3] = gap;  // for a reason there is only room for a part, and it is no value
    CHECK(contains(svg_of(figure_with(map)), "short"));
    CHECK(contains(svg_of(figure_with(map)), "too long"));
}

TEST_CASE("a text that only its cell's frames leave no room for shortens the texts of all cells", "[viz]") {
    HeatMap map;
    map.rows = 1, map.columns = 10, map.values = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, map.best = 1;
    for (const double value : map.values)
        map.texts.push_back(std::to_string(static_cast<int>(value)) + "1.5 ms");
    const auto is_whole = [&](int width) {
        return contains(to_svg(figure_with(map), dark_theme(), width, 200), ">11.5 ms</text>");
    };
    int narrow = 300;
    while (!is_whole(narrow)) narrow += 10;
    map.framed = {{0, 4, "fastest", {Ink::Role::highlight}}, {0, 4, "current", {Ink::Role::accent}}};
    CHECK_FALSE(is_whole(narrow));
    CHECK(contains(to_svg(figure_with(map), dark_theme(), narrow, 200), ">11.5</text>"));
    CHECK(is_whole(2 * narrow));
}

TEST_CASE("a heat map has no reasons of which a word is wider than a cell", "[viz]") {
    HeatMap map;
    map.label = "time", map.unit = "us", map.rows = 1, map.columns = 8;
    map.values = {1, 2, 3, gap, 5, 6, 7, gap};
    map.texts = {"", "", "", "needs more", "", "", "", "needs 294,912,000 bytes"};
    CHECK_FALSE(contains(svg_of(figure_with(map)), "needs"));
    map.texts[7] = "needs more";
    CHECK(contains(svg_of(figure_with(map)), "needs"));
}

TEST_CASE("a map of times is coloured by the ratio to the best, and one outlier leaves the others apart",
          "[viz]") {
    HeatMap map;
    map.rows = 1, map.columns = 4;
    map.x_low = map.y_low = -0.5;
    map.x_high = 3.5, map.y_high = 0.5;
    map.values = {100, 130, 250, 50000};
    map.best = 100;
    map.texts = {"100 us", "130 us", "250 us", "50,000 us"};
    map.unstable = {"", "unstable: 3x", "", ""};
    const ColourScale scale = colour_scale(map);
    CHECK(scale.share_of(100) == 1);
    CHECK(scale.share_of(130) < 0.9);
    CHECK(scale.share_of(250) < scale.share_of(130) - 0.2);
    CHECK(scale.share_of(50000) == 0);
    std::vector<std::string> texts;
    for (const Tick& tick : ticks_of_colours(map, 6)) texts.push_back(tick.text);
    CHECK(texts == std::vector<std::string>{"1x", "2x", "4x+"});
    Figure figure;
    figure.x.categories = {"16", "32", "64", "128"};
    figure.y.categories = {"16"};
    figure.marks = {map};
    CHECK(contains(svg_of(figure), "unstable: 3x"));
    CHECK(contains(svg_of(figure), ">50,000 us<"));
    bool has_numbers_alone = false;  // where cells are too narrow for the unit
    for (int width = 300; width < 460; width += 10) {
        const std::string svg = to_svg(figure, dark_theme(), width, 200);
        if (!contains(svg, ">130<")) continue;
        has_numbers_alone = true;
        CHECK_FALSE(contains(svg, ">130 us<"));
    }
    CHECK(has_numbers_alone);
}

TEST_CASE("a reduced heat map keeps positive and negative peaks", "[viz]") {
    HeatMap map;
    map.rows = 1000, map.columns = 777;
    map.values.assign(777000, 0.5);
    map.values[123 * 777 + 456] = -9;
    map.values[999 * 777 + 776] = 7;
    const CellGrid grid = reduced(map, 0, map.columns, 100, 64);
    CHECK(grid.rows == 100);
    CHECK(grid.columns == 64);
    CHECK(*std::min_element(grid.values.begin(), grid.values.end()) == -9);
    CHECK(grid.values.back() == 7);

    map.colours = HeatMap::Colours::diverging;
    const std::string svg = svg_of(figure_with(map));
    CHECK(svg.size() < 2000000);
    CHECK(contains(svg, "#0056a1"));  // the colour of the most negative value
}

TEST_CASE("a reduced heat map is empty only where all of its cells are", "[viz]") {
    HeatMap map;
    map.rows = 2, map.columns = 4;
    map.values = {gap, 1, gap, gap, gap, gap, gap, gap};
    const CellGrid grid = reduced(map, 0, 4, 1, 2);
    CHECK(grid.values[0] == 1);
    CHECK(std::isnan(grid.values[1]));
}

TEST_CASE("a logarithmic heat map tells eight decades apart", "[viz]") {
    HeatMap map;
    map.rows = 1, map.columns = 3, map.values = {1e-300, 1e-4, 1};
    map.logarithmic = true;
    const ColourScale scale = colour_scale(map);
    CHECK(scale.low == Approx(1e-8));
    CHECK(scale.share_of(1e-300) == Approx(0));
    CHECK(scale.share_of(1e-4) == Approx(0.5));
}

TEST_CASE("diverging colours are neutral at zero and equally strong on both sides", "[viz]") {
    HeatMap map;
    map.rows = 1, map.columns = 3, map.values = {-1, 0, 4};
    map.colours = HeatMap::Colours::diverging;
    const ColourScale scale = colour_scale(map);
    CHECK(scale.colour_of(0) == 0xEEEEEE);
    CHECK(scale.low == -4);
    CHECK(std::fabs(scale.share_of(-2) + scale.share_of(2) - 1) < 1e-12);
}

}  // namespace
