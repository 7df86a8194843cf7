// What a mouse does on tracks, without a window.

#include "kernels/core/lanes.h"
#include "tests/catch.h"
#include "tests/contains.h"
#include "viz/canvas_svg.h"
#include "viz/imgui/tracks_imgui.h"

namespace sawtooth {
namespace {

// Keeps what is drawn.
class KeepingCanvas : public SvgCanvas {
  public:
    std::vector<Box> boxes;
    std::vector<std::vector<Point>> paths;
    std::string texts;

    void box(const Box& box, Colour) override { boxes.push_back(box); }
    void path(std::span<const Point> points, const Stroke&) override {
        paths.emplace_back(points.begin(), points.end());
    }
    void text(Point, Align, Colour, std::string_view text) override { texts += text; }
};

// A run of 100 us, the 25 us from 50 on as wide as all of it, and another variant.
Figure lanes() {
    const std::vector<Tracks::Span> spans{{0, 40, "first"}, {50, 60, "second"}, {70, 75, "third"}};
    Tracks tracks;
    tracks.tracks.push_back({"one", {Ink::Role::variant, 0}, spans, {}, {}, ""});
    tracks.tracks.push_back(
        {"one, a part", {Ink::Role::variant, 0}, {spans[1], spans[2]}, {}, {}, "", 50, 4});
    tracks.tracks.push_back({"other", {Ink::Role::variant, 1}, spans, {}, {}, ""});
    Figure figure;
    figure.x = {.label = "time", .unit = "us", .minimum = 0, .maximum = 100, .shared = Lanes::time};
    figure.marks.push_back(std::move(tracks));
    return figure;
}

struct Drawn {
    Figure figure = lanes();
    KeepingCanvas canvas;
    Layout layout = sawtooth::lay_out(canvas, figure, {0, 0, 800, 200}, {});
    Pen pen = pen_for(canvas, dark_theme(), layout.frame, figure);

    Point at(double x, double row) const { return layout.frame.at(x, row); }
};

TEST_CASE("the span under the mouse is found at the time that its row stands for", "[viz]") {
    const Drawn drawn;
    REQUIRE(span_under(drawn.pen, drawn.figure, drawn.at(20, 0)));
    CHECK(span_under(drawn.pen, drawn.figure, drawn.at(20, 0))->span->label == "first");
    const auto zoomed = span_under(drawn.pen, drawn.figure, drawn.at(20, 1));
    REQUIRE(zoomed);
    CHECK(zoomed->span->label == "second");
    CHECK(zoomed->time == Approx(55));
    CHECK_FALSE(span_under(drawn.pen, drawn.figure, drawn.at(45, 0)));
    Point beside = drawn.at(60, 0);
    beside.x += 2;  // as near as a hand comes
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
    CHECK(drawn.canvas.paths.size() == 2);
    drawn.canvas.paths.clear();
    outline_launch(drawn.pen, drawn.figure, {{Ink::Role::variant, 0}, 0, 40});  // not in the part
    REQUIRE(drawn.canvas.paths.size() == 1);
    const auto& outline = drawn.canvas.paths.front();
    CHECK(outline.front().y < drawn.at(0, 0).y);
    CHECK(outline[1].x >= drawn.at(40, 0).x);
}

TEST_CASE("a drag measures time in the scale of its row, and is drawn in the rows of that scale", "[viz]") {
    Drawn drawn;
    const auto measuring = measured_by(drawn.pen, drawn.figure, drawn.at(60, 1), drawn.at(20, 2));
    REQUIRE(measuring);
    CHECK(measuring->row == 1);
    CHECK(measuring->time.low == Approx(55));
    CHECK(measuring->time.high == Approx(65));
    CHECK_FALSE(measured_by(drawn.pen, drawn.figure, {-10, 50}, drawn.at(20, 2)));
    draw_measured(drawn.pen, drawn.figure, {1, measuring->ink, measuring->time, "10 us"});
    CHECK(drawn.canvas.boxes.size() == 2);  // one row, and the ground of the words
    CHECK(contains(drawn.canvas.texts, "10 us"));
    drawn.canvas.boxes.clear();
    draw_measured(drawn.pen, drawn.figure, {0, measuring->ink, {10, 20}, "10 us"});
    CHECK(drawn.canvas.boxes.size() == 3);
    drawn.canvas.boxes.clear();
    draw_measured(drawn.pen, drawn.figure, {2, measuring->ink, {10, 20}, "10 us"});  // now another variant's
    CHECK(drawn.canvas.boxes.empty());
}

}  // namespace
}  // namespace sawtooth
