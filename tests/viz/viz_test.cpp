#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "tests/gui/drawn_figure.h"
#include "tests/kit/catch.h"
#include "tests/kit/contains.h"
#include "viz/axis.h"
#include "viz/canvas_svg.h"
#include "viz/colour_map.h"
#include "viz/figure_csv.h"
#include "viz/figure_svg.h"
#include "viz/heading.h"
#include "viz/layout.h"
#include "viz/marks.h"
#include "viz/present.h"
#include "viz/theme.h"

using namespace sawtooth;

namespace {

constexpr Ink first_variant{Ink::Role::variant, 0};

Bars two_bars() {
    return {{{first_variant, {{"upsweep", 300.5}, {"downsweep", 100}}, 390.25, 420.75, "400.5 us"},
             {{Ink::Role::variant, 1}, {{"walk", 900}}, {}, {}, "900 us, the longest of all by far"}}};
}

// A text element, and an upper limit of its right end from the estimate of the canvas.
struct PlacedText {
    float left, right, y;
    std::string text;
};
std::vector<PlacedText> upright_texts(const std::string& svg) {
    std::vector<PlacedText> found;
    const SvgCanvas canvas;
    for (size_t at = svg.find("<text x="); at != std::string::npos; at = svg.find("<text x=", at + 1)) {
        const std::string element = svg.substr(at, svg.find("</text>", at) - at);
        const float x = std::stof(element.substr(9)),
                    y = std::stof(element.substr(element.find(" y=\"") + 4));
        const std::string text = element.substr(element.find('>') + 1);
        const float width = canvas.text_width(text);
        const float left = contains(element, "middle")    ? x - width / 2
                           : contains(element, "\"end\"") ? x - width
                                                          : x;
        found.push_back({left, left + width, y, text});
    }
    return found;
}

void check_texts_apart(const Figure& figure, int width, int height) {
    const auto texts = upright_texts(to_svg(figure, light_theme(), width, height));
    for (size_t i = 0; i < texts.size(); ++i) {
        INFO(texts[i].text);
        CHECK(texts[i].left >= -0.5f);
        CHECK(texts[i].right <= static_cast<float>(width) + 0.5f);
        for (size_t j = 0; j < i; ++j) {
            INFO(texts[j].text);
            const bool apart = texts[i].left >= texts[j].right || texts[j].left >= texts[i].right ||
                               std::fabs(texts[i].y - texts[j].y) >= 11;
            CHECK(apart);
        }
    }
}

}  // namespace

TEST_CASE("a line appears in SVG with its names and in CSV with its numbers", "[viz]") {
    const Figure figure = figure_with(Line{"lookback", first_variant, {0, 1, 2}, {0.1, 1.0 / 3, 4}, true});
    const std::string svg = svg_of(figure);
    for (const char* part :
         {"<svg", "A title", "A caption.", "position (elements)", "error (ulp)", "lookback", "#56b4e9"})
        CHECK(contains(svg, part));
    CHECK(count_of(svg, "<circle") == 4);  // three in the plot and one in the legend
    CHECK(to_csv(figure) == "position (elements),lookback (ulp)\r\n0,0.1\r\n1,0.3333333333333333\r\n2,4\r\n");
}

TEST_CASE("a NaN is a gap in SVG and an empty cell in CSV", "[viz]") {
    Figure whole = figure_with(Line{"", first_variant, {0, 1, 2, 3, 4}, {1, 2, 3, 4, 5}});
    Figure gapped = figure_with(Line{"", first_variant, {0, 1, 2, 3, 4}, {1, 2, gap, 4, 5}});
    CHECK(count_of(svg_of(gapped), "#56b4e9\" stroke-width=\"1.5\"") ==
          count_of(svg_of(whole), "#56b4e9\" stroke-width=\"1.5\"") + 1);
    CHECK(contains(to_csv(gapped), "\r\n2,\r\n"));
    CHECK_FALSE(contains(svg_of(gapped), "nan"));
}

TEST_CASE("a point of a wrong result is a crossed ring, named in the legend and in CSV", "[viz]") {
    Line line{"lookback", first_variant, {0, 1, 2}, {1, 2, 3}, true};
    CHECK_FALSE(contains(svg_of(figure_with(line)), "wrong result"));
    line.wrong = {"", "", "diverged"};
    const Figure figure = figure_with(line);
    const std::string svg = svg_of(figure);
    CHECK(contains(svg, "wrong result"));
    CHECK(contains(svg, "#f28b82"));
    CHECK(to_csv(figure) ==
          "position (elements),lookback (ulp),\"lookback, wrong\"\r\n0,1,\r\n1,2,\r\n2,3,diverged\r\n");
    Figure noted = figure;
    noted.marks.push_back(Note{1, 1, "here"});
    CHECK(contains(to_csv(noted), "line,lookback,2,3,,,,diverged"));
}

TEST_CASE("a badge without room is drawn as a crossed ring", "[viz]") {
    Figure figure = figure_with(two_bars());
    const size_t rings = count_of(svg_of(figure), "#f28b82");
    std::get<Bars>(figure.marks.front()).bars[1].badge = "error 100 %";
    CHECK(contains(svg_of(figure), "error 100 %"));
    const std::string narrow = to_svg(figure, dark_theme(), 260, 200);
    CHECK_FALSE(contains(narrow, "error 100 %"));
    CHECK(count_of(narrow, "#f28b82") > rings);
}

TEST_CASE("a band appears in SVG as an area and in CSV with both its edges", "[viz]") {
    const Figure figure = figure_with(Band{"quartiles", first_variant, {1, 2}, {0.25, 0.5}, {0.75, 1.5}});
    CHECK(contains(svg_of(figure), "fill-opacity=\"0.28\""));
    CHECK(contains(svg_of(figure), "quartiles"));
    CHECK(contains(to_csv(figure), "band,quartiles,2,,0.5,1.5,,\r\n"));
}

TEST_CASE("bars appear with category, stacked segments, whisker and a text that is not cut", "[viz]") {
    Figure figure = figure_with(two_bars());
    figure.x = {"time", "us"};
    figure.y.categories = {"blelloch", "sequential"};
    for (Scale scale : {Scale::linear, Scale::log10}) {
        figure.x.scale = scale;
        const std::string svg = svg_of(figure);
        for (const char* part : {"blelloch", "sequential", "400.5 us", "900 us, the longest of all by far"})
            CHECK(contains(svg, part));
        CHECK(contains(svg, "upsweep") == (scale == Scale::linear));  // points have no segments
        check_texts_apart(figure, 640, 360);
    }
    const std::string csv = to_csv(figure);
    CHECK(contains(csv, "bar segment,upsweep,,blelloch,,,300.5,\r\n"));
    CHECK(contains(csv, "bar,,400.5,blelloch,390.25,420.75,,400.5 us\r\n"));
}

TEST_CASE("where rows are low, bars keep their names and texts and remarks below them go", "[viz]") {
    Bars bars;
    Figure figure;
    for (int i = 0; i < 20; ++i) {
        const std::string number = std::to_string(i);
        Bar bar, remark;
        bar.segments = {{"theoretical", 50}};
        bar.text = "value " + number;
        remark.text = "remark";
        bars.bars.insert(bars.bars.end(), {bar, remark});
        figure.y.categories.insert(figure.y.categories.end(), {"name " + number, ""});
    }
    figure.marks = {bars};
    const auto count = [&](const char* words, int height) {
        int found = 0;
        const std::string svg = to_svg(figure, dark_theme(), 640, height);
        for (size_t at = svg.find(words); at != std::string::npos; at = svg.find(words, at + 1)) ++found;
        return found;
    };
    for (const int height : {1200, 420}) {
        CAPTURE(height);
        CHECK(count("name ", height) == 20);
        CHECK(count("value ", height) == 20);
        CHECK(count("remark", height) == (height == 1200 ? 20 : 0));
        const SvgCanvas canvas;
        const Frame frame = lay_out(canvas, figure, {0, 0, 640, static_cast<float>(height)}, {}).frame;
        CHECK(frame.at_y(0) - canvas.line_height() / 2 >= frame.box.top - 0.01f);
        CHECK(frame.at_y(39) <= frame.box.bottom);
    }
}

TEST_CASE("a matrix appears with texts, labels and a legend of its kinds", "[viz]") {
    Matrix matrix;
    matrix.row_labels = {"worker 0", "worker 1"}, matrix.column_labels = {"b0", "b1"};
    matrix.kinds = {{"computes", first_variant}, {"waits", {Ink::Role::quiet}}};
    matrix.cells = {0, 1, -1, 0}, matrix.texts = {"c00", "c01", "", "c11"};
    const Figure figure = figure_with(matrix);
    for (const char* part : {"worker 1", "b1", "computes", "waits", "c11"})
        CHECK(contains(svg_of(figure), part));
    CHECK(contains(to_csv(figure), "cell,waits,b1,worker 0,,,,c01\r\n"));
}

TEST_CASE("a tree appears with its nodes, and ticks at whole levels only", "[viz]") {
    Tree tree;
    tree.nodes = {{0, 0, "a0"}, {1, 0, "a1"}, {1, 1, "sum", true}};
    tree.edges = {{0, 2, true}, {1, 2, true}};
    const Figure figure = figure_with(tree);
    for (const char* part : {"a0", "a1", "sum"}) CHECK(contains(svg_of(figure), part));
    const Layout layout = lay_out(SvgCanvas(), figure, {0, 0, 600, 300}, {});
    REQUIRE_FALSE(layout.y_ticks.empty());
    for (const Tick& tick : layout.y_ticks) CHECK(tick.value == std::round(tick.value));
    CHECK(layout.frame.at_y(1) > layout.frame.at_y(0));
    CHECK(contains(to_csv(figure), "node,lit,1,1,,,,sum\r\n"));
    CHECK(contains(to_csv(figure), "edge,lit,,,1,2,,\r\n"));
}

TEST_CASE("arrows of a tree have texts", "[viz]") {
    Tree tree;
    tree.nodes = {{0, 0, "global"}, {1, 0, "shared"}};
    tree.edges = {{0, 1, false, true, "16 KiB"}};
    const Figure figure = figure_with(tree);
    CHECK(has_arrows(figure));
    for (const char* part : {"global", "shared", "16 KiB"}) CHECK(contains(svg_of(figure), part));
    CHECK(contains(to_csv(figure), "edge,,,,0,1,,16 KiB\r\n"));
}

TEST_CASE("tracks appear as spans and curves, and many narrow spans give a small file", "[viz]") {
    Tracks tracks;
    tracks.tracks.push_back(
        {"worker 0", first_variant, {{0, 40, "upsweep"}, {50, 100, "downsweep"}}, {}, {}, ""});
    tracks.tracks.push_back({"busy", first_variant, {}, {0, 50, 100}, {0, 2, 1}, "workers"});
    Figure figure = figure_with(tracks);
    for (const char* part : {"worker 0", "downsweep", "busy (max 2 workers)"})
        CHECK(contains(svg_of(figure), part));
    CHECK(contains(to_csv(figure), "span,worker 0,,,50,100,,downsweep\r\n"));
    CHECK(contains(to_csv(figure), "curve,busy (workers),50,,,,2,\r\n"));

    tracks.tracks[0].spans.clear();
    for (int i = 0; i < 100000; ++i) tracks.tracks[0].spans.push_back({i * 1.0, i + 0.5, "step"});
    CHECK(svg_of(figure_with(tracks)).size() < 20000);
}

TEST_CASE("all tracks are named if there is room, otherwise one per variant", "[viz]") {
    Tracks tracks;
    for (const char* name : {"one", "two", "three", "four", "five"}) {
        tracks.tracks.push_back({name, first_variant, {{0, 40, "step"}}, {}, {}, ""});
        tracks.tracks.push_back({"idle", first_variant, {}, {0, 50, 100}, {0, 2, 1}, "workers"});
    }
    Figure figure = figure_with(tracks);
    figure.y = {};
    const SvgCanvas canvas;
    const auto names = [&](float height) {
        std::string found;
        for (const Tick& tick : lay_out(canvas, figure, {0, 0, 900, height}, {}).y_ticks)
            found += tick.text.substr(0, 4) + " ";
        return found;
    };
    CHECK(names(110) == "one two thre four five ");
    CHECK(names(260) == "one idle two idle thre idle four idle five idle ");
    CHECK(names(40) != names(110));  // there is less room than a name needs, so names are thinned
    // At its minimum height, a figure has enough room under its title.
    const float least = least_height(canvas, figure);
    CHECK(names(least - canvas.line_height() - 2) == "one two thre four five ");

    // If several curves are under one row of spans, every curve has a name.
    std::get<Tracks>(figure.marks[0])
        .tracks.insert(std::get<Tracks>(figure.marks[0]).tracks.begin() + 1,
                       {"SM active", first_variant, {}, {0, 50}, {0, 95}, "%"});
    CHECK(least_height(canvas, figure) > 1.5f * least);
    CHECK(names(260).find("SM a") != std::string::npos);
    CHECK(row_names(figure)[1] == "SM active (max 95 %)");
}

TEST_CASE("the scale of a curve ignores samples that are not numbers", "[viz]") {
    const auto name_of = [](std::vector<double> samples) {
        std::vector<double> times(samples.size());
        Figure figure = figure_with(
            Tracks{{{"SM active", first_variant, {}, std::move(times), std::move(samples), "%"}}});
        figure.y = {};
        return row_names(figure)[0];
    };
    CHECK(name_of({NAN, 20, 95}) == "SM active (max 95 %)");
    CHECK(name_of({20, NAN, INFINITY, 10}) == "SM active (max 20 %)");
    CHECK(name_of({NAN, NAN}) == "SM active");
    CHECK(name_of({}) == "SM active");
}

TEST_CASE("the time axis of tracks is above them", "[viz]") {
    Figure figure = figure_with(Tracks{{{"one", first_variant, {{0, 40, "step"}}, {}, {}, ""}}});
    figure.y = {};
    figure.x = {"time", "us"};
    const Layout layout = lay_out(SvgCanvas(), figure, {0, 0, 600, 100}, {});
    CHECK(layout.frame.box.top >= SvgCanvas().line_height());
    CHECK(layout.frame.box.bottom == 100);
    CHECK(layout.indent > 0);  // the name of the axis is longer than that of the only row
    const auto texts = upright_texts(svg_of(figure));
    CHECK(std::count_if(texts.begin(), texts.end(), [](const PlacedText& text) {
              return text.text == "time (us)" && text.y < 100;
          }) == 1);
    check_texts_apart(figure, 640, 360);
}

TEST_CASE("crowded lines lie over each other, the largest first, and each is drawn once", "[viz]") {
    const auto drawn = [](std::initializer_list<int> sizes) {
        Figure figure = figure_with(Note{});
        figure.marks.clear();
        for (const int size : sizes) {
            Line line{"v" + std::to_string(size),
                      {Ink::Role::variant, static_cast<int>(figure.marks.size())},
                      {},
                      {}};
            for (int x = 0; x < 400; ++x) line.x.push_back(x), line.y.push_back(size * (x % 7));
            figure.marks.push_back(std::move(line));
        }
        return svg_of(figure);
    };
    const std::string first = "stroke=\"#56b4e9\"", second = "stroke=\"#e69f00\"",
                      third = "stroke=\"#0a8a60\"";
    // One path is the line, and the other one the sample in the legend.
    CHECK(count_of(drawn({1}), first) == 2);
    const std::string three = drawn({1, 3, 2});
    for (const std::string& colour : {first, second, third}) CHECK(count_of(three, colour) == 2);
    CHECK(three.rfind(second) < three.rfind(third));
    CHECK(three.rfind(third) < three.rfind(first));
    // Lines that agree keep their order.
    const std::string equal = drawn({2, 2, 2});
    CHECK(equal.rfind(first) < equal.rfind(second));
    CHECK(equal.rfind(second) < equal.rfind(third));
}

TEST_CASE("a whisker never crosses the label of a segment", "[viz]") {
    const auto svg_with = [](double low, double high) {
        Bars bars{{{first_variant, {{"others", 900}}, low, high, "900 us"}}};
        Figure figure = figure_with(bars);
        figure.y.categories = {"blelloch"};
        return svg_of(figure);
    };
    CHECK(contains(svg_with(850, 950), ">others<"));
    CHECK_FALSE(contains(svg_with(20, 950), ">others<"));
    CHECK_FALSE(contains(svg_with(5, 30), ">others<"));
}

TEST_CASE("ticks end at the maximum of an axis, even if texts extend beyond it", "[viz]") {
    Figure figure = figure_with(two_bars());
    figure.x = {.label = "occupancy", .unit = "%", .minimum = 0, .maximum = 1000};
    figure.y.categories = {"blelloch", "sequential"};
    const Layout layout = lay_out(SvgCanvas(), figure, {0, 0, 600, 300}, {});
    REQUIRE_FALSE(layout.x_ticks.empty());
    CHECK(layout.x_ticks.back().value <= 1000);
    CHECK(layout.frame.x.high > 1000);
}

TEST_CASE("rules and notes appear, and rules that share a label are named once", "[viz]") {
    Figure figure = figure_with(Line{"y", first_variant, {0, 100}, {0, 10}});
    for (double at : {20.0, 40.0, 60.0})
        figure.marks.push_back(Rule{Rule::Across::x, at, "boundary", {Ink::Role::quiet}});
    figure.marks.push_back(Rule{Rule::Across::y, 12, "copy limit", {Ink::Role::limit}});
    figure.marks.push_back(Note{50, 5, "look here"});
    const std::string svg = svg_of(figure);
    CHECK(count_of(svg, ">boundary<") == 1);
    CHECK(contains(svg, "copy limit"));
    CHECK(contains(svg, "look here"));
    CHECK(contains(to_csv(figure), "rule,copy limit,,12,,,,\r\n"));
    CHECK(contains(to_csv(figure), "note,,50,5,,,,look here\r\n"));
}

TEST_CASE("labels neither overlap nor leave the picture", "[viz]") {
    Figure figure =
        figure_with(Line{"a line with quite a long name", first_variant, {1, 2, 4096}, {1e-7, 1, 100}});
    figure.x.scale = Scale::log2;
    figure.y.scale = Scale::log10;
    for (double at : {200.0, 210.0, 220.0, 4000.0})
        figure.marks.push_back(Rule{Rule::Across::x, at, "at " + exact_number(at), {Ink::Role::accent}});
    for (double at : {50.0, 55.0, 60.0})
        figure.marks.push_back(Rule{Rule::Across::y, at, "limit " + exact_number(at), {Ink::Role::limit}});
    for (int width : {320, 640, 1280}) check_texts_apart(figure, width, 320);
}

TEST_CASE("a figure without marks says what it would show", "[viz]") {
    Figure figure = figure_with(Note{});
    figure.marks.clear();
    figure.missing = "Occupancy needs a GPU.";
    CHECK(contains(svg_of(figure), "Occupancy needs a GPU."));
}

TEST_CASE("text is escaped in SVG and quoted in CSV", "[viz]") {
    Figure figure = figure_with(Line{"a<b & \"c\", d", first_variant, {0, 1}, {0, 1}});
    figure.title = "<script>";
    CHECK(contains(svg_of(figure), "a&lt;b &amp; &quot;c&quot;, d"));
    CHECK_FALSE(contains(svg_of(figure), "<script>"));
    CHECK(contains(to_csv(figure), "\"a<b & \"\"c\"\", d (ulp)\""));
}

TEST_CASE("numbers in files read back as the same doubles", "[viz]") {
    for (double value : {0.1, 1.0 / 3, 1e-300, 6.02e23, -5.0, 123456789.0, 5e-324})
        CHECK(std::strtod(exact_number(value).c_str(), nullptr) == value);
}

TEST_CASE("a bar is a length from 0, and on a logarithmic axis a point", "[viz]") {
    Figure figure;
    figure.x = {.label = "error", .scale = Scale::log10};
    figure.y.categories = {"one", "two"};
    figure.marks = {
        Bars{{{first_variant, {{"", 1e-6}}, 5e-7, 2e-6, ""}, {first_variant, {{"", 1e-3}}, {}, {}, ""}}}};
    const std::string points = svg_of(figure);
    CHECK(count_of(points, "<circle") == 2);
    figure.x.scale = Scale::linear;
    CHECK(count_of(svg_of(figure), "<circle") == 0);
}

TEST_CASE("a caption ends with a sentence where there is no room for all of it", "[viz]") {
    Figure figure;
    figure.title = "Time";
    figure.caption = "The verdict comes first and is short. " + std::string(400, 'q') + " is the rest.";
    figure.marks = {Line{"a", {}, {0, 1}, {0, 1}}};
    const std::string svg = to_svg(figure, dark_theme(), 300, 200);
    CHECK(contains(svg, "is short."));
    CHECK_FALSE(contains(svg, "qqq"));
    CHECK_FALSE(contains(svg, "…"));
}

TEST_CASE("labels of notes leave lines free, and equal ones are written once", "[viz]") {
    Figure figure;
    figure.marks = {Line{"a", {}, {1, 2, 3}, {1, 2, 3}, true, {"chunk", {16, 32, 64}}},
                    Line{"b", {}, {1.5, 2.5, 3.5}, {1, 2, 3}, true, {"chunk", {16, 32, 64}}}};
    Parameters present;
    present.set("chunk", int64_t{32});
    const Figure marked = with_present(figure, present);
    size_t notes = 0, texts = 0;
    for (const Mark& mark : marked.marks)
        if (const Note* note = std::get_if<Note>(&mark)) ++notes, texts += !note->text.empty();
    CHECK(notes == 2);
    CHECK(texts == 1);
}

TEST_CASE("the current value of a parameter set by points is marked", "[viz]") {
    Parameters present;
    present.set("chunk", int64_t{4});
    present.set("C_G", int64_t{4});
    Figure figure;
    figure.marks = {Line{"one", {}, {1, 2, 4}, {3, 2, 1}, true, {"chunk", {1, 2, 4}}},
                    Line{"other", {}, {1, 2, 4}, {3, 2, 1}, true, {"C_G", {1, 2, 4}}},
                    Line{"sets nothing", {}, {1, 2, 4}, {1, 1, 1}}};
    REQUIRE(sets_parameters(figure));
    const Figure along = with_present(figure, present);
    REQUIRE(along.marks.size() == 4);
    const Rule rule = std::get<Rule>(along.marks.back());
    CHECK(rule.at == 4);
    CHECK(rule.label == "chunk 4, C_G 4");

    figure.marks = {Line{"one", {}, {0.3, 0.2, 0.1}, {3, 2, 1}, true, {"chunk", {1, 2, 4}}}};
    const Note note = std::get<Note>(with_present(figure, present).marks.back());
    CHECK(note.x == 0.1);
    CHECK(note.y == 1);
    CHECK(note.text == "chunk 4");
    present.set("chunk", int64_t{3});  // no point has this value
    CHECK(with_present(figure, present).marks.size() == 1);
    figure.marks = {Line{"sets nothing", {}, {1, 2, 4}, {1, 1, 1}}};
    CHECK_FALSE(sets_parameters(figure));
}

TEST_CASE("the initially visible part of an axis can be limited", "[viz]") {
    Figure figure;
    figure.x = {.label = "time", .minimum = 0, .in_sight = 10};
    figure.marks = {Line{"a", {}, {0, 5, 10, 100}, {0, 1, 2, 50}}};
    const SvgCanvas canvas;
    const Box area{0, 0, 400, 300};
    CHECK(lay_out(canvas, figure, area, {}).frame.x == Range{0, 10});
    CHECK(lay_out(canvas, figure, area, {}).frame.y_top < 3);
    CHECK(lay_out(canvas, figure, area, Range{0, 100}).frame.x == Range{0, 100});
}

TEST_CASE("the column names of a matrix take as many lines as they need", "[viz]") {
    Figure figure;
    Matrix matrix;
    matrix.row_labels = {"row"};
    matrix.column_labels = {"a rather long name", "another long name", "and a third one"};
    matrix.cells = {-1, -1, -1};
    figure.marks = {matrix};
    const SvgCanvas canvas;
    const auto place = [&](float width) { return place_of(canvas, figure, matrix, {0, 0, width, 300}); };
    CHECK(place(900).lines_of_names == 1);
    CHECK(place(250).lines_of_names == 2);
    CHECK(place(250).cells.top > place(900).cells.top);
    CHECK(place(60).lines_of_names == 1);  // only some are named
}
