#include "viz/imgui/readout.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "viz/imgui/canvas_imgui.h"
#include "viz/imgui/tracks_imgui.h"
#include "viz/marks.h"

namespace sawtooth {
namespace {

constexpr float widest_value = 24;  // in font heights; longer text is wrapped

std::string text_on(const Axis& axis, double value) {
    const auto index = std::llround(value);
    if (index >= 0 && static_cast<size_t>(index) < axis.categories.size())
        return axis.categories[static_cast<size_t>(index)];
    return place_words(value, axis.unit);
}

// The whole numbers inside the cell at `at`, one of `count` cells from low to high: "12", "12 to 15".
std::string cell_words(const Axis& axis, double at, double low, double high, int64_t count) {
    const double width = (high - low) / static_cast<double>(count), index = std::floor((at - low) / width);
    const double first = std::ceil(low + index * width), last = std::ceil(low + (index + 1) * width) - 1;
    if (!axis.categories.empty() || first > last) return text_on(axis, at);
    return (first < last ? readout_number(first) + " to " : "") + readout_words(last, axis.unit);
}

struct Readout {
    const Pen& pen;
    const Figure& figure;
    const DescribeSpan& describe_span;
    Point mouse;
    std::vector<ReadoutRow>& said;
    double x = pen.frame.x_at(mouse.x), y = pen.frame.y_at(mouse.y);
    bool said_x = false;

    void row(const std::string& name, const std::string& value) { said.push_back({name, value}); }
    void row(const Line& line, const std::string& name, const std::string& value) {
        said.push_back({name, value, stroke_of_line(pen.theme, line)});
    }

    void say_x(double at) { say_x(text_on(figure.x, at)); }
    void say_x(const std::string& words) {
        if (said_x) return;
        row(figure.x.label.empty() ? "x" : figure.x.label, words);
        said_x = true;
    }

    // The values of the point under the mouse, if it is one of these.
    void read_point(const Line& line) {
        float least = 8 * pen.canvas.unit();
        std::optional<size_t> nearest;
        for (size_t i = 0; i < line.x.size(); ++i) {
            if (std::isnan(line.x[i]) || std::isnan(line.y[i])) continue;
            const Point at = pen.frame.at(line.x[i], line.y[i]);
            const float distance = std::hypot(at.x - mouse.x, at.y - mouse.y);
            if (distance < least) least = distance, nearest = i;
        }
        if (!nearest) return;
        const std::string words = readout_words(line.x[*nearest], figure.x.unit);
        row(line, line.label.empty() ? text_on(figure.y, line.y[*nearest]) : label_of_point(line, *nearest),
            figure.y.categories.empty() ? words + ", " + readout_words(line.y[*nearest], figure.y.unit)
                                        : words);
    }

    void operator()(const Line& line) {
        if (!line.joined) return read_point(line);
        size_t nearest = line.x.size();
        double best = std::numeric_limits<double>::infinity();
        const double here = place_of(pen.frame.scale_x, x);
        for (size_t i = 0; i < line.x.size(); ++i) {
            const double distance = std::fabs(place_of(pen.frame.scale_x, line.x[i]) - here);
            if (distance < best) best = distance, nearest = i;
        }
        if (nearest == line.x.size()) return;
        say_x(line.x[nearest]);
        const double value = line.y[nearest];
        std::string words = std::isnan(value)             ? "none"
                            : figure.y.categories.empty() ? readout_words(value, figure.y.unit)
                                                          : text_on(figure.y, value);
        if (nearest < line.unstable.size() && !line.unstable[nearest].empty())
            words += ", " + line.unstable[nearest];
        if (nearest < line.wrong.size() && !line.wrong[nearest].empty()) words += ", " + line.wrong[nearest];
        row(line, line.label, words);
    }
    void operator()(const Bars& bars) {
        const auto index = std::llround(y);
        if (index < 0 || static_cast<size_t>(index) >= bars.bars.size()) return;
        const Bar& bar = bars.bars[static_cast<size_t>(index)];
        row(text_on(figure.y, static_cast<double>(index)), bar.text);
        for (const Bar::Segment& segment : bar.segments)
            row(segment.label, readout_words(segment.length, figure.x.unit));
        if (bar.tick) row(bar.tick->label, readout_words(bar.tick->length, figure.x.unit));
        if (bar.low && bar.high)
            row("between",
                readout_words(*bar.low, figure.x.unit) + " and " + readout_words(*bar.high, figure.x.unit));
    }
    void operator()(const HeatMap& map) {
        const auto at = cell_at(pen, map, mouse);
        if (!at) return;
        const auto cell = static_cast<size_t>(at->row * map.columns + at->column);
        say_x(cell_words(figure.x, x, map.x_low, map.x_high, map.columns));
        row(figure.y.label, cell_words(figure.y, y, map.y_low, map.y_high, map.rows));
        const std::string text = map.texts.empty() ? "" : map.texts[cell];
        const double value = map.values[cell];
        std::string words = std::isnan(value) ? "no value" : readout_words(value, map.unit);
        if (!text.empty()) words = std::isnan(value) ? text : words + " (" + text + ")";
        if (map.best && !std::isnan(value))
            words = readout_words(value, map.unit) + ", " + fmt::format("{:.3g}", value / *map.best) +
                    "x the shortest";
        if (cell < map.unstable.size() && !map.unstable[cell].empty()) words += ", " + map.unstable[cell];
        for (const HeatMap::Framed& framed : map.framed)
            if (framed.row == at->row && framed.column == at->column) words += ", " + framed.label;
        row(map.label, words);
    }
    // A map with a single row names the cells of the whole plot.
    void operator()(const KindMap& map) {
        const size_t rows = map.row_names.size(), columns = map.column_names.size();
        const double across = (x - map.x_low) / (map.x_high - map.x_low),
                     down = rows == 1 ? 0 : (y - map.y_low) / (map.y_high - map.y_low);
        if (rows == 0 || !(across >= 0 && across < 1 && down >= 0 && down < 1)) return;
        const auto r = static_cast<size_t>(down * static_cast<double>(rows));
        const auto c = static_cast<size_t>(across * static_cast<double>(columns));
        row(map.label, map.kinds[static_cast<size_t>(map.kind_at(r, c))].label);
        if (!map.row_names[r].empty()) row(figure.y.label, map.row_names[r]);
        row(figure.x.label, map.column_names[c]);
        said_x = true;
    }
    void operator()(const Tracks& tracks) {
        const auto index = std::llround(y);
        if (index < 0 || static_cast<size_t>(index) >= tracks.tracks.size()) return;
        const Tracks::Track& track = tracks.tracks[static_cast<size_t>(index)];
        const double time = x;
        say_x(time);
        if (const auto under = span_under(pen, figure, mouse)) {
            const Tracks::Span& span = *under->span;
            row(span.label, readout_words(span.end - span.start, figure.x.unit));
            row("from",
                place_words(span.start, figure.x.unit) + " to " + place_words(span.end, figure.x.unit));
            if (describe_span)
                for (const auto& [name, value] : describe_span(track, span)) row(name, value);
            if (describe_span) row("a click", "selects the launch; Shift+drag measures a range of time");
            return;
        }
        if (track.x.empty()) {
            row(track.label, "idle");
            return;
        }
        const auto after = std::upper_bound(track.x.begin(), track.x.end(), time);
        if (after != track.x.begin())
            row(track.label,
                readout_words(track.y[static_cast<size_t>(after - track.x.begin()) - 1], track.unit));
    }
    template <class Other>
    void operator()(const Other&) {}
};

// Draws the stroke of a line, as in the legend, in front of its name.
void draw_sample(const Stroke& stroke) {
    ImGuiCanvas canvas(ImGui::GetWindowDrawList());
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float width = 24 * canvas.unit(), y = at.y + ImGui::GetTextLineHeight() / 2;
    canvas.path(std::array<Point, 2>{{{at.x, y}, {at.x + width, y}}}, stroke);
    canvas.marker(stroke.marker, {at.x + width / 2, y}, 3.5f * canvas.unit(), stroke.colour);
    ImGui::Dummy({width, ImGui::GetTextLineHeight()});
    ImGui::SameLine();
}

void draw_row(const ReadoutRow& row) {
    ImGui::TableNextRow();
    ImGui::TableNextColumn();
    if (row.stroke) draw_sample(*row.stroke);
    ImGui::TextUnformatted(row.name.c_str());
    ImGui::TableNextColumn();
    ImGui::PushTextWrapPos(ImGui::GetCursorPosX() + widest_value * ImGui::GetFontSize());
    ImGui::TextUnformatted(row.value.c_str());
    ImGui::PopTextWrapPos();
}

}  // namespace

std::vector<ReadoutRow> readout_rows(const Pen& pen, const Figure& figure, Point mouse,
                                     const DescribeSpan& describe_span, const std::string& click) {
    std::vector<ReadoutRow> rows;
    Readout readout{pen, figure, describe_span, mouse, rows};
    for (const Mark& mark : figure.marks) std::visit(readout, mark);
    if (!click.empty()) rows.push_back({"a click", click});
    return rows;
}

std::vector<ReadoutRow> readout_rows(const Canvas& canvas, const Figure& figure, const Matrix& matrix,
                                     const Box& area, Point mouse) {
    const MatrixPlace place = place_of(canvas, figure, matrix, area);
    if (!place.cells.contains(mouse)) return {};
    const auto r = static_cast<size_t>((mouse.y - place.cells.top) / place.cell_height);
    const auto c = static_cast<size_t>((mouse.x - place.cells.left) / place.cell_width);
    const size_t cell = r * place.columns + c;
    if (c >= place.columns || cell >= matrix.cells.size()) return {};
    const auto name = [](const std::vector<std::string>& names, size_t index) {
        return index < names.size() ? names[index] : std::to_string(index);
    };
    std::vector<ReadoutRow> rows{
        {figure.y.label.empty() ? "row" : figure.y.label, name(matrix.row_labels, r)},
        {figure.x.label.empty() ? "column" : figure.x.label, name(matrix.column_labels, c)}};
    const int kind = matrix.cells[cell];
    if (kind >= 0 && static_cast<size_t>(kind) < matrix.kinds.size())
        rows.push_back({matrix.kinds[static_cast<size_t>(kind)].label,
                        cell < matrix.texts.size() ? matrix.texts[cell] : ""});
    return rows;
}

void draw_readout(const std::vector<ReadoutRow>& rows) {
    if (rows.empty() || !ImGui::BeginTooltip()) return;
    if (ImGui::BeginTable("readout", 2, ImGuiTableFlags_SizingFixedFit)) {
        for (const ReadoutRow& row : rows) draw_row(row);
        ImGui::EndTable();
    }
    ImGui::EndTooltip();
}

}  // namespace sawtooth
