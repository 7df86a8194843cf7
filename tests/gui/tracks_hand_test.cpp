// What the mouse does on tracks, tested without a window.

#include "tests/kit/catch.h"
#include "tests/kit/contains.h"
#include "viz/canvas_svg.h"
#include "viz/imgui/tracks_imgui.h"

namespace sawtooth {
namespace {

// A canvas that keeps what is drawn.
class KeepingCanvas : public SvgCanvas {
  public:
    std::vector<Box> boxes;
    std::vector<std::vector<Point>> paths, strips;
    std::string texts;

    void box(const Box& box, Colour) override { boxes.push_back(box); }
    void path(std::span<const Point> points, const Stroke&) override {
        paths.emplace_back(points.begin(), points.end());
    }
    void strip(std::span<const Point> one, std::span<const Point>, Colour) override {
        strips.emplace_back(one.begin(), one.end());
    }
    void text(Point, Align, Colour, std::string_view text) override { texts += text; }
};

// A run of 100 us with a curve, and a second variant.
Figure runs() {
    const std::vector<Tracks::Span> spans{{0, 40, "first"}, {50, 60, "second"}, {70, 75, "third"}};
    Tracks tracks;
    tracks.tracks.push_back({"one", {Ink::Role::variant, 0}, spans, {}, {}, ""});
    tracks.tracks.push_back({"utilisation 55 %", {Ink::Role::variant, 0}, {}, {0, 100}, {55, 55}, "%"});
    tracks.tracks.push_back({"other", {Ink::Role::variant, 1}, spans, {}, {}, ""});
    Figure figure;
    figure.x = {
        .label = "time",
        .unit = "us",
        .minimum = 0,
        .maximum = 100,
    };
    figure.marks.push_back(std::move(tracks));
    return figure;
}

struct Drawn {
    Figure figure = runs();
    KeepingCanvas canvas;
    Layout layout = sawtooth::lay_out(canvas, figure, {0, 0, 800, 200}, {});
    Pen pen = pen_for(canvas, dark_theme(), layout.frame, figure);

    Point at(double x, double row) const { return layout.frame.at(x, row); }
};

TEST_CASE("the span under the mouse is found at the time of the axis", "[viz]") {
    const Drawn drawn;
    REQUIRE(span_under(drawn.pen, drawn.figure, drawn.at(20, 0)));
    CHECK(span_under(drawn.pen, drawn.figure, drawn.at(20, 0))->span->label == "first");
    CHECK(span_under(drawn.pen, drawn.figure, drawn.at(55, 2))->time == Approx(55));
    CHECK_FALSE(span_under(drawn.pen, drawn.figure, drawn.at(55, 1)));  // this is a curve
    CHECK_FALSE(span_under(drawn.pen, drawn.figure, drawn.at(45, 0)));
    Point beside = drawn.at(60, 0);
    beside.x += 2;  // within a few pixels counts
    CHECK(span_under(drawn.pen, drawn.figure, beside)->time == Approx(60));
}

TEST_CASE("a click on tracks tells the variant and the time, or that nothing is there", "[viz]") {
    const Drawn drawn;
    const auto on = click_on_tracks(drawn.pen, drawn.figure, drawn.at(55, 2));
    REQUIRE(on);
    CHECK(on->ink.index == 1);
    CHECK(*on->time == Approx(55));
    REQUIRE(click_on_tracks(drawn.pen, drawn.figure, drawn.at(90, 2)));
    CHECK_FALSE(click_on_tracks(drawn.pen, drawn.figure, drawn.at(90, 2))->time);
    Figure without = drawn.figure;
    without.marks.clear();
    CHECK_FALSE(click_on_tracks(drawn.pen, without, drawn.at(90, 2)));
}

TEST_CASE("a launch is outlined in every row that has it", "[viz]") {
    Drawn drawn;
    outline_launch(drawn.pen, drawn.figure, {{Ink::Role::variant, 0}, 50, 60});
    CHECK(drawn.canvas.paths.size() == 1);
    drawn.canvas.paths.clear();
    outline_launch(drawn.pen, drawn.figure, {{Ink::Role::variant, 0}, 0, 40});
    REQUIRE(drawn.canvas.paths.size() == 1);
    const auto& outline = drawn.canvas.paths.front();
    CHECK(outline.front().y < drawn.at(0, 0).y);
    CHECK(outline[1].x >= drawn.at(40, 0).x);
}

TEST_CASE("a drag measures time on the axis, and is drawn in all rows", "[viz]") {
    Drawn drawn;
    const auto measuring = measured_by(drawn.pen, drawn.figure, drawn.at(60, 1), drawn.at(20, 2));
    REQUIRE(measuring);
    CHECK(measuring->row == 1);
    CHECK(measuring->time.low == Approx(20));
    CHECK(measuring->time.high == Approx(60));
    CHECK_FALSE(measured_by(drawn.pen, drawn.figure, {-10, 50}, drawn.at(20, 2)));
    draw_measured(drawn.pen, drawn.figure, {1, measuring->ink, measuring->time, "40 us"});
    CHECK(drawn.canvas.boxes.size() == 4);  // three rows, and the plate of the words
    CHECK(contains(drawn.canvas.texts, "40 us"));
    drawn.canvas.boxes.clear();
    // Now the range is on the row of another variant.
    draw_measured(drawn.pen, drawn.figure, {2, measuring->ink, {10, 20}, "10 us"});
    CHECK(drawn.canvas.boxes.empty());
}

TEST_CASE("rows in percent have a scale at their end", "[viz]") {
    Drawn drawn;
    draw_row_scales(drawn.pen, drawn.figure);
    CHECK(drawn.canvas.texts == "100 %");
    CHECK(drawn.layout.beside > drawn.canvas.text_width("100 %"));
}

TEST_CASE("launches too narrow to be seen fill as much of their row as of the time", "[viz]") {
    Drawn drawn;
    Tracks tracks;
    Tracks::Track track{"teeth", {Ink::Role::variant, 0}, {}, {}, {}, ""};
    for (int i = 0; i < 2000; ++i) track.spans.push_back({i * 0.05, i * 0.05 + 0.02, "tooth"});
    tracks.tracks.push_back(track);
    drawn.figure.marks = {tracks};
    drawn.layout = lay_out(drawn.canvas, drawn.figure, {0, 0, 800, 200}, {});
    const Pen pen = pen_for(drawn.canvas, dark_theme(), drawn.layout.frame, drawn.figure);
    draw(pen, tracks);
    const Box row = track_row(pen, tracks, 0);
    REQUIRE(drawn.canvas.strips.size() == 1);
    const auto& heights = drawn.canvas.strips.front();
    double filled = 0, wide = 0;
    for (size_t i = 1; i < heights.size(); i += 2) {
        const float width = heights[i].x - heights[i - 1].x;
        filled += width * (row.bottom - heights[i].y);
        wide += width * row.height();
    }
    CHECK(filled / wide == Approx(0.4).margin(0.02));
}

}  // namespace
}  // namespace sawtooth
