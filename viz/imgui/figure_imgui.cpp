#include "viz/imgui/figure_imgui.h"

#include <implot.h>
#include <implot_internal.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "viz/heading.h"
#include "viz/imgui/canvas_imgui.h"
#include "viz/imgui/readout.h"
#include "viz/imgui/tracks_imgui.h"
#include "viz/marks.h"

namespace sawtooth {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double key_step = 0.15;   // share of the visible range for each press of W, A, S or D
constexpr float wheel_step = 0.1f;  // the same for each step of the wheel

double to_log2(double value, void*) { return place_of(Scale::log2, value); }
double from_log2(double place, void*) { return value_at(Scale::log2, place); }

void set_up_scale(ImAxis axis, Scale scale) {
    if (scale == Scale::log2) ImPlot::SetupAxisScale(axis, to_log2, from_log2);
    if (scale == Scale::log10) ImPlot::SetupAxisScale(axis, ImPlotScale_Log10);
}

void set_up_ticks(ImAxis axis, const std::vector<Tick>& ticks) {
    std::vector<double> values;
    std::vector<const char*> texts;
    for (const Tick& tick : ticks) values.push_back(tick.value), texts.push_back(tick.text.c_str());
    ImPlot::SetupAxisTicks(axis, values.data(), static_cast<int>(values.size()), texts.data());
}

// Links x to `range`, which ImPlot changes on zoom and pan; y always fits the visible data.
void set_up_axes(const Canvas& canvas, const Figure& figure, const Layout& layout, Range& range) {
    const Frame& frame = layout.frame;
    const std::string x = elided(canvas, layout.x_name, frame.box.width());
    const std::string y = elided(canvas, layout.y_name, frame.box.height() + 2 * canvas.line_height());
    ImPlotAxisFlags flags_x =
        ImPlotAxisFlags_NoSideSwitch | ImPlotAxisFlags_NoHighlight | ImPlotAxisFlags_NoMenus;
    ImPlotAxisFlags flags_y = flags_x;
    const bool on_top = has_axis_on_top(figure);
    if (on_top) flags_x |= ImPlotAxisFlags_Opposite;
    if (has_tree(figure)) flags_x |= ImPlotAxisFlags_NoGridLines;
    if (has_tree(figure) || !row_names(figure).empty()) flags_y |= ImPlotAxisFlags_NoGridLines;
    if (frame.y_bottom > frame.y_top) flags_y |= ImPlotAxisFlags_Invert;
    ImPlot::SetupAxis(ImAxis_X1, x.empty() || on_top ? nullptr : x.c_str(), flags_x);
    ImPlot::SetupAxis(ImAxis_Y1, y.empty() ? nullptr : y.c_str(), flags_y);
    set_up_scale(ImAxis_X1, frame.scale_x);
    set_up_scale(ImAxis_Y1, frame.scale_y);
    if (is_zoomable(figure)) {
        // An axis of one position reaches beyond it.
        const double lowest = figure.x.minimum.value_or(-infinity),
                     highest = figure.x.maximum.value_or(infinity);
        if (lowest < highest) ImPlot::SetupAxisLimitsConstraints(ImAxis_X1, lowest, highest);
        ImPlot::SetupAxisLinks(ImAxis_X1, &range.low, &range.high);
    } else {
        ImPlot::SetupAxisLimits(ImAxis_X1, range.low, range.high, ImPlotCond_Always);
    }
    ImPlot::SetupAxisLimits(ImAxis_Y1, std::min(frame.y_bottom, frame.y_top),
                            std::max(frame.y_bottom, frame.y_top), ImPlotCond_Always);
    set_up_ticks(ImAxis_X1, layout.x_ticks);
    set_up_ticks(ImAxis_Y1, layout.y_ticks);
    ImPlot::SetupFinish();
}

// The frame where ImPlot has placed it.
Frame placed_frame(Frame frame) {
    const ImVec2 at = ImPlot::GetPlotPos(), size = ImPlot::GetPlotSize();
    frame.box = {at.x, at.y, at.x + size.x, at.y + size.y};
    const ImPlotRange x = ImPlot::GetPlotLimits().X;
    frame.x = {x.Min, x.Max};
    return frame;
}

// ImPlot draws solid lines directly from the numbers of the figure. Everything else is drawn as in saved
// figures. This includes lines with several points per pixel, which the canvas merges.
void draw_plot_marks(const Pen& pen, const Figure& figure) {
    for (const Mark& mark : figure.marks)
        if (const Band* band = std::get_if<Band>(&mark)) draw(pen, *band);
    int index = 0;  // identifies the lines for ImPlot across frames
    const auto draw_one = [&](const auto& mark) {
        using Type = std::decay_t<decltype(mark)>;
        if constexpr (std::is_same_v<Type, Line>) {
            const Stroke stroke = stroke_of_line(pen.theme, mark);
            const bool dense = static_cast<float>(mark.x.size()) > 2 * pen.frame.box.width();
            const bool is_point = mark.x.size() == 1;
            if (!mark.joined || stroke.dash != Dash::solid || dense || is_point || pen.over_cells ||
                is_crowded(pen, mark)) {
                draw(pen, mark);
                return;
            }
            ImPlotSpec spec;
            spec.LineColor = as_vector(stroke.colour);
            spec.LineWeight = stroke.width * pen.canvas.unit();
            spec.Flags = ImPlotItemFlags_NoLegend | ImPlotItemFlags_NoFit;
            ImGui::PushID(index);
            ImPlot::PlotLine("##line", mark.x.data(), mark.y.data(), static_cast<int>(mark.x.size()), spec);
            ImGui::PopID();
            draw_markers(pen, mark);
        } else if constexpr (!std::is_same_v<Type, Band> && requires { draw(pen, mark); }) {
            draw(pen, mark);
        }
    };
    for (const Mark& mark : figure.marks) {
        std::visit(draw_one, mark);
        ++index;
    }
    draw_crowded(pen);
    draw_marked_points(pen, figure);
}

// Draws the name of an axis on top, beside its ticks.
void draw_name_of_time(const Pen& pen, const std::string& name) {
    const float gap = 4 * pen.canvas.unit();
    const Box& box = pen.frame.box;
    pen.canvas.text({box.left - 4 * gap, box.top - gap - ImGui::GetFontSize() / 2}, Align::right,
                    {pen.theme.quiet_text}, name);
}

void draw_cursor(const Pen& pen, double x) {
    const Box& box = pen.frame.box;
    const float at = std::round(pen.frame.at_x(x));
    if (at < box.left || at > box.right) return;
    pen.canvas.path(std::array<Point, 2>{{{at, box.top}, {at, box.bottom}}}, {{pen.theme.text, 0.6f}, 1});
}

// The range, extended at both ends by a share of it, within the axis.
Range grown(const Axis& axis, Range range, double share) {
    const double low = place_of(axis.scale, range.low), high = place_of(axis.scale, range.high);
    const double step = (high - low) * share;
    return {std::max(value_at(axis.scale, low - step), axis.minimum.value_or(-infinity)),
            std::min(value_at(axis.scale, high + step), axis.maximum.value_or(infinity))};
}

// The range, moved by a share of it but not beyond the end of the axis; its width stays the same.
Range panned(const Axis& axis, Range range, double share) {
    const double low = place_of(axis.scale, range.low), high = place_of(axis.scale, range.high);
    double step = (high - low) * share;
    if (axis.minimum && step < 0)
        step = std::min(std::max(step, place_of(axis.scale, *axis.minimum) - low), 0.0);
    if (axis.maximum && step > 0)
        step = std::max(std::min(step, place_of(axis.scale, *axis.maximum) - high), 0.0);
    return {value_at(axis.scale, low + step), value_at(axis.scale, high + step)};
}

// W and S zoom around the middle, and A and D pan, as in the timelines of other profilers.
Range moved_by_keys(const Axis& axis, Range range) {
    if (ImGui::GetIO().WantTextInput || ImGui::GetIO().KeyCtrl) return range;
    if (ImGui::IsKeyPressed(ImGuiKey_W)) range = grown(axis, range, -key_step);
    if (ImGui::IsKeyPressed(ImGuiKey_S)) range = grown(axis, range, key_step);
    if (ImGui::IsKeyPressed(ImGuiKey_A)) range = panned(axis, range, -key_step);
    if (ImGui::IsKeyPressed(ImGuiKey_D)) range = panned(axis, range, key_step);
    return range;
}

// ImPlot zooms with the wheel. A horizontal wheel, or Shift, pans unless the wheel scrolls the panel.
Range moved_by_wheel(const Axis& axis, ImGuiID plot, Range range) {
    if (!ImGui::TestKeyOwner(ImGuiKey_MouseWheelY, plot)) return range;
    ImGui::SetKeyOwner(ImGuiKey_MouseWheelX, plot);
    const ImGuiIO& io = ImGui::GetIO();
    const float steps = io.MouseWheelH + (io.KeyShift ? io.MouseWheel : 0);
    return steps == 0 ? range : panned(axis, range, static_cast<double>(-steps * wheel_step));
}

// The point of a line or the cell of a heat map under the mouse, whose values a click sets.
struct ClickTarget {
    Point at;
    std::vector<PlotEvents::Chosen> sets;
    std::optional<Box> cell = {};
};

// The effect of a click: "sets chunk to 128"; "sets BLOCK_M to 64 and BLOCK_N to 32".
std::string words_of(const ClickTarget& target) {
    std::string words;
    for (const PlotEvents::Chosen& sets : target.sets)
        words += (words.empty() ? "sets " : " and ") + sets.parameter + " to " + readout_number(sets.value);
    return words;
}

std::optional<ClickTarget> cell_under(const Pen& pen, const HeatMap& map, Point mouse) {
    const auto at = cell_at(pen, map, mouse);
    if (!at || map.sets_x.values.empty() || map.sets_y.values.empty()) return {};
    return ClickTarget{mouse,
                       {{map.sets_x.parameter, map.sets_x.values[static_cast<size_t>(at->column)]},
                        {map.sets_y.parameter, map.sets_y.values[static_cast<size_t>(at->row)]}},
                       cell_box(pen, map, at->row, at->column)};
}

std::optional<ClickTarget> target_under(const Pen& pen, const Figure& figure, Point mouse) {
    float nearest = 8 * pen.canvas.unit();
    std::optional<ClickTarget> found;
    for (const Mark& mark : figure.marks) {
        if (const HeatMap* map = std::get_if<HeatMap>(&mark)) return cell_under(pen, *map, mouse);
        const Line* line = std::get_if<Line>(&mark);
        for (size_t i = 0; line && i < line->sets.values.size(); ++i) {
            if (std::isnan(line->x[i]) || std::isnan(line->y[i])) continue;
            const Point at = pen.frame.at(line->x[i], line->y[i]);
            const float distance = std::hypot(at.x - mouse.x, at.y - mouse.y);
            if (distance > nearest) continue;
            nearest = distance;
            found = {at, {{line->sets.parameter, line->sets.values[i]}}};
        }
    }
    return found;
}

// Returns whether the mouse was pressed and released at the same place, which is not a drag.
bool was_clicked() {
    const float threshold = ImGui::GetIO().MouseDragThreshold;
    return ImGui::IsMouseReleased(ImGuiMouseButton_Left) &&
           ImGui::GetIO().MouseDragMaxDistanceSqr[ImGuiMouseButton_Left] < threshold * threshold;
}

void draw_lit(const Pen& pen, const DrawOptions::Rows& rows, bool scrolls) {
    const double first = static_cast<double>(rows.first) - 0.5;
    const float top = pen.frame.at_y(first), bottom = pen.frame.at_y(first + static_cast<double>(rows.count));
    const Box& plot = pen.frame.box;
    pen.canvas.box({plot.left, top, plot.right, bottom}, {pen.theme.highlight, 0.2f});
    pen.canvas.box({plot.left, top, plot.left + 3 * pen.canvas.unit(), bottom}, {pen.theme.highlight});
    if (scrolls) ImGui::SetScrollFromPosY((top + bottom) / 2 - ImGui::GetWindowPos().y);
}

// With Shift, a drag measures and the wheel pans, so ImPlot must not handle either.
void set_up_input() {
    const bool shift = ImGui::GetIO().KeyShift;
    ImPlotInputMap& map = ImPlot::GetInputMap();
    map.Pan = shift ? ImGuiMouseButton_Middle : ImGuiMouseButton_Left;
    map.ZoomRate = shift ? 0 : wheel_step;
}

bool is_measuring(ImGuiID plot) {
    return ImGui::GetIO().KeyShift && ImGui::IsMouseDragging(ImGuiMouseButton_Left) &&
           ImGui::GetActiveID() == plot;
}

std::optional<PlotEvents::Measuring> measured_by_drag(const Pen& pen, const Figure& figure) {
    const ImVec2 from = ImGui::GetIO().MouseClickedPos[ImGuiMouseButton_Left], to = ImGui::GetMousePos();
    return measured_by(pen, figure, {from.x, from.y}, {to.x, to.y});
}

void draw_target(const Pen& pen, const ClickTarget& target) {
    if (target.cell)
        pen.canvas.outline(*target.cell, {pen.theme.text});
    else
        pen.canvas.marker(Marker::circle, target.at, 6 * pen.canvas.unit(), {pen.theme.text});
    ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
}

void take_click(const Pen& pen, const Figure& figure, const std::optional<ClickTarget>& target,
                PlotEvents& events) {
    const ImVec2 mouse = ImGui::GetMousePos();
    if (target)
        events.chosen = target->sets;
    else
        events.track_click = click_on_tracks(pen, figure, {mouse.x, mouse.y});
}

// Draws everything within the frame, below the cursors.
void draw_inside(const Pen& pen, const Figure& figure, const DrawOptions& options) {
    if (options.lit) draw_lit(pen, *options.lit, options.scrolls_to_lit);
    draw_plot_marks(pen, figure);
    if (options.outlined) outline_launch(pen, figure, *options.outlined);
    draw_rules(pen, figure);
    draw_texts(pen, figure);
    if (options.measured) draw_measured(pen, figure, *options.measured);
    if (options.dimmed) pen.canvas.box(pen.frame.box, {pen.theme.ground, 0.55f});
}

// The visible range within the axis; absent if it lies outside of the axis, which may have moved since.
std::optional<Range> seen_of(const Axis& axis, std::optional<Range> visible) {
    if (visible && (visible->low >= axis.maximum.value_or(infinity) ||
                    visible->high <= axis.minimum.value_or(-infinity)))
        return {};
    return visible;
}

PlotEvents draw_plot(const Figure& figure, const Theme& theme, const DrawOptions& options, const Box& area) {
    PlotEvents events;
    ImGuiCanvas measure(ImGui::GetWindowDrawList());
    const bool zoomable = is_zoomable(figure);
    const Layout layout =
        lay_out(measure, figure, area, zoomable ? seen_of(figure.x, options.visible) : std::nullopt);
    Range range = layout.frame.x;

    const float left = area.left + layout.indent;
    ImGui::SetCursorScreenPos({left, area.top + layout.above - 4 * measure.unit()});
    const ImVec2 size{layout.frame.box.right - left,
                      area.bottom - area.top - layout.above + 4 * measure.unit()};
    constexpr ImPlotFlags flags = ImPlotFlags_NoTitle | ImPlotFlags_NoLegend | ImPlotFlags_NoMouseText |
                                  ImPlotFlags_NoMenus | ImPlotFlags_NoBoxSelect;
    set_up_input();
    if (!ImPlot::BeginPlot("##plot", size, flags)) return events;
    const ImGuiID plot = ImPlot::GetCurrentPlot()->ID;
    set_up_axes(measure, figure, layout, range);
    const Frame frame = placed_frame(layout.frame);
    ImGuiCanvas canvas(ImPlot::GetPlotDrawList());
    const Pen pen = pen_for(canvas, theme, frame, figure);
    ImPlot::PushPlotClipRect();
    draw_inside(pen, figure, options);
    const bool hovered = ImPlot::IsPlotHovered();
    const ImVec2 mouse = ImGui::GetMousePos();
    if (options.cursor_x) draw_cursor(pen, *options.cursor_x);
    const Point place =
        hovered ? Point{mouse.x, mouse.y}
                : Point{(frame.box.left + frame.box.right) / 2, (frame.box.top + frame.box.bottom) / 2};
    events.menu_place = {frame.x_at(place.x), frame.y_at(place.y)};
    if (hovered) {
        events.cursor_x = frame.x_at(mouse.x);
        events.context_menu = ImGui::IsMouseReleased(ImGuiMouseButton_Right);
        if (zoomable && !options.cursor_x) draw_cursor(pen, *events.cursor_x);
    }
    const auto target = hovered ? target_under(pen, figure, {mouse.x, mouse.y}) : std::nullopt;
    if (target) draw_target(pen, *target);
    if (hovered && was_clicked()) take_click(pen, figure, target, events);
    if (is_measuring(plot)) events.measuring = measured_by_drag(pen, figure);
    const bool axis_hovered = ImPlot::IsAxisHovered(ImAxis_X1);
    events.fit = zoomable && (hovered || axis_hovered) && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left);
    ImPlot::PopPlotClipRect();
    ImPlot::EndPlot();
    events.plot = frame;

    ImGuiCanvas outside(ImGui::GetWindowDrawList());
    const Pen outer = pen_for(outside, theme, frame, figure);
    draw_rule_labels(outer, figure, layout);
    if (has_axis_on_top(figure)) draw_name_of_time(outer, layout.x_name);
    draw_colour_bar(outer, figure);
    draw_row_scales(outer, figure);
    const bool at_label = options.measured && ends_under(pen, figure, *options.measured, {mouse.x, mouse.y});
    if (hovered && !at_label && !ImGui::IsMouseDragging(ImGuiMouseButton_Left))
        draw_readout(readout_rows(outer, figure, {mouse.x, mouse.y}, options.describe_span,
                                  target ? words_of(*target) : ""));
    if (zoomable && (hovered || axis_hovered || options.has_keys)) range = moved_by_keys(figure.x, range);
    if (zoomable && (hovered || axis_hovered)) range = moved_by_wheel(figure.x, plot, range);
    if (zoomable && !events.fit && range != layout.frame.x && range.low < range.high) events.visible = range;
    return events;
}

PlotEvents draw_canvas(const Figure& figure, const Theme& theme, const DrawOptions& options,
                       const Box& area) {
    PlotEvents events;
    ImGuiCanvas canvas(ImGui::GetWindowDrawList());
    ImGui::SetCursorScreenPos({area.left, area.top});
    ImGui::InvisibleButton("##canvas", {std::max(area.width(), 1.0f), std::max(area.height(), 1.0f)});
    const bool hovered = ImGui::IsItemHovered();
    events.context_menu = hovered && ImGui::IsMouseReleased(ImGuiMouseButton_Right);
    const Matrix* matrix = matrix_of(figure);
    if (matrix)
        draw_matrix(canvas, theme, figure, *matrix, area);
    else
        draw_missing(canvas, theme, figure, area);
    if (options.dimmed) canvas.box(area, {theme.ground, 0.55f});
    const ImVec2 mouse = ImGui::GetMousePos();
    if (matrix && hovered) draw_readout(readout_rows(canvas, figure, *matrix, area, {mouse.x, mouse.y}));
    return events;
}

}  // namespace

PlotEvents draw_figure(const Figure& figure, const Theme& theme, const DrawOptions& options) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const Box whole{at.x, at.y, at.x + options.size.x, at.y + options.size.y};
    PlotEvents events;
    if (whole.width() < 1 || whole.height() < 1 ||
        !ImGui::IsRectVisible({whole.right - at.x, whole.bottom - at.y})) {
        ImGui::Dummy(options.size);
        return events;
    }
    ImGui::PushID(figure.id.c_str());
    // Only the figure as a whole takes the keyboard focus.
    ImGui::PushItemFlag(ImGuiItemFlags_NoTabStop | ImGuiItemFlags_NoNav, true);
    ImGuiCanvas canvas(ImGui::GetWindowDrawList());
    ImGui::PushClipRect(at, {whole.right, whole.bottom}, true);
    const Heading heading = draw_heading(canvas, theme, figure, whole, options.heading);
    const Box& area = heading.rest;
    const float least = 2.5f * canvas.line_height();
    if (area.width() > least && area.height() > least)
        events = figure.marks.empty() || matrix_of(figure) ? draw_canvas(figure, theme, options, area)
                                                           : draw_plot(figure, theme, options, area);
    ImGui::PopClipRect();
    ImGui::PopItemFlag();
    ImGui::PopID();
    const ImVec2 heading_end{whole.right - options.heading.reserved, area.top};
    events.over_heading = ImGui::IsWindowHovered() && ImGui::IsMouseHoveringRect(at, heading_end);
    events.caption_cut = heading.caption_cut;
    events.legend_cut = heading.legend_cut;
    events.fill = events.over_heading && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left);
    ImGui::SetCursorScreenPos(at);
    ImGui::Dummy(options.size);
    return events;
}

}  // namespace sawtooth
