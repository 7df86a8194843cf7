#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

#include "viz/marks.h"

// Draws heat maps: coloured cells with texts and frames, and the scale of colours.

namespace sawtooth {
namespace {

void write_lines(const Pen& pen, const Box& box, Colour colour, const std::vector<std::string>& lines) {
    const float line = pen.canvas.line_height();
    float y = box.middle() - line * (static_cast<float>(lines.size()) - 1) / 2;
    for (const std::string& text : lines) {
        pen.canvas.text({(box.left + box.right) / 2, y}, Align::centre, colour, text);
        y += line;
    }
}

std::string short_text(const std::string& text) { return text.substr(0, text.find(", ")); }
std::string number_of(const std::string& text) { return text.substr(0, text.find(' ')); }

// What is written into the cells with a value: whatever fits into all of them.
enum class Written { text, number, nothing };

// The lines in a cell: its text, or if that is too wide the part before the first comma; below it the badge
// and the names of the frames of the cell.
std::vector<std::string> lines_of_value(const Pen& pen, const HeatMap& map, Written written, int64_t row,
                                        int64_t column, float width, size_t most) {
    if (most == 0) return {};
    const auto cell = static_cast<size_t>(row * map.columns + column);
    const std::string& text = map.texts[cell];
    std::vector<std::string> lines = {written == Written::number             ? number_of(text)
                                      : pen.canvas.text_width(text) <= width ? text
                                                                             : short_text(text)};
    const auto add = [&](const std::string& more) {
        if (!more.empty() && lines.size() < most && pen.canvas.text_width(more) <= width)
            lines.push_back(more);
    };
    if (!map.unstable.empty()) add(map.unstable[cell]);
    for (const HeatMap::Framed& framed : map.framed)
        if (framed.row == row && framed.column == column) add(framed.label);
    return lines;
}

bool is_small(const Pen& pen, const Box& cell) { return cell.height() < 1.5f * pen.canvas.line_height(); }

// The frame with that index; frames of the same cell lie inside each other.
Box frame_of(const Pen& pen, const HeatMap& map, size_t index) {
    const HeatMap::Framed& cell = map.framed[index];
    const auto before = std::count_if(
        map.framed.begin(), map.framed.begin() + static_cast<std::ptrdiff_t>(index),
        [&](const HeatMap::Framed& other) { return other.row == cell.row && other.column == cell.column; });
    const Box box = cell_box(pen, map, cell.row, cell.column);
    const float apart = is_small(pen, box) ? 3 : 4;
    const float inset = (2 + apart * static_cast<float>(before)) * pen.canvas.unit();
    return {box.left + inset, box.top + inset, box.right - inset, box.bottom - inset};
}

float widest_word(const Canvas& canvas, const std::string& text) {
    float widest = 0;
    std::istringstream words(text);
    for (std::string word; words >> word;) widest = std::max(widest, canvas.text_width(word));
    return widest;
}

// The room for a text within the frames of the cell.
float width_inside(const Pen& pen, const HeatMap& map, int64_t row, int64_t column) {
    float width = cell_box(pen, map, row, column).width() - 2 * pen.canvas.unit();
    for (size_t i = 0; i < map.framed.size(); ++i)
        if (map.framed[i].row == row && map.framed[i].column == column)
            width = frame_of(pen, map, i).width() - 5 * pen.canvas.unit();
    return width;
}

// Returns whether the texts of all cells with a value, or of all cells without one, fit. A few texts among
// empty cells would look as if they were special.
template <class WidthOf>
bool all_fit(const Pen& pen, const HeatMap& map, bool with_value, WidthOf width_of) {
    for (int64_t row = 0; row < map.rows; ++row)
        for (int64_t column = 0; column < map.columns; ++column) {
            const auto cell = static_cast<size_t>(row * map.columns + column);
            if (std::isnan(map.values[cell]) != with_value &&
                width_of(map.texts[cell]) > width_inside(pen, map, row, column))
                return false;
        }
    return true;
}

Written written_in(const Pen& pen, const HeatMap& map) {
    const auto fit = [&](auto part_of) {
        return all_fit(pen, map, true,
                       [&](const std::string& text) { return pen.canvas.text_width(part_of(text)); });
    };
    if (fit(short_text)) return Written::text;
    // All numbers then have the same unit.
    return map.best && fit(number_of) ? Written::number : Written::nothing;
}

void draw_texts(const Pen& pen, const HeatMap& map) {
    const ColourScale colours = colour_scale(map);
    const float inset = 7 * pen.canvas.unit();
    const Written written = written_in(pen, map);
    const bool writes_reasons =
        all_fit(pen, map, false, [&](const std::string& text) { return widest_word(pen.canvas, text); });
    for (int64_t row = 0; row < map.rows; ++row)
        for (int64_t column = 0; column < map.columns; ++column) {
            const auto cell = static_cast<size_t>(row * map.columns + column);
            const std::string& text = map.texts[cell];
            if (text.empty()) continue;
            const double value = map.values[cell];
            const Box box = cell_box(pen, map, row, column);
            const float width = width_inside(pen, map, row, column);
            const auto most = static_cast<size_t>(std::max(box.height() / pen.canvas.line_height(), 0.0f));
            if (std::isnan(value)) {
                draw_kind(pen.canvas, pen.theme, box, {pen.theme.quiet}, KindMap::Pattern::hollow);
                if (!writes_reasons) continue;
                write_lines(pen, box, {pen.theme.text}, wrapped(pen.canvas, text, width, most));
                continue;
            }
            const uint32_t ink = ink_on(colours.colour_of(value));
            if (written != Written::nothing && pen.canvas.line_height() <= box.height())
                write_lines(pen, box, {ink}, lines_of_value(pen, map, written, row, column, width, most));
            if (!map.unstable.empty() && !map.unstable[cell].empty())
                draw_unstable_marker(pen.canvas, pen.theme, {box.right - inset, box.top + inset}, {ink});
        }
}

// The frames have an edge in the colour of the ground, as they may lie on any colour.
void draw_frames(const Pen& pen, const HeatMap& map) {
    for (size_t i = 0; i < map.framed.size(); ++i) {
        Stroke stroke = stroke_of(map.framed[i].ink, pen.theme);
        const Box box = frame_of(pen, map, i);
        stroke.width =
            is_small(pen, cell_box(pen, map, map.framed[i].row, map.framed[i].column)) ? 1.5f : 2.5f;
        draw_frame(pen.canvas, {{pen.theme.ground}, stroke.width + 2}, box);
        draw_frame(pen.canvas, stroke, box);
    }
}

}  // namespace

Box cell_box(const Pen& pen, const HeatMap& map, int64_t row, int64_t column) {
    const auto x_at = [&](int64_t index) {
        return pen.frame.at_x(map.x_low + (map.x_high - map.x_low) * static_cast<double>(index) /
                                              static_cast<double>(map.columns));
    };
    const auto y_at = [&](int64_t index) {
        return pen.frame.at_y(map.y_low + (map.y_high - map.y_low) * static_cast<double>(index) /
                                              static_cast<double>(map.rows));
    };
    return {x_at(column), y_at(row), x_at(column + 1), y_at(row + 1)};
}

std::optional<CellAt> cell_at(const Pen& pen, const HeatMap& map, Point at) {
    const double across = (pen.frame.x_at(at.x) - map.x_low) / (map.x_high - map.x_low);
    const double down = (pen.frame.y_at(at.y) - map.y_low) / (map.y_high - map.y_low);
    if (!(across >= 0 && across < 1 && down >= 0 && down < 1)) return {};
    return CellAt{static_cast<int64_t>(down * static_cast<double>(map.rows)),
                  static_cast<int64_t>(across * static_cast<double>(map.columns))};
}

void draw_frame(Canvas& canvas, const Stroke& stroke, const Box& box) {
    canvas.path(std::array<Point, 5>{{{box.left, box.top},
                                      {box.right, box.top},
                                      {box.right, box.bottom},
                                      {box.left, box.bottom},
                                      {box.left, box.top}}},
                stroke);
}

void draw(const Pen& pen, const HeatMap& map) {
    if (map.rows < 1 || map.columns < 1) return;
    const double per_column = (map.x_high - map.x_low) / static_cast<double>(map.columns);
    const auto column_at = [&](double x) {
        return static_cast<int64_t>(std::floor((x - map.x_low) / per_column));
    };
    const int64_t first = std::clamp<int64_t>(column_at(pen.frame.x.low), 0, map.columns - 1);
    const int64_t last = std::clamp<int64_t>(column_at(pen.frame.x.high) + 1, first + 1, map.columns);
    const double left = map.x_low + per_column * static_cast<double>(first);
    const double right = map.x_low + per_column * static_cast<double>(last);
    const Box box{pen.frame.at_x(left), pen.frame.at_y(map.y_low), pen.frame.at_x(right),
                  pen.frame.at_y(map.y_high)};

    // Cells have at least two units: smaller ones cost time and file size, and cannot be distinguished.
    const auto most = [&](float pixels) {
        return std::clamp<int64_t>(static_cast<int64_t>(pixels / (2 * pen.canvas.unit())), 1, 256);
    };
    pen.canvas.cells(box, reduced(map, first, last, most(std::fabs(box.height())), most(box.width())),
                     colour_scale(map));
    if (!map.texts.empty()) draw_texts(pen, map);
    draw_frames(pen, map);
}

void draw_colour_bar(const Pen& pen, const Figure& figure) {
    for (const Mark& mark : figure.marks) {
        const HeatMap* map = std::get_if<HeatMap>(&mark);
        if (!map) continue;
        const ColourScale colours = colour_scale(*map);
        const float unit = pen.canvas.unit(), line = pen.canvas.line_height();
        const float left = pen.frame.box.right + 12 * unit;
        Frame scale;
        scale.box = {left, pen.frame.box.top, left + 12 * unit, pen.frame.box.bottom};
        const bool logarithmic = (colours.logarithmic || colours.from_best) && colours.low > 0;
        scale.scale_y = logarithmic ? Scale::log10 : Scale::linear;
        scale.y_bottom = colours.low, scale.y_top = colours.high;
        constexpr int steps = 64;
        CellGrid grid{steps, 1, {}};
        for (int step = 0; step < steps; ++step)
            grid.values.push_back(
                scale.y_at(scale.box.top + scale.box.height() * (static_cast<float>(step) + 0.5f) / steps));
        pen.canvas.cells(scale.box, grid, colours);
        const int most = std::clamp(static_cast<int>(scale.box.height() / (2 * line)), 2, 6);
        for (const Tick& tick : ticks_of_colours(*map, most))
            pen.canvas.text({scale.box.right + 6 * unit, scale.at_y(tick.value)}, Align::left,
                            {pen.theme.text}, tick.text);
        if (map->label == figure.title && map->unit.empty()) return;  // the title says it
        const std::string name = elided(
            pen.canvas, colours.from_best ? map->label + " / shortest" : name_of(map->label, map->unit),
            pen.frame.box.width());
        pen.canvas.text({scale.box.right + 6 * unit, scale.box.top - line / 2 - 4 * unit}, Align::right,
                        {pen.theme.quiet_text}, name);
        return;
    }
}

}  // namespace sawtooth
