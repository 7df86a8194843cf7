// Draws notes: a point and words beside it.

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "viz/marks.h"

namespace sawtooth {
namespace {

// Points along the lines of a figure, a few units apart, that labels avoid.
std::vector<Point> places_of_lines(const Pen& pen, const Figure& figure) {
    const float step = 6 * pen.canvas.unit();
    constexpr size_t most = 4096;
    std::vector<Point> places;
    for (const Mark& mark : figure.marks) {
        const Line* const line = std::get_if<Line>(&mark);
        if (!line || !line->joined) continue;
        for_each_run(pen, line->x, line->y, [&](std::span<const Point> run) {
            for (size_t i = 0; i + 1 < run.size() && places.size() < most; ++i) {
                const Point one = run[i], other = run[i + 1];
                const float length = std::hypot(other.x - one.x, other.y - one.y);
                for (float at = 0; at < length && places.size() < most; at += step)
                    places.push_back(
                        {one.x + (other.x - one.x) * at / length, one.y + (other.y - one.y) * at / length});
            }
            places.push_back(run.back());
        });
    }
    return places;
}

// The place where a label of that size beside a point covers least: right or left of it, above or below.
Box free_place(const Box& plot, Point at, Point size, float apart, const std::vector<Point>& covered,
               const std::vector<Box>& taken) {
    const auto overlaps = [](const Box& one, const Box& other) {
        return one.left < other.right && one.right > other.left && one.top < other.bottom &&
               one.bottom > other.top;
    };
    std::optional<Box> best;
    float least = 0;
    for (int row = 0; row < 4; ++row)
        for (const bool above : {true, false})
            for (const bool right : {true, false}) {
                const float away = apart + static_cast<float>(row) * size.y;
                const float x = right ? at.x + apart : at.x - apart - size.x;
                const float y = above ? at.y - away - size.y : at.y + away;
                const float left = std::clamp(x, plot.left, std::max(plot.left, plot.right - size.x));
                const float top = std::clamp(y, plot.top, std::max(plot.top, plot.bottom - size.y));
                const Box box{left, top, left + size.x, top + size.y};
                float cost = std::hypot(left - x, top - y) + static_cast<float>(row);
                for (const Point place : covered) cost += box.contains(place) ? 20.0f : 0;
                for (const Box& other : taken) cost += overlaps(box, other) ? 1e4f : 0;
                if (!best || cost < least) best = box, least = cost;
            }
    return *best;
}

// The lines of a note: one, or a few if the user wrote it.
std::vector<std::string> lines_of(const Pen& pen, const Note& note, float room) {
    constexpr float widest = 240;
    constexpr size_t most = 3;
    if (!note.by_user) return {elided(pen.canvas, note.text, room)};
    return wrapped(pen.canvas, note.text, std::min(room, widest * pen.canvas.unit()), most);
}

// A line from the place of a note to its words, which may be far from it.
void draw_leader(const Pen& pen, Point at, const Box& box) {
    const Point end{std::clamp(at.x, box.left, box.right), std::clamp(at.y, box.top, box.bottom)};
    pen.canvas.path(std::array<Point, 2>{at, end}, {{pen.theme.highlight}, 1});
}

// Draws the words of a note beside its place, where they cover least; `taken` has those that were drawn.
void draw_words(const Pen& pen, const Note& note, Point at, const std::vector<Point>& covered,
                std::vector<Box>& taken) {
    const float gap = 4 * pen.canvas.unit(), line = pen.canvas.line_height();
    const std::vector<std::string> lines = lines_of(pen, note, pen.frame.box.width() - 4 * gap);
    float width = 0;
    for (const std::string& each : lines) width = std::max(width, pen.canvas.text_width(each));
    const Box box =
        free_place(pen.frame.box, at, {width + 2 * gap, line * static_cast<float>(lines.size()) + gap},
                   2 * gap, covered, taken);
    taken.push_back(box);
    if (note.by_user) draw_leader(pen, at, box);
    pen.canvas.box(box, {pen.theme.field, 0.92f});
    if (note.by_user) pen.canvas.outline(box, {pen.theme.highlight});
    float y = box.top + (gap + line) / 2;
    for (const std::string& each : lines) {
        pen.canvas.text({box.left + gap, y}, Align::left, {pen.theme.text}, each);
        y += line;
    }
}

}  // namespace

void draw_notes(const Pen& pen, const Figure& figure) {
    const float unit = pen.canvas.unit();
    const Box& plot = pen.frame.box;
    const std::vector<Point> covered = places_of_lines(pen, figure);
    std::vector<Box> taken;
    for (const Mark& mark : figure.marks) {
        const Note* note = std::get_if<Note>(&mark);
        if (!note) continue;
        const Point at = pen.frame.at(note->x, note->y);
        if (!plot.contains(at) || plot.height() < 2 * pen.canvas.line_height() + 8 * unit) continue;
        pen.canvas.marker(Marker::circle, at, 3 * unit, {pen.theme.text});
        if (!note->text.empty()) draw_words(pen, *note, at, covered, taken);
    }
}

}  // namespace sawtooth
