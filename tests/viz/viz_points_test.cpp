// Points that no line joins, as SVG and in the legend.

#include "tests/kit/catch.h"
#include "tests/kit/contains.h"
#include "viz/canvas.h"
#include "viz/canvas_svg.h"
#include "viz/figure_csv.h"
#include "viz/figure_svg.h"
#include "viz/heading.h"
#include "viz/theme.h"

using namespace sawtooth;

namespace {

// Points of a variant, and some of them as the second mark of that variant.
Figure points_figure(size_t count) {
    Line points{.label = "one", .ink = {}, .x = {}, .y = {}, .markers = true, .joined = false};
    for (size_t i = 0; i < count; ++i) {
        points.x.push_back(static_cast<double>(i * 7 % count));
        points.y.push_back(static_cast<double>(i));
    }
    Line crosses = points;
    crosses.label = "one, disturbed";
    crosses.ink.dashed = true;
    crosses.x = {1, 2}, crosses.y = {1, 2};
    Figure figure;
    figure.title = "Points";
    figure.marks = {points, crosses};
    return figure;
}

TEST_CASE("all points that no line joins are drawn, and no line", "[viz]") {
    for (const size_t count : {5, 500}) {
        const std::string svg = to_svg(points_figure(count), dark_theme(), 800, 400);
        CHECK(count_of(svg, "<circle") == count + 1);         // one in the legend
        CHECK(count_of(svg, "stroke=\"#56b4e9\"") == 2 * 3);  // two strokes of each cross
    }
}

TEST_CASE("named points are small, and CSV says their names", "[viz]") {
    Figure figure = points_figure(3);
    auto& points = std::get<Line>(figure.marks[0]);
    const std::string usual = to_svg(figure, dark_theme(), 800, 400);
    points.names = {"first", "second", "third"};
    const std::string small = to_svg(figure, dark_theme(), 800, 400);
    const std::string radius = " r=\"2.45\"";
    CHECK(count_of(usual, radius) == 0);
    CHECK(count_of(small, radius) == 3);
    CHECK(contains(to_csv(figure), "one: second"));
}

TEST_CASE("the legend of points shows their marker alone, also if it stands for several variants", "[viz]") {
    Figure figure = points_figure(5);
    const auto all = legend_of(figure, dark_theme());
    REQUIRE(all.size() == 2);
    for (const LegendEntry& entry : all) CHECK(entry.kind == LegendEntry::Kind::point);
    CHECK(all[1].stroke.marker == Marker::cross);
    Line other = std::get<Line>(figure.marks[1]);
    other.ink.index = 1;
    other.label = "two, disturbed";
    figure.marks.push_back(other);
    const auto common = legend_without_variants(figure, dark_theme());
    REQUIRE(common.size() == 1);
    CHECK(common[0].label == "disturbed");
    CHECK(common[0].stroke.marker == Marker::cross);
    CHECK(common[0].stroke.colour.rgb == dark_theme().quiet);
}

TEST_CASE("a text that does not fit ends in an ellipsis, and is nothing where none fits", "[viz]") {
    const SvgCanvas canvas;
    const std::string text = "one word, äöü";
    for (size_t end = 1; end < text.size(); ++end) {
        const float width = canvas.text_width(text.substr(0, end) + "…");
        const bool splits_a_character = (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80;
        if (splits_a_character || width >= canvas.text_width(text)) continue;
        const std::string shorter = elided(canvas, text, width);
        INFO(shorter);
        CHECK(shorter == text.substr(0, text[end - 1] == ' ' ? end - 1 : end) + "…");
    }
    CHECK(elided(canvas, text, 1).empty());
    CHECK(elided(canvas, text, -1).empty());
    CHECK(elided(canvas, "", -1).empty());
}

}  // namespace
