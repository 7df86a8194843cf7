#include "viz/ghosts.h"

#include <set>

#include "tests/kit/catch.h"
#include "viz/figure_csv.h"
#include "viz/figure_svg.h"
#include "viz/heading.h"
#include "viz/marks.h"
#include "viz/theme.h"

using namespace sawtooth;

namespace {

Figure figure_of(const std::string& id, std::vector<Mark> marks, std::vector<std::string> categories = {}) {
    Figure figure;
    figure.id = id;
    figure.title = id;
    figure.x.label = "x";
    figure.y.label = "y";
    figure.y.categories = std::move(categories);
    figure.marks = std::move(marks);
    return figure;
}

Line line_of(int variant, double y) {
    return {"variant " + std::to_string(variant),
            {Ink::Role::variant, variant},
            {0, 1},
            {y, y},
            false,
            {"chunk", {1, 2}}};
}

Bar bar_of(int variant, double length) {
    Bar bar;
    bar.ink = {Ink::Role::variant, variant};
    bar.segments = {{"", length}};
    return bar;
}

}  // namespace

TEST_CASE("lines of a pinned result come first, faded, with its name, and set nothing", "[viz]") {
    const Line reference{"reference", {Ink::Role::reference}, {0, 1}, {0, 0}};
    const Figure own = figure_of("outputs", {line_of(0, 1), reference});
    const std::vector<Figure> before = {figure_of("error", {line_of(0, 9)}),
                                        figure_of("outputs", {line_of(0, 2), reference})};
    const Figure drawn = with_ghosts(own, {{&before, "chunk 64", 2}});
    REQUIRE(drawn.marks.size() == 3);  // the reference is not repeated
    const Line& ghost = std::get<Line>(drawn.marks[0]);
    CHECK(ghost.label == "variant 0, chunk 64");
    CHECK(ghost.ink == Ink{Ink::Role::variant, 0, false, 2});
    CHECK(ghost.y[0] == 2);
    CHECK(ghost.sets.values.empty());
    CHECK_FALSE(ghost.markers);
    CHECK(std::get<Line>(drawn.marks[1]).ink.ghost == 0);
    CHECK(std::get<Line>(drawn.marks[1]).sets.values.size() == 2);
    // Files show them, too.
    CHECK(to_svg(drawn, dark_theme(), 640, 400).find("chunk 64") != std::string::npos);
    CHECK(to_csv(drawn).find("variant 0, chunk 64") != std::string::npos);
}

TEST_CASE("bars of a pinned result stand below those of the same category", "[viz]") {
    const Figure own = figure_of("times", {Bars{{bar_of(0, 1), bar_of(2, 3)}}}, {"a", "c"});
    const std::vector<Figure> before = {figure_of("times", {Bars{{bar_of(0, 5), bar_of(1, 6)}}}, {"a", "b"})};
    const Figure drawn = with_ghosts(own, {{&before, "chunk 64", 1}});
    CHECK(drawn.y.categories == std::vector<std::string>{"a", "chunk 64", "c"});
    const Bars& bars = std::get<Bars>(drawn.marks[0]);
    REQUIRE(bars.bars.size() == 3);
    CHECK(bars.bars[1].segments[0].length == 5);
    CHECK(bars.bars[1].ink.ghost == 1);
    CHECK(bars.bars[2].ink.ghost == 0);
}

TEST_CASE("where rows are too low for all names, bars of pins have none", "[viz]") {
    std::vector<std::string> names;
    Bars bars;
    for (int i = 0; i < 6; ++i) {
        names.push_back("launch " + std::to_string(i));
        bars.bars.push_back(bar_of(i, 10));
    }
    const Figure own = figure_of("occupancy", {bars}, names);
    const std::vector<Figure> before = {own};
    const Figure drawn = with_ghosts(own, {{&before, "chunk 64", 1}});
    const std::string high = to_svg(drawn, dark_theme(), 400, 400),
                      low = to_svg(drawn, dark_theme(), 400, 185);
    CHECK(high.find("chunk 64") != std::string::npos);
    CHECK(low.find("chunk 64") == std::string::npos);
    for (const std::string& name : names) CHECK(low.find(name) != std::string::npos);
}

TEST_CASE("tracks of a pinned result are rows below, and other marks have no ghosts", "[viz]") {
    Tracks tracks;
    tracks.tracks = {{"lookback", {Ink::Role::variant, 4}, {{0, 1, "scan"}}, {}, {}, ""}};
    HeatMap map;
    map.rows = map.columns = 1;
    map.values = {1};
    const Figure own = figure_of("timeline", {tracks, map});
    const std::vector<Figure> before = {own};
    const Figure drawn = with_ghosts(own, {{&before, "an H200", 3}, {&before, "seed 2", 4}});
    REQUIRE(drawn.marks.size() == 2);
    const Tracks& rows = std::get<Tracks>(drawn.marks[0]);
    REQUIRE(rows.tracks.size() == 3);
    CHECK(rows.tracks[1].label == "lookback, an H200");
    CHECK(rows.tracks[2].ink.ghost == 4);
}

TEST_CASE("launches of a pinned result that are looked at closely start with those of the shown one",
          "[viz]") {
    const auto zoom_from = [](double low, double start) {
        Tracks tracks;
        tracks.tracks = {
            {"sequential", {Ink::Role::variant, 0}, {{start, start + 2, "token"}}, {start}, {50}, "%"}};
        Figure figure = figure_of("zoom", {tracks});
        figure.zoom = Zoom{"sawtooth", low, low + 10};
        return figure;
    };
    const std::vector<Figure> before = {zoom_from(500, 501)};
    const Figure drawn = with_ghosts(zoom_from(20, 20), {{&before, "length 8", 1}});
    const Tracks& rows = std::get<Tracks>(drawn.marks[0]);
    REQUIRE(rows.tracks.size() == 2);
    CHECK(rows.tracks[1].spans[0].start == 21);
    CHECK(rows.tracks[1].spans[0].end == 23);
    CHECK(rows.tracks[1].x[0] == 21);
}

TEST_CASE("the legend names the shown result before pinned ones", "[viz]") {
    const Figure own = figure_of("outputs", {line_of(0, 1)});
    const std::vector<Figure> before = {figure_of("outputs", {line_of(0, 2)})};
    const auto entries = legend_of(with_ghosts(own, {{&before, "chunk 64", 2}}), dark_theme());
    REQUIRE(entries.size() == 2);
    CHECK(entries[0].label == "variant 0");
    CHECK(entries[1].label == "variant 0, chunk 64");
}

TEST_CASE("a label that ends with the name of the pin has it once", "[viz]") {
    Tracks tracks;
    tracks.tracks = {{"chunkwise_gd, chunk 64", {Ink::Role::variant, 2}, {{0, 1, "walk"}}, {}, {}, ""}};
    const std::vector<Figure> before = {figure_of("timeline", {tracks})};
    tracks.tracks[0].label = "chunkwise_gd, chunk 256";
    const Figure drawn = with_ghosts(figure_of("timeline", {tracks}), {{&before, "chunk 64", 1}});
    CHECK(std::get<Tracks>(drawn.marks[0]).tracks.at(1).label == "chunkwise_gd, chunk 64");
    const Figure elsewhere = with_ghosts(figure_of("timeline", {tracks}), {{&before, "chunk 64, a CPU", 1}});
    CHECK(std::get<Tracks>(elsewhere.marks[0]).tracks.at(1).label == "chunkwise_gd, chunk 64, a CPU");
}

TEST_CASE("longer bars of a pinned result stay whole until they would hide those of the shown one", "[viz]") {
    const std::vector<std::string> names = {"a", "b"};
    const auto bars_of = [&](double first, double second, std::optional<double> most) {
        Figure figure = figure_of("times", {Bars{{bar_of(0, first), bar_of(1, second)}, most}}, names);
        if (most) figure.x.maximum = most;
        return figure;
    };
    const auto drawn_with = [&](const Figure& own, const Figure& other) {
        const std::vector<Figure> before = {other};
        const Figure drawn = with_ghosts(own, {{&before, "before", 1}});
        CHECK(std::get<Bars>(drawn.marks[0]).most == drawn.x.maximum);
        return drawn.x.maximum;
    };
    CHECK_FALSE(drawn_with(bars_of(5, 100, {}), bars_of(5, 400, {})));
    CHECK(drawn_with(bars_of(5, 130, 95), bars_of(5, 400, {})) == 400.0);
    CHECK(drawn_with(bars_of(5, 100, {}), bars_of(5, 400, 90)) == 100.0);
    CHECK(drawn_with(bars_of(5, 100, {}), bars_of(5, 1e6, {})) == 2000.0);
    CHECK_FALSE(drawn_with(bars_of(0, 0, {}), bars_of(5, 400, {})));
    Figure share = bars_of(1, 2, {});
    share.x.maximum = 100;
    const std::vector<Figure> before = {bars_of(80, 90, {})};
    const Figure drawn = with_ghosts(share, {{&before, "before", 1}});
    CHECK(drawn.x.maximum == 100.0);
    CHECK_FALSE(std::get<Bars>(drawn.marks[0]).most);
}

TEST_CASE("only figures with maps are shown in the place of one another", "[viz]") {
    HeatMap map;
    map.rows = map.columns = 1;
    map.values = {1};
    const Figure own = figure_of("mask", {line_of(0, 1), map});
    CHECK(has_map(own));
    CHECK_FALSE(has_map(figure_of("y", {line_of(0, 1)})));
    const std::vector<Figure> others = {figure_of("y", {}), figure_of("mask", {map})}, none;
    CHECK(namesake(own, {&others, "chunk 64", 1}) == &others[1]);
    CHECK_FALSE(namesake(own, {&none, "chunk 64", 1}));
}

TEST_CASE("a fixed axis reaches as far as its ghosts, and figures of other units are no namesakes", "[viz]") {
    Figure own = figure_of("error", {line_of(0, 1)});
    own.y.minimum = 0;
    own.y.maximum = 1;
    Figure other = figure_of("error", {line_of(0, 7)});
    other.y.minimum = -2;
    other.y.maximum = 7;
    std::vector<Figure> before = {other};
    CHECK(with_ghosts(own, {{&before, "before", 1}}).y.maximum == 7);
    CHECK(with_ghosts(own, {{&before, "before", 1}}).y.minimum == -2);
    before[0].y.unit = "us";
    CHECK(with_ghosts(own, {{&before, "before", 1}}).marks.size() == 1);
}

TEST_CASE("points of a pinned result are still points", "[viz]") {
    Line points = line_of(0, 1);
    points.joined = false;
    const Figure own = figure_of("samples", {points});
    const std::vector<Figure> before = {own};
    const Line ghost = std::get<Line>(with_ghosts(own, {{&before, "before", 1}}).marks[0]);
    CHECK(stroke_of_line(dark_theme(), ghost).marker != Marker::none);
}

TEST_CASE("a ghost has the colour of its variant, faded, and no two of seven pins the same dash", "[viz]") {
    for (const Theme& theme : {dark_theme(), light_theme()}) {
        std::set<Dash> dashes;
        for (int number = 1; number <= 7; ++number) {
            const Stroke ghost = stroke_of({Ink::Role::variant, 3, false, number}, theme);
            const Stroke own = stroke_of({Ink::Role::variant, 3}, theme);
            CHECK(ghost.colour.rgb == own.colour.rgb);
            CHECK(ghost.colour.alpha < own.colour.alpha);
            CHECK(ghost.marker == Marker::none);
            dashes.insert(ghost.dash);
        }
        CHECK(dashes.size() == 7);
    }
}

TEST_CASE("a note on a bar moves with it when ghosts come between, and back", "[viz]") {
    const Bars bars{{bar_of(0, 1), bar_of(1, 2)}};
    Figure own = figure_of("times", {bars, Note{1, 1.2, "here"}}, {"fused", "naive"});
    const std::vector<Figure> before = {figure_of("times", {bars}, {"fused", "naive"})};
    const Figure drawn = with_ghosts(own, {{&before, "chunk 64", 1}});
    CHECK(std::get<Note>(drawn.marks[1]).y == Approx(2.2));
    CHECK(without_ghosts(drawn, 2.2) == Approx(1.2));
    CHECK(without_ghosts(drawn, 0) == 0);
    CHECK(without_ghosts(drawn, 3) == Approx(1));  // a ghost stands for its own bar
}
