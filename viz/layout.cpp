#include "viz/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sawtooth {
namespace {

constexpr float pad = 4;                // in units, between elements
constexpr float colour_bar_width = 12;  // in units
constexpr double share_of_names = 0.4;  // largest share of the width for names of rows
constexpr double most_of_names = 0.6;   // the same with bars, if bars and texts keep enough room
constexpr float shortest_bar = 48;      // in units: the longest bar beside long names
constexpr double share_beside = 0.22;   // largest share of the width for labels of horizontal rules
constexpr size_t rows_above = 3;

// The rules that have a label of their own; rules that share a label are in the legend.
std::vector<const Rule*> labelled_rules(const Figure& figure, Rule::Across across) {
    std::vector<const Rule*> found;
    for (const Mark& mark : figure.marks)
        if (const Rule* rule = std::get_if<Rule>(&mark))
            if (rule->across == across && !rule->label.empty() && !is_repeated(figure, *rule))
                found.push_back(rule);
    return found;
}

const HeatMap* heat_map_of(const Figure& figure) {
    for (const Mark& mark : figure.marks)
        if (const HeatMap* map = std::get_if<HeatMap>(&mark)) return map;
    return nullptr;
}

float room_beside(const Canvas& canvas, const Figure& figure, float width) {
    float room = 0;
    const float most = static_cast<float>(width * share_beside);
    for (const Rule* rule : labelled_rules(figure, Rule::Across::y))
        for (const std::string& line : wrapped(canvas, rule->label, most, 3))
            room = std::max(room, canvas.text_width(line) + 2 * pad * canvas.unit());
    if (const HeatMap* map = heat_map_of(figure)) {
        float widest = canvas.text_width("0");
        for (int most = 2; most <= 6; ++most)  // the number depends on the height, which is not known yet
            for (const Tick& tick : ticks_of_colours(*map, most))
                widest = std::max(widest, canvas.text_width(tick.text));
        room = std::max(room, widest + (colour_bar_width + 5 * pad) * canvas.unit());
    }
    for (const Mark& mark : figure.marks)
        if (const Tracks* tracks = std::get_if<Tracks>(&mark))
            if (std::any_of(tracks->tracks.begin(), tracks->tracks.end(), has_scale))
                room = std::max(room, canvas.text_width("100 %") + 2 * pad * canvas.unit());
    return room;
}

// Returns whether the texts of neighbouring ticks are at least `room` apart.
bool stand_apart(const Canvas& canvas, Scale scale, Range range, float pixels, bool horizontal,
                 const std::vector<Tick>& ticks, float room) {
    const double low = place_of(scale, range.low), high = place_of(scale, range.high);
    for (size_t i = 1; i < ticks.size(); ++i) {
        const double share =
            (place_of(scale, ticks[i].value) - place_of(scale, ticks[i - 1].value)) / (high - low);
        const float texts =
            horizontal ? (canvas.text_width(ticks[i - 1].text) + canvas.text_width(ticks[i].text)) / 2
                       : canvas.line_height();
        if (static_cast<float>(share) * pixels < texts + room) return false;
    }
    return true;
}

// The axis; for a heat map with a cell for every whole number, an axis of whole numbers.
Axis with_cells(Axis axis, const Figure& figure, bool is_x) {
    const HeatMap* const map = heat_map_of(figure);
    if (!map) return axis;
    const auto cells = static_cast<double>(is_x ? map->columns : map->rows);
    const double extent = is_x ? map->x_high - map->x_low : map->y_high - map->y_low;
    axis.whole = axis.whole || std::fabs(extent) == cells;
    return axis;
}

// The largest number of ticks that are well apart, or closer if only so there are three; `levels`: of a tree.
std::vector<Tick> fitting_ticks(const Canvas& canvas, const Axis& axis, Range range, float pixels,
                                bool horizontal, bool levels) {
    int densest = std::max(3, static_cast<int>(pixels / (16 * canvas.unit())));
    if (levels || (axis.whole && axis.scale == Scale::linear))
        densest = std::clamp(static_cast<int>(range.high - range.low), 2, densest);
    const float wide = horizontal && axis.scale == Scale::linear ? 28 : 10, narrow = horizontal ? 6 : -3;
    std::vector<Tick> found;
    for (const float room : {wide, narrow}) {
        for (int most = densest; most >= 2; --most) {
            found = ticks(axis, range, most);
            if (stand_apart(canvas, axis.scale, range, pixels, horizontal, found, room * canvas.unit()))
                break;
        }
        if (found.size() >= 3) break;
    }
    return found;
}

// Names along an axis, thinned so that they are apart.
std::vector<Tick> name_ticks(const Canvas& canvas, const std::vector<std::string>& names, float pixels) {
    float need = canvas.line_height();
    for (const std::string& name : names) need = std::max(need, canvas.text_width(name));
    need += 3 * pad * canvas.unit();
    const float room = pixels / static_cast<float>(std::max<size_t>(names.size(), 1));
    const size_t every = std::max<size_t>(1, static_cast<size_t>(std::ceil(need / std::max(room, 1.0f))));
    std::vector<Tick> found;
    for (size_t i = 0; i < names.size(); i += every)
        found.push_back({static_cast<double>(i), elided(canvas, names[i], pixels)});
    return found;
}

// Returns whether the row has the bar of a pin, which is below the one that it belongs to.
bool is_ghost_row(const Figure& figure, size_t row) {
    return std::any_of(figure.marks.begin(), figure.marks.end(), [&](const Mark& mark) {
        const Bars* const bars = std::get_if<Bars>(&mark);
        return bars && row < bars->bars.size() && bars->bars[row].ink.ghost > 0;
    });
}

// The rows that need a name: all that have one, except bars of pins, and a single curve below its spans,
// which already name it.
std::vector<size_t> rows_to_name(const Figure& figure) {
    std::vector<size_t> rows;
    if (!figure.y.categories.empty()) {
        for (size_t i = 0; i < figure.y.categories.size(); ++i)
            if (!figure.y.categories[i].empty() && !is_ghost_row(figure, i)) rows.push_back(i);
        return rows;
    }
    size_t row = 0;
    for (const Mark& mark : figure.marks) {
        const Tracks* tracks = std::get_if<Tracks>(&mark);
        if (!tracks) continue;
        const auto is_curve = [&](size_t i) {
            return i < tracks->tracks.size() && !tracks->tracks[i].x.empty();
        };
        for (size_t i = 0; i < tracks->tracks.size(); ++i, ++row)
            if (i == 0 || !is_curve(i) || is_curve(i - 1) || is_curve(i + 1)) rows.push_back(row);
    }
    return rows;
}

// The minimum height of a row at which the names of these rows are apart.
float least_pitch(const Canvas& canvas, const std::vector<size_t>& rows) {
    size_t nearest = 1000;
    for (size_t i = 1; i < rows.size(); ++i) nearest = std::min(nearest, rows[i] - rows[i - 1]);
    return canvas.line_height() * 0.86f / static_cast<float>(nearest);
}

// The names of all rows if these are apart, otherwise of the rows that need one, otherwise a thinned
// selection.
std::vector<Tick> row_ticks(const Canvas& canvas, const Figure& figure, const std::vector<std::string>& names,
                            float pixels, float widest_allowed) {
    const float pitch = pixels / static_cast<float>(std::max<size_t>(names.size(), 1));
    std::vector<size_t> rows(names.size());
    std::iota(rows.begin(), rows.end(), size_t{0});
    if (pitch < least_pitch(canvas, rows)) rows = rows_to_name(figure);
    const auto every = static_cast<size_t>(
        std::max(1.0f, std::ceil(least_pitch(canvas, rows) * 0.99f / std::max(pitch, 1.0f))));
    std::vector<Tick> found;
    for (size_t i = 0; i < rows.size(); i += every)
        found.push_back({static_cast<double>(rows[i]), elided(canvas, names[rows[i]], widest_allowed)});
    return found;
}

void set_x_ticks(const Canvas& canvas, const Figure& figure, Layout& layout) {
    const Frame& frame = layout.frame;
    if (!figure.x.categories.empty()) {
        layout.x_ticks = name_ticks(canvas, figure.x.categories, frame.box.width());
        layout.x_name = name_of(figure.x);
        return;
    }
    // Beyond the maximum there is only room for the texts of bars.
    const Range range{frame.x.low, std::min(frame.x.high, figure.x.maximum.value_or(frame.x.high))};
    const float width = frame.at_x(range.high) - frame.box.left;
    layout.x_ticks =
        fitting_ticks(canvas, with_cells(figure.x, figure, true), range, width, true, has_tree(figure));
    layout.x_name = name_of(figure.x, range);
}

// The largest sample of the curve; absent if none is a number.
std::optional<double> largest_sample(const Tracks::Track& track) {
    std::optional<double> largest;
    for (const double value : track.y)
        if (std::isfinite(value) && !(largest && *largest >= value)) largest = value;
    return largest;
}

// The name of a track. A curve fills its row, so its name includes the scale: "warps (max 12 per SM)"; a
// curve in percent fills the row at 100.
std::string name_of_track(const Tracks::Track& track) {
    const auto most = largest_sample(track);
    const bool says_number = has_scale(track) && track.label.ends_with("%");  // as in "utilisation 57 %"
    if (!most || track.unit.empty() || says_number) return track.label;
    return fmt::format("{} (max {:.3g} {})", track.label, *most, track.unit);
}

// The largest width of names of rows: with bars, names may take the room that the bars do not need.
float room_of_names(const Canvas& canvas, const Figure& figure, float width) {
    const auto least = static_cast<float>(width * share_of_names);
    float needed = width;
    for (const Mark& mark : figure.marks)
        if (const Bars* bars = std::get_if<Bars>(&mark)) {
            float texts = 0;
            for (const Bar& bar : bars->bars) texts = std::max(texts, canvas.text_width(bar.text));
            needed = texts + (shortest_bar + 8 * pad) * canvas.unit();
        }
    return std::clamp(width - needed, least, static_cast<float>(width * most_of_names));
}

// The room that the x axis takes at its edge; negative at the bottom.
float room_of_axis(const Canvas& canvas, const Figure& figure) {
    const float line = canvas.line_height(), gap = pad * canvas.unit();
    if (has_axis_on_top(figure)) return line;  // its name is in the column of names
    return -(line + 2 * gap + (name_of(figure.x).empty() ? 0 : line + gap));
}

// Raises the upper end of x until the text after every bar fits in the plot.
void make_room_for_bar_texts(const Canvas& canvas, const Figure& figure, Frame& frame) {
    const double width = std::max(1.0f, frame.box.width()), low = place_of(frame.scale_x, frame.x.low);
    double high = place_of(frame.scale_x, frame.x.high);
    for (const Mark& mark : figure.marks) {
        const Bars* bars = std::get_if<Bars>(&mark);
        if (!bars) continue;
        std::vector<bool> has_text(bars->bars.size());
        for (const size_t row : rows_with_text(canvas, frame, *bars)) has_text[row] = true;
        for (size_t row = 0; row < bars->bars.size(); ++row) {
            const Bar& bar = bars->bars[row];
            double end = length_of(bar);
            end = std::max(end, std::min(bar.high.value_or(end), 1.25 * end));
            if (bars->most) end = std::min(end, *bars->most);
            if (bar.tick) end = std::max(end, bar.tick->length);
            const std::string text = bar.text + (bar.badge.empty() ? "" : "   " + bar.badge);
            const double need =
                text.empty() || !has_text[row] ? pad : canvas.text_width(text) + 4 * pad * canvas.unit();
            const double length = std::max(0.0, place_of(frame.scale_x, end) - low);
            high = std::max(high, low + length * width / (width - std::min(need, width * 0.7)));
        }
    }
    frame.x.high = value_at(frame.scale_x, high);
}

// Moves the upper end of y until the text of the first bar fits, because remarks below bars make rows low.
void make_room_for_first_bar(const Canvas& canvas, const Figure& figure, Frame& frame) {
    const bool has_bars = std::any_of(figure.marks.begin(), figure.marks.end(),
                                      [](const Mark& mark) { return std::holds_alternative<Bars>(mark); });
    // Share of the plot above the first bar.
    const double share = canvas.line_height() / 2 / frame.box.height();
    const bool lacks = frame.at_y(0) - frame.box.top < canvas.line_height() / 2;
    if (has_bars && lacks && share < 0.5) frame.y_top = -share * frame.y_bottom / (1 - share);
}

}  // namespace

std::vector<size_t> rows_with_text(const Canvas& canvas, const Frame& frame, const Bars& bars) {
    const float pitch = std::fabs(frame.at_y(1) - frame.at_y(0)), need = 0.8f * canvas.line_height();
    std::vector<size_t> rows(bars.bars.size());
    std::iota(rows.begin(), rows.end(), size_t{0});
    const auto fit = [&] {
        for (size_t i = 1; i < rows.size(); ++i)
            if (pitch * static_cast<float>(rows[i] - rows[i - 1]) < need) return false;
        return true;
    };
    if (fit()) return rows;
    std::erase_if(rows, [&](size_t row) { return bars.bars[row].segments.empty(); });
    if (fit()) return rows;
    std::erase_if(rows, [&](size_t row) { return bars.bars[row].ink.ghost > 0; });
    return fit() ? rows : std::vector<size_t>();
}

bool is_repeated(const Figure& figure, const Rule& rule) {
    return std::count_if(figure.marks.begin(), figure.marks.end(), [&](const Mark& mark) {
               const Rule* other = std::get_if<Rule>(&mark);
               return other && other->label == rule.label && other->across == rule.across;
           }) > 1;
}

Point Frame::at(double x, double y) const { return {at_x(x), at_y(y)}; }

float Frame::at_x(double value) const {
    const double low = place_of(scale_x, x.low), high = place_of(scale_x, x.high);
    const double share = (place_of(scale_x, value) - low) / (high - low);
    return static_cast<float>(std::clamp(box.left + share * box.width(), -1e6, 1e6));
}

float Frame::at_y(double value) const {
    const double bottom = place_of(scale_y, y_bottom), top = place_of(scale_y, y_top);
    const double share = (place_of(scale_y, value) - bottom) / (top - bottom);
    return static_cast<float>(std::clamp(box.bottom - share * box.height(), -1e6, 1e6));
}

double Frame::x_at(float pixel) const {
    const double low = place_of(scale_x, x.low), high = place_of(scale_x, x.high);
    return value_at(scale_x, low + (high - low) * (pixel - box.left) / box.width());
}

double Frame::y_at(float pixel) const {
    const double bottom = place_of(scale_y, y_bottom), top = place_of(scale_y, y_top);
    return value_at(scale_y, bottom + (top - bottom) * (box.bottom - pixel) / box.height());
}

bool has_scale(const Tracks::Track& track) { return !track.x.empty() && track.unit == "%"; }

double highest(const Tracks::Track& track) {
    const double most = std::max(track.unit == "%" ? 100.0 : 0.0, largest_sample(track).value_or(0));
    return most > 0 ? most : 1;
}

std::vector<std::string> row_names(const Figure& figure) {
    if (!figure.y.categories.empty()) return figure.y.categories;
    std::vector<std::string> names;
    for (const Mark& mark : figure.marks)
        if (const Tracks* tracks = std::get_if<Tracks>(&mark))
            for (const Tracks::Track& track : tracks->tracks) names.push_back(name_of_track(track));
    return names;
}

bool has_tree(const Figure& figure) {
    return std::any_of(figure.marks.begin(), figure.marks.end(),
                       [](const Mark& mark) { return std::holds_alternative<Tree>(mark); });
}

bool has_arrows(const Figure& figure) {
    return std::any_of(figure.marks.begin(), figure.marks.end(), [](const Mark& mark) {
        const Tree* const tree = std::get_if<Tree>(&mark);
        return tree && std::any_of(tree->edges.begin(), tree->edges.end(),
                                   [](const Tree::Edge& edge) { return edge.arrow; });
    });
}

bool has_axis_on_top(const Figure& figure) {
    return std::any_of(figure.marks.begin(), figure.marks.end(),
                       [](const Mark& mark) { return std::holds_alternative<Tracks>(mark); });
}

const Matrix* matrix_of(const Figure& figure) {
    for (const Mark& mark : figure.marks)
        if (const Matrix* matrix = std::get_if<Matrix>(&mark)) return matrix;
    return nullptr;
}

bool is_zoomable(const Figure& figure) {
    if (!figure.x.categories.empty()) return false;
    return std::none_of(figure.marks.begin(), figure.marks.end(), [](const Mark& mark) {
        return std::holds_alternative<Bars>(mark) || std::holds_alternative<Matrix>(mark) ||
               std::holds_alternative<Tree>(mark);
    });
}

std::vector<RuleLabel> rule_labels(const Canvas& canvas, const Figure& figure, const Frame& frame,
                                   const Layout& layout) {
    std::vector<RuleLabel> placed;
    const float line = canvas.line_height(), gap = pad * canvas.unit();

    auto vertical = labelled_rules(figure, Rule::Across::x);
    std::erase_if(vertical,
                  [&](const Rule* rule) { return rule->at < frame.x.low || rule->at > frame.x.high; });
    std::sort(vertical.begin(), vertical.end(), [](const Rule* a, const Rule* b) { return a->at < b->at; });
    std::vector<float> ends(rows_above, -1e9f);
    for (const Rule* rule : vertical) {
        const std::string text = elided(canvas, rule->label, frame.box.width() + layout.before);
        const float width = canvas.text_width(text);
        const float rightmost = frame.box.right - width;
        const float left = std::min(std::max(frame.at_x(rule->at) - width / 2, frame.box.left), rightmost);
        for (size_t row = 0; row < rows_above; ++row) {
            if (left < ends[row] + 2 * gap) continue;
            ends[row] = left + width;
            const float bottom = frame.box.top - gap / 2 - static_cast<float>(row) * line;
            placed.push_back({rule, {text}, {left, bottom - line, left + width, bottom}});
            break;
        }
    }

    auto horizontal = labelled_rules(figure, Rule::Across::y);
    std::sort(horizontal.begin(), horizontal.end(),
              [&](const Rule* a, const Rule* b) { return frame.at_y(a->at) < frame.at_y(b->at); });
    const size_t first = placed.size();
    float end = -1e9f;
    for (const Rule* rule : horizontal) {
        const float left = frame.box.right + gap;
        const auto lines = wrapped(canvas, rule->label, layout.beside - 2 * gap + 1, 3);
        const float height = line * static_cast<float>(lines.size());
        const float top =
            std::max(end, std::clamp(frame.at_y(rule->at) - height / 2, frame.box.top - line / 2,
                                     frame.box.bottom + line / 2 - height));
        end = top + height + gap / 2;
        placed.push_back({rule, lines, {left, top, left + layout.beside, top + height}});
    }
    // Labels that are pushed below the plot push the others up.
    float limit = frame.box.bottom + line / 4;
    for (size_t i = placed.size(); i-- > first;) {
        Box& box = placed[i].box;
        const float up = std::max(0.0f, box.bottom - limit);
        box.top -= up, box.bottom -= up;
        limit = box.top - gap / 2;
    }
    return placed;
}

Layout lay_out(const Canvas& canvas, const Figure& figure, const Box& area, std::optional<Range> visible) {
    const float unit = canvas.unit(), gap = pad * unit, line = canvas.line_height();
    Layout layout;
    layout.area = area;
    layout.beside = room_beside(canvas, figure, area.width());

    if (!visible && figure.x.in_sight) visible = Range{figure.x.minimum.value_or(0), *figure.x.in_sight};
    const Bounds bounds = bounds_of(figure, visible);
    Frame& frame = layout.frame;
    frame.scale_x = figure.x.categories.empty() ? figure.x.scale : Scale::linear;
    const auto rows = row_names(figure);
    frame.scale_y = rows.empty() ? figure.y.scale : Scale::linear;
    frame.x = bounds.x;
    frame.y_bottom = bounds.downwards ? bounds.y.high : bounds.y.low;
    frame.y_top = bounds.downwards ? bounds.y.low : bounds.y.high;
    frame.box = area;
    (has_axis_on_top(figure) ? frame.box.top : frame.box.bottom) += room_of_axis(canvas, figure);
    frame.box.bottom = std::max(frame.box.bottom, frame.box.top + line);

    const float most = room_of_names(canvas, figure, area.width());
    layout.x_name = name_of(figure.x, bounds.x);
    layout.y_name = rows.empty() ? name_of(figure.y, bounds.y) : name_of(figure.y);
    layout.y_ticks = rows.empty() ? fitting_ticks(canvas, with_cells(figure.y, figure, false), bounds.y,
                                                  frame.box.height(), false, has_tree(figure))
                                  : row_ticks(canvas, figure, rows, frame.box.height(), most);
    float widest = 0;
    for (const Tick& tick : layout.y_ticks) widest = std::max(widest, canvas.text_width(tick.text));
    if (has_axis_on_top(figure))
        layout.indent = std::max(0.0f, canvas.text_width(layout.x_name) + 3 * gap - widest);
    frame.box.left += layout.indent + widest + 2 * gap + (layout.y_name.empty() ? 0 : line + gap);
    if (!rows.empty()) layout.before = frame.box.left - area.left;
    frame.box.right -= std::max(layout.beside, 3 * gap);

    make_room_for_bar_texts(canvas, figure, frame);
    for (const RuleLabel& label : rule_labels(canvas, figure, frame, layout))
        if (label.rule->across == Rule::Across::x)
            layout.above = std::max(layout.above, frame.box.top - label.box.top);
    layout.above = std::max(layout.above, heat_map_of(figure) ? line + gap : gap);
    frame.box.top += layout.above;
    if (!rows.empty()) make_room_for_first_bar(canvas, figure, frame);

    set_x_ticks(canvas, figure, layout);
    if (!layout.x_ticks.empty()) {  // the text of the last tick may extend beyond the plot
        const Tick& last = layout.x_ticks.back();
        const float over = frame.at_x(last.value) + canvas.text_width(last.text) / 2 - area.right;
        if (over > 0) frame.box.right -= over + gap, set_x_ticks(canvas, figure, layout);
    }
    return layout;
}

float least_height(const Canvas& canvas, const Figure& figure) {
    const float unit = canvas.unit(), gap = pad * unit, line = canvas.line_height();
    if (const Matrix* const matrix = matrix_of(figure)) {
        constexpr size_t around = 6;  // lines for title, legend and names of columns
        return line * static_cast<float>(matrix->row_labels.size() + around);
    }
    const auto names = row_names(figure);
    if (names.empty()) return 0;
    const bool labels_above = !labelled_rules(figure, Rule::Across::x).empty();
    const float heading = (figure.title.empty() ? 0 : line + 2 * unit) + (labels_above ? line : 0) + gap;
    const float axis = std::fabs(room_of_axis(canvas, figure));
    const float rows = least_pitch(canvas, rows_to_name(figure)) * static_cast<float>(names.size());
    return heading + rows + axis;
}

}  // namespace sawtooth
