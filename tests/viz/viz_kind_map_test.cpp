// Maps of kinds as SVG and CSV, and their legend.

#include <cstdio>

#include "tests/kit/catch.h"
#include "tests/kit/contains.h"
#include "viz/canvas_svg.h"
#include "viz/figure_csv.h"
#include "viz/figure_svg.h"
#include "viz/heading.h"
#include "viz/layout.h"
#include "viz/theme.h"

using namespace sawtooth;

namespace {

// A map of two by three cells with a kind for every pattern.
Figure map_figure() {
    using enum KindMap::Pattern;
    KindMap map;
    map.label = "tile";
    map.kinds = {{"skipped", {Ink::Role::quiet}, hollow},
                 {"near", {Ink::Role::kind, 0}, plain},
                 {"far", {Ink::Role::kind, 1}, striped},
                 {"mixed", {Ink::Role::kind, 2}, crossed}};
    map.row_names = {"rows 0 to 9", "rows 10 to 19"};
    map.column_names = {"keys 0 to 4", "keys 5 to 9", "keys 10 to 14"};
    map.cells = {1, 0, 0, 2, 3, 1};
    map.x_high = 15, map.y_high = 20;
    Figure figure;
    figure.title = "A map";
    figure.x.label = "key";
    figure.y.label = "query";
    figure.marks = {map};
    return figure;
}

// Lines whose ends differ in x and y, by their direction.
struct Diagonals {
    int rising = 0, falling = 0;
};
Diagonals diagonals_in(const std::string& svg) {
    Diagonals found;
    for (size_t at = svg.find("<path d=\"M"); at != std::string::npos; at = svg.find("<path d=\"M", at + 1)) {
        float x0 = 0, y0 = 0, x1 = 0, y1 = 0;
        if (std::sscanf(svg.c_str() + at, "<path d=\"M%f %fL%f %f\"", &x0, &y0, &x1, &y1) != 4) continue;
        if (x0 == x1 || y0 == y1) continue;
        ((x1 - x0 > 0) == (y1 - y0 > 0) ? found.falling : found.rising) += 1;
    }
    return found;
}

Figure only(Figure figure, int kind) {
    KindMap& map = std::get<KindMap>(figure.marks.front());
    map.kinds = {map.kinds[static_cast<size_t>(kind)]};
    for (int& cell : map.cells) cell = 0;
    return figure;
}

}  // namespace

TEST_CASE("a map of kinds appears with its colours and a legend, and in CSV with its names", "[viz]") {
    const Figure figure = map_figure();
    const std::string svg = to_svg(figure, dark_theme(), 640, 360);
    for (const char* part : {"A map", "skipped", "near", "far", "mixed", "key", "query"})
        CHECK(contains(svg, part));
    CHECK(to_csv(figure).find("mark,label,key,query,low,high,value,text\r\n"
                              "cell,near,keys 0 to 4,rows 0 to 9,,,,\r\n") == 0);
    CHECK(contains(to_csv(figure), "cell,mixed,keys 5 to 9,rows 10 to 19,,,,\r\n"));
    const Layout layout = lay_out(SvgCanvas(), figure, {0, 0, 400, 300}, {});
    CHECK(layout.frame.at_y(20) > layout.frame.at_y(0));  // row 0 is on top
    CHECK(layout.frame.x == Range{0, 15});
}

TEST_CASE("every kind has a pattern of its own, also in the legend", "[viz]") {
    for (const Theme* theme : {&dark_theme(), &light_theme()}) {
        const auto drawn = [&](int kind) {
            return diagonals_in(to_svg(only(map_figure(), kind), *theme, 640, 360));
        };
        CHECK((drawn(0).rising == 0 && drawn(0).falling > 40));
        CHECK((drawn(1).rising == 0 && drawn(1).falling == 0));
        CHECK((drawn(2).rising > 40 && drawn(2).falling == 0));
        CHECK((drawn(3).rising > 40 && drawn(3).falling > 40));
    }
    const auto entries = legend_of(map_figure(), dark_theme());
    REQUIRE(entries.size() == 4);
    CHECK(entries[3].pattern == KindMap::Pattern::crossed);
    CHECK(entries[3].kind == LegendEntry::Kind::area);
}

TEST_CASE("stripes run through neighbours of one kind", "[viz]") {
    Figure figure = only(map_figure(), 2);
    const Diagonals few = diagonals_in(to_svg(figure, dark_theme(), 640, 360));
    KindMap& map = std::get<KindMap>(figure.marks.front());
    map.row_names.assign(200, "row");
    map.column_names.assign(200, "column");
    map.cells.assign(200 * 200, 0);
    const std::string svg = to_svg(figure, dark_theme(), 640, 360);
    CHECK(diagonals_in(svg).rising == few.rising);
    CHECK(svg.size() < 100000);
}

TEST_CASE("kinds do not look like the first three variants", "[viz]") {
    for (const Theme* theme : {&dark_theme(), &light_theme()})
        for (int kind = 0; kind < 5; ++kind)
            for (int variant = 0; variant < 3; ++variant)
                CHECK(stroke_of({Ink::Role::kind, kind}, *theme).colour !=
                      stroke_of({Ink::Role::variant, variant}, *theme).colour);
}

TEST_CASE("a line over cells has an edge in the colour of the ground", "[viz]") {
    const auto edges = [](const Figure& figure) {
        const std::string svg = to_svg(figure, dark_theme(), 640, 360), edge = "#16181d\" stroke-width=\"4\"";
        size_t count = 0;
        for (size_t at = svg.find(edge); at != std::string::npos; at = svg.find(edge, at + 1)) ++count;
        return count;
    };
    Figure figure = map_figure();
    CHECK(edges(figure) == 0);
    figure.marks.push_back(Line{"edge", {Ink::Role::accent}, {0, 15}, {0, 20}});
    CHECK(edges(figure) == 1);
    figure.marks.erase(figure.marks.begin());
    CHECK(edges(figure) == 0);
}
