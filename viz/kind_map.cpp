#include <algorithm>
#include <array>
#include <cmath>

#include "viz/marks.h"

// Draws maps of kinds: every kind has a colour and a pattern of stripes that continue through all neighbours
// of the same kind.

namespace sawtooth {
namespace {

constexpr float between_stripes = 7;  // in units, along x
constexpr float seam_from = 6;        // in units: smaller cells have no seams

struct Look {
    bool has_ground = true;
    bool rises = false, falls = false;  // direction of its stripes
};

Look look_of(KindMap::Pattern pattern) {
    switch (pattern) {
        case KindMap::Pattern::hollow:
            return {.has_ground = false, .falls = true};
        case KindMap::Pattern::plain:
            break;
        case KindMap::Pattern::striped:
            return {.rises = true};
        case KindMap::Pattern::crossed:
            return {.rises = true, .falls = true};
    }
    return {};
}

// The colour is opaque, so that neighbours leave no seams.
Colour ground_of(const Theme& theme, Colour colour) { return {blend(theme.ground, colour.faded(0.85f))}; }

Stroke stripe_of(const Theme& theme, Colour colour, const Look& look) {
    return look.has_ground ? Stroke{{theme.ground, 0.55f}, 1} : Stroke{colour.faded(0.55f), 1};
}

// Draws the parts of diagonal lines across the box for which stroke_at(point) is not null, in that stroke.
template <class StrokeAt>
void draw_stripes(Canvas& canvas, const Box& box, bool rising, float apart, StrokeAt&& stroke_at) {
    const float height = box.height();
    const auto point = [&](float start, float down) {  // `start`: x where the line crosses the top edge
        return Point{rising ? start - down : start + down, box.top + down};
    };
    const float first = rising ? box.left : box.left - height;
    const float last = rising ? box.right + height : box.right;
    // Lines start at multiples of their distance, so that they stay in place if the box moves.
    for (float start = std::ceil(first / apart) * apart; start < last; start += apart) {
        const float from = std::max(0.0f, rising ? start - box.right : box.left - start);
        const float to = std::min(height, rising ? start - box.left : box.right - start);
        const Stroke* held = nullptr;
        float held_from = from;
        const auto flush = [&](float down) {
            if (held) canvas.path(std::array{point(start, held_from), point(start, down)}, *held);
            held_from = down;
        };
        for (float down = from; down < to; down += 1) {
            const Stroke* const stroke = stroke_at(point(start, std::min(down + 0.5f, to)));
            if (stroke != held) flush(down), held = stroke;
        }
        flush(to);
    }
}

// The places of the cells in pixels.
struct PlacedCells {
    const KindMap& map;
    Box box;  // the box of the whole map

    size_t rows() const { return map.row_names.size(); }
    size_t columns() const { return map.column_names.size(); }
    float width() const { return box.width() / static_cast<float>(columns()); }
    float height() const { return box.height() / static_cast<float>(rows()); }
    // Edges are at whole pixels.
    float left_of(size_t column) const { return std::round(box.left + width() * static_cast<float>(column)); }
    float top_of(size_t row) const { return std::round(box.top + height() * static_cast<float>(row)); }
    int kind_under(Point at) const {
        const auto place = [](float share, size_t count) {
            return static_cast<size_t>(std::clamp(share, 0.0f, 1.0f) * static_cast<float>(count) * 0.999999f);
        };
        return map.kind_at(place((at.y - box.top) / box.height(), rows()),
                           place((at.x - box.left) / box.width(), columns()));
    }
};

void fill_cells(Canvas& canvas, const PlacedCells& cells, const std::vector<Colour>& grounds) {
    for (size_t row = 0; row < cells.rows(); ++row)
        for (size_t column = 0; column < cells.columns();) {
            const int kind = cells.map.kind_at(row, column);
            size_t end = column + 1;
            while (end < cells.columns() && cells.map.kind_at(row, end) == kind) ++end;
            if (const Colour& ground = grounds[static_cast<size_t>(kind)]; ground.alpha > 0)
                canvas.box(
                    {cells.left_of(column), cells.top_of(row), cells.left_of(end), cells.top_of(row + 1)},
                    ground);
            column = end;
        }
}

void draw_seams(const Pen& pen, const PlacedCells& cells) {
    const Stroke seam{{pen.theme.ground}, 1};
    const Box& box = cells.box;
    if (std::min(cells.width(), cells.height()) < seam_from * pen.canvas.unit()) return;
    for (size_t row = 1; row < cells.rows(); ++row) {
        const float y = cells.top_of(row);
        pen.canvas.path(std::array<Point, 2>{{{box.left, y}, {box.right, y}}}, seam);
    }
    for (size_t column = 1; column < cells.columns(); ++column) {
        const float x = cells.left_of(column);
        pen.canvas.path(std::array<Point, 2>{{{x, box.top}, {x, box.bottom}}}, seam);
    }
}

}  // namespace

void draw(const Pen& pen, const KindMap& map) {
    if (map.cells.empty()) return;
    const Box whole{pen.frame.at_x(map.x_low), pen.frame.at_y(map.y_low), pen.frame.at_x(map.x_high),
                    pen.frame.at_y(map.y_high)};
    const PlacedCells cells{map, whole};
    std::vector<Colour> grounds;
    std::vector<Look> looks;
    std::vector<Stroke> stripes;
    for (const KindMap::Kind& kind : map.kinds) {
        const Colour colour = stroke_of(kind.ink, pen.theme).colour;
        looks.push_back(look_of(kind.pattern));
        grounds.push_back(looks.back().has_ground ? ground_of(pen.theme, colour) : Colour{0, 0});
        stripes.push_back(stripe_of(pen.theme, colour, looks.back()));
    }
    fill_cells(pen.canvas, cells, grounds);
    draw_seams(pen, cells);
    const Box& plot = pen.frame.box;
    const Box seen{std::max(whole.left, plot.left), std::max(whole.top, plot.top),
                   std::min(whole.right, plot.right), std::min(whole.bottom, plot.bottom)};
    for (const bool rising : {true, false})
        draw_stripes(pen.canvas, seen, rising, between_stripes * pen.canvas.unit(), [&](Point at) {
            const auto kind = static_cast<size_t>(cells.kind_under(at));
            return (rising ? looks[kind].rises : looks[kind].falls) ? &stripes[kind] : nullptr;
        });
}

void draw_kind(Canvas& canvas, const Theme& theme, const Box& box, Colour colour, KindMap::Pattern pattern) {
    const Look look = look_of(pattern);
    if (look.has_ground) canvas.box(box, ground_of(theme, colour));
    const Stroke stripe = stripe_of(theme, colour, look);
    for (const bool rising : {true, false})
        if (rising ? look.rises : look.falls)
            draw_stripes(canvas, box, rising, box.width() / 3, [&](Point) { return &stripe; });
    if (!look.has_ground) canvas.outline(box, colour.faded(0.55f));
}

}  // namespace sawtooth
