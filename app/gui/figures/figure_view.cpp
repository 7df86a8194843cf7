#include "app/gui/figures/figure_view.h"

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "app/gui/figures/figure_menu.h"
#include "app/gui/figures/legend.h"
#include "app/gui/panels/controls.h"
#include "app/gui/panels/panels.h"
#include "app/gui/shell/appearance.h"
#include "app/gui/shell/widgets.h"
#include "app/gui/state/kept_times.h"
#include "app/gui/state/lab.h"
#include "app/gui/state/launch_words.h"
#include "app/gui/state/selection.h"
#include "app/gui/state/sweeps.h"
#include "app/gui/state/terms.h"
#include "app/gui/state/trail.h"
#include "kernels/figures/figures.h"
#include "kernels/figures/zoom.h"
#include "viz/heading.h"
#include "viz/imgui/canvas_imgui.h"
#include "viz/imgui/figure_imgui.h"
#include "viz/layout.h"
#include "viz/present.h"

namespace sawtooth {
namespace {

constexpr float smallest_width = 280, smallest_height = 200;  // for a figure in a grid

// Returns a function that looks up details of a span of the timeline in the result.
DescribeSpan describer_of(const LabState& lab) {
    return [result = lab.result](const Tracks::Track& track, const Tracks::Span& span) {
        const LaunchRecord* launch = result ? launch_of(*result, track, span) : nullptr;
        return launch ? facts_of(*launch, result->processors)
                      : std::vector<std::pair<std::string, std::string>>{};
    };
}

// The adjacent bars that belong to the kernel of the selected launch.
std::optional<DrawOptions::Rows> rows_of_selected(const LabState& lab, const Figure& figure) {
    const auto found = selected_launch(lab);
    if (!found || figure.place != Place::occupancy) return {};
    std::optional<DrawOptions::Rows> rows;
    for (const Mark& mark : figure.marks) {
        const Bars* const bars = std::get_if<Bars>(&mark);
        for (size_t i = 0; bars && i < bars->bars.size(); ++i) {
            const Bar& bar = bars->bars[i];
            if (bar.ink != ink_of(*found->variant) || std::find(bar.launches.begin(), bar.launches.end(),
                                                                lab.selected->kernel) == bar.launches.end())
                continue;
            if (!rows) rows = {i, 0};
            if (rows->first + rows->count == i) ++rows->count;
        }
    }
    return rows;
}

DrawOptions options_for(const LabState& lab, const ShownFigure& shown, ImVec2 size) {
    DrawOptions options;
    options.size = size;
    options.heading.variants = false;
    options.dimmed = !shown.outdated.empty();
    if (!shown.sweep && has_axis_on_top(*shown.figure)) {
        options.describe_span = describer_of(lab);
        if (const auto found = selected_launch(lab))
            options.outlined = {ink_of(*found->variant), found->launch->start_us,
                                found->launch->start_us + found->launch->duration_us};
    }
    options.lit = rows_of_selected(lab, *shown.figure);
    options.scrolls_to_lit = options.lit && !lab.selected->in_occupancy;
    if (lab.measured && lab.measured->figure == figure_key(shown))
        options.measured = {lab.measured->row, lab.measured->ink, lab.measured->us, lab.measured->words};
    const std::string key = axis_key(shown);
    if (const auto range = lab.view.visible.find(key); range != lab.view.visible.end())
        options.visible = range->second;
    if (const auto cursor = lab.cursor.find(key); cursor != lab.cursor.end())
        options.cursor_x = cursor->second;
    return options;
}

// The badge must not be higher than the title beside it.
ImVec2 badge_padding() { return {units(8), units(2)}; }
float badge_width(const std::string& text) {
    return ImGui::CalcTextSize(text.c_str()).x + 2 * badge_padding().x + units(8);
}

// What marks a figure as out of date, shorter or "" where the title would have no room; it is dimmed, too.
std::string badge_words(const LabState& lab, const ShownFigure& shown, float room) {
    if (shown.outdated.empty() || lab.looking_back) return shown.outdated;
    const std::string words = "out of date: " + shown.outdated;
    const float title = ImGui::CalcTextSize(shown.figure->title.c_str()).x;
    if (title + badge_width(words) <= room) return words;
    const std::string few = "out of date";
    return std::min(title, units(80)) + badge_width(few) <= room ? few : "";
}

void draw_badge(ImVec2 right, const std::string& text) {
    const ImVec2 extent = ImGui::CalcTextSize(text.c_str());
    const ImVec2 begin{right.x - badge_width(text) + units(4), right.y};
    const ImVec2 padding = badge_padding(), end{right.x - units(4), right.y + extent.y + 2 * padding.y};
    ImDrawList& list = *ImGui::GetWindowDrawList();
    list.AddRectFilled(begin, end, ImGui::GetColorU32(ImGuiCol_FrameBg), units(4));
    list.AddText({begin.x + padding.x, begin.y + padding.y}, ImGui::GetColorU32(ImGuiCol_Text), text.c_str());
}

// The caption from the sweeps over this parameter; "" if none is up to date.
std::string caption_of_sweep(const LabState& lab, const std::string& parameter) {
    for (const BackgroundSweep& sweep : lab.sweeps)
        if (sweep.figures && sweep.done > 0 && !sweep.by_person &&
            sweep.sweep.axes.front().parameter == parameter && !is_of_other_settings(lab, sweep))
            return sweep.figures->front().caption;
    return "";
}

// Whether results can be drawn in place of the figure: it has maps, which cannot lie over one another.
bool can_show_pins(const LabState& lab, const ShownFigure& shown) {
    const auto& ghosts = lab.told.ghosts;
    return !shown.sweep && has_map(*shown.figure) &&
           std::any_of(ghosts.begin(), ghosts.end(),
                       [&](const Pinned& pin) { return namesake(*shown.figure, pin) != nullptr; });
}

// The pinned result that is drawn in place of the figure; null if it is the newest result.
const Pinned* pin_in_place(const LabState& lab, const Figure& figure) {
    const auto chosen = lab.pin_in_place.find(figure.id);
    if (chosen == lab.pin_in_place.end()) return nullptr;
    for (const Pinned& pin : lab.told.ghosts)
        if (pin.number == chosen->second && namesake(figure, pin)) return &pin;
    return nullptr;
}

uint64_t ticket_of_pin(const LabState& lab, int number) {
    for (const Pin& pin : lab.pins)
        if (pin.number == number) return pin.ticket;
    return 0;
}

// Draws the choice among the newest and the pinned results, of that width.
void draw_pin_chooser(LabState& lab, const Figure& figure, float width) {
    const char* const newest = "newest";
    const Pinned* const present = pin_in_place(lab, figure);
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {units(6), 0});
    ImGui::SetNextItemWidth(width);
    if (ImGui::BeginCombo("##pin", present ? present->name.c_str() : newest)) {
        if (ImGui::Selectable(newest, !present)) lab.pin_in_place.erase(figure.id);
        for (const Pinned& pin : lab.told.ghosts) {
            if (!namesake(figure, pin)) continue;
            ImGui::PushID(pin.number);
            if (ImGui::Selectable(pin.name.c_str(), &pin == present))
                lab.pin_in_place[figure.id] = pin.number;
            ImGui::PopID();
        }
        ImGui::EndCombo();
    }
    ImGui::PopStyleVar();
    tooltip("The result that this figure shows: the newest one, or one that is pinned.");
}

// Draws controls that only choose what is drawn at the right end of the title line, if there is a choice.
// They leave room for the title, or for a third of a long one. Returns their width.
float draw_choosers(LabState& lab, const ShownFigure& shown, ImVec2 corner, float room) {
    std::vector<std::function<void(float width)>> choosers;
    for (const std::string& name : shown.figure->chosen_by) {
        const Parameter* const row = lab.family->parameter(name);
        if (!row || !has_choice(lab, *row)) continue;
        choosers.emplace_back([&lab, row](float width) { draw_small_control(lab, *row, width); });
    }
    if (can_show_pins(lab, shown))
        choosers.emplace_back([&](float width) { draw_pin_chooser(lab, *shown.figure, width); });
    const float gap = units(8);
    const float title = std::min(ImGui::CalcTextSize(shown.figure->title.c_str()).x, room / 3);
    const auto count = static_cast<float>(std::max<size_t>(choosers.size(), 1));
    const float own = std::min({units(136), room / 3, (room - title) / count - gap});
    float width = 0;
    for (const auto& draw : choosers) {
        width += own + gap;
        ImGui::SetCursorScreenPos({corner.x + room - width + gap, corner.y});
        draw(own);
    }
    ImGui::SetCursorScreenPos(corner);
    return width;
}

// Draws the button that sets what a sweep found, at the first figure of a sweep by the user. Returns how much
// of `room` the button takes.
float draw_best_button(LabState& lab, const ShownFigure& shown, ImVec2 corner, float room) {
    if (!shown.sweep || shown.sweep->best.values.empty() || shown.figure != &shown.sweep->figures->front())
        return 0;
    std::string words;
    for (const auto& [name, value] : shown.sweep->best.values)
        words += fmt::format("{}{} {}", words.empty() ? "" : ", ", name, to_text(value));
    const std::string label = "Set " + words;
    const float width = ImGui::CalcTextSize(label.c_str()).x + units(12);
    ImGui::SetCursorScreenPos({corner.x + room - width, corner.y});
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {units(6), units(0)});
    if (ImGui::Button((label + "###set best").c_str())) set_best(lab, shown.sweep->best);
    ImGui::PopStyleVar();
    tooltip("Least median: " + shown.sweep->best_words + ".");
    ImGui::SetCursorScreenPos(corner);
    return width + units(8);
}

// Figures over time, and figures with texts along arrows, need the full width.
bool is_wide(const Figure& figure) { return has_axis_on_top(figure) || has_arrows(figure); }

using FigureRows = std::vector<std::vector<const ShownFigure*>>;

FigureRows rows_of(const std::vector<ShownFigure>& shown, size_t columns) {
    FigureRows rows;
    for (const ShownFigure& each : shown) {
        const bool joins = !rows.empty() && rows.back().size() < columns && !is_wide(*each.figure) &&
                           !is_wide(*rows.back().front()->figure);
        if (!joins) rows.emplace_back();
        rows.back().push_back(&each);
    }
    return rows;
}

// Chooses the number of columns that suits the panel, without making figures too narrow.
FigureRows rows_for(const std::vector<ShownFigure>& shown, ImVec2 room) {
    const size_t most =
        std::clamp<size_t>(static_cast<size_t>(room.x / units(smallest_width)), 1, shown.size());
    FigureRows best;
    float best_waste = 1e9f;
    for (size_t columns = 1; columns <= most; ++columns) {
        FigureRows rows = rows_of(shown, columns);
        const auto count = static_cast<float>(rows.size());
        const float shape =
            (room.x / static_cast<float>(columns)) / std::max(room.y / count, units(smallest_height));
        float empty = 0;
        for (const auto& row : rows)
            if (!is_wide(*row.front()->figure)) empty += static_cast<float>(columns - row.size());
        const float waste = std::abs(std::log(shape / 1.8f)) + 0.2f * empty;
        if (waste < best_waste) best = std::move(rows), best_waste = waste;
    }
    return best;
}

// The height of every row: a share of the room, or if one of the rows would be too low, with scrolling, a
// share of what is in sight, so that no figure is cut before the user scrolls. Wide figures then fill most of
// it.
std::vector<float> heights_of(const FigureRows& rows, float room, float gap, bool may_scroll) {
    constexpr float share_of_wide = 1.5f, comfortable_height = 240;
    float names = 0, shares = 0;  // names: the height that the names of rows need
    for (const auto& row : rows) {
        shares += is_wide(*row.front()->figure) ? share_of_wide : 1;
        for (const ShownFigure* each : row)
            names = std::max(names, std::ceil(least_height(ImGuiCanvas(nullptr), *each->figure)));
    }
    const float least = std::max(rows.size() > 1 ? units(smallest_height) : 0, names);
    const float share = (room - gap * static_cast<float>(rows.size() - 1)) / shares;
    const bool scrolls = share < least && may_scroll;
    const float wide = scrolls ? std::clamp(0.85f * room, least, 2 * least) : share * share_of_wide;
    const float in_sight = std::max(1.0f, std::floor((room + gap) / (units(comfortable_height) + gap)));
    const float scrolled = std::max((room + gap) / in_sight - gap, names);
    std::vector<float> heights;
    for (const auto& row : rows)
        heights.push_back(std::floor(is_wide(*row.front()->figure) ? wide : scrolls ? scrolled : share));
    return heights;
}

std::string help_of(const Figure& figure) {
    std::string text = figure.caption;
    if (!text.empty()) text += "\n\n";
    if (is_zoomable(figure))
        text += "Wheel or W and S to zoom, drag or A and D to pan, double click to show everything. ";
    return text +
           "Hover to read values. Double click the title to fill the panel. Right click, or Enter when it "
           "has the focus, to save the figure or copy its numbers.";
}

// The text of the tooltip: the caption if it is cut, and the terms in title, caption and legend.
std::string heading_words(const LabState& lab, const Figure& figure, const std::string& caption,
                          bool is_cut) {
    std::string words = figure.title + " " + caption;
    for (const LegendEntry& entry : legend_of(figure, theme_of(lab))) words += " " + entry.label;
    const std::string definitions = definitions_in(words);
    if (!is_cut) return definitions;
    return caption + (caption.empty() || definitions.empty() ? "" : "\n\n") + definitions;
}

void take_track_click(LabState& lab, const ShownFigure& shown, const PlotEvents::TrackClick& click) {
    lab.measured.reset();
    if (shown.sweep) return;
    if (click.time)
        select_launch(lab, click.ink, *click.time);
    else
        lab.selected.reset();
}

void take_events(LabState& lab, const std::string& panel, const ShownFigure& shown,
                 const PlotEvents& events) {
    const std::string key = axis_key(shown);
    if (events.visible) look_at(lab, key, events.visible);
    if (events.fit) look_at(lab, key, {});
    if (events.cursor_x) lab.next_cursor[key] = *events.cursor_x;
    // A zoom and the figure above it share their times.
    if (events.cursor_x && (key == time_of_runs || key == time_of_zoom))
        lab.next_cursor[time_of_runs] = lab.next_cursor[time_of_zoom] = *events.cursor_x;
    for (const PlotEvents::Chosen& chosen : events.chosen) choose_value(lab, chosen.parameter, chosen.value);
    if (events.track_click) take_track_click(lab, shown, *events.track_click);
    if (const auto& measuring = events.measuring)
        lab.measured = {
            figure_key(shown),
            measuring->row,
            measuring->ink,
            measuring->time,
            !shown.sweep,
            measured_words(shown.sweep ? nullptr : lab.result.get(), measuring->ink, measuring->time)};
    if (const std::string name = name_in(panel, shown); events.fill)
        lab.filling = lab.filling == name ? "" : name;
}

// Where a new note goes, on the axes of the figure without ghosts.
void keep_menu_place(LabState& lab, const ShownFigure& shown, const PlotEvents& events) {
    lab.menu_place.reset();
    if (!events.menu_place) return;
    const auto& [x, y] = *events.menu_place;
    const Figure drawn = with_marks(lab, *shown.figure, shown.ticket);
    lab.menu_place = LabState::MenuPlace{x, without_ghosts(drawn, y)};
}

// Gives the keyboard focus to the figure as a whole instead of its plot: arrow keys move to the next figure,
// and the mouse has the plot.
class FigureFocus {
  public:
    FigureFocus(ImVec2 corner, ImVec2 end) : id_(ImGui::GetID("focus")), place_(corner, end) {}

    bool is_here() const {
        return ImGui::GetFocusID() == id_ && ImGui::GetCurrentContext()->NavCursorVisible;
    }
    // Draws the focus over the figure. Returns true if a key asks for the menu of the figure.
    bool draw() const {
        const ImGuiContext& context = *ImGui::GetCurrentContext();
        ImGui::ItemAdd(place_, id_);
        ImGui::RenderNavCursor(place_, id_, ImGuiNavRenderCursorFlags_None, units(4));
        return context.NavActivateId == id_ ||
               (context.NavOpenContextMenuItemId == id_ && context.NavId == id_);
    }

  private:
    ImGuiID id_;
    ImRect place_;
};

}  // namespace

std::optional<Frame> draw_shown_figure(LabState& lab, const std::string& panel, const ShownFigure& wanted,
                                       ImVec2 size) {
    ShownFigure shown = wanted;
    if (const Pinned* const pin = shown.sweep ? nullptr : pin_in_place(lab, *shown.figure);
        pin && has_map(*shown.figure)) {
        shown.figure = namesake(*shown.figure, *pin);
        shown.ticket = ticket_of_pin(lab, pin->number);
    }
    const ImVec2 corner = ImGui::GetCursorScreenPos();
    ImGui::PushID(shown.sweep ? shown.sweep->key.c_str() : "result");
    ImGui::PushID(shown.figure->id.c_str());
    ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize,
                        0);  // ImPlot would draw a frame around the whole figure
    const ImVec2 end{corner.x + size.x, corner.y + size.y};
    const FigureFocus focus(corner, end);
    DrawOptions options = options_for(lab, shown, size);
    options.has_keys = focus.is_here();
    if (options.lit) lab.selected->in_occupancy = true;
    const float choosers = draw_choosers(lab, shown, corner, size.x);
    options.heading.reserved = choosers + draw_best_button(lab, shown, corner, size.x - choosers);
    const ImVec2 badge_end{end.x - options.heading.reserved, corner.y};
    const std::string badge = badge_words(lab, shown, size.x - options.heading.reserved);
    if (!badge.empty()) options.heading.reserved += badge_width(badge);
    const bool is_badge_cut = !badge.ends_with(shown.outdated);
    const std::string found = found_by_sweeps(lab, shown);
    const bool as_it_is = lab.hidden_variants.empty() && !sets_parameters(*shown.figure) && found.empty() &&
                          (shown.sweep || (lab.told.ghosts.empty() && !may_have_trail(*shown.figure))) &&
                          lab.session.notes.empty();
    const PlotEvents events = as_it_is
                                  ? draw_figure(*shown.figure, theme_of(lab), options)
                                  : draw_figure(figure_as_drawn(lab, shown, found), theme_of(lab), options);
    ImGui::PopStyleVar();
    if (!badge.empty()) draw_badge(badge_end, badge);
    take_events(lab, panel, shown, events);
    if (events.over_heading)
        tooltip_in(corner, end,
                   heading_words(lab, *shown.figure,
                                 (is_badge_cut ? "Out of date: " + shown.outdated + ". " : "") + found +
                                     shown.figure->caption,
                                 events.caption_cut || is_badge_cut),
                   events.legend_cut ? legend_without_variants(*shown.figure, theme_of(lab))
                                     : std::vector<LegendEntry>{});
    if (ImGui::IsRectVisible(corner, end) && !shown.figure->x.shared.empty())
        lab.widest_plot = std::max(lab.widest_plot, static_cast<int>(size.x));
    const bool on_heading = ImGui::IsWindowHovered() && ImGui::IsMouseHoveringRect(corner, end) &&
                            ImGui::IsMouseReleased(ImGuiMouseButton_Right);
    const ImVec2 dragged = ImGui::GetMouseDragDelta(ImGuiMouseButton_Right);
    const bool clicked = (events.context_menu || on_heading) && std::hypot(dragged.x, dragged.y) < units(4);
    if (focus.draw() || clicked) {
        ImGui::OpenPopup(figure_menu);
        keep_menu_place(lab, shown, events);
    }
    draw_figure_menu(lab, panel, shown);
    offer_help(shown.figure->title, help_of(*shown.figure),
               options.has_keys || (ImGui::IsWindowHovered() && ImGui::IsMouseHoveringRect(corner, end)));
    ImGui::PopID();
    ImGui::PopID();
    return events.plot;
}

std::string found_by_sweeps(const LabState& lab, const ShownFigure& shown) {
    std::string found;
    for (const std::string& name : shown.figure->chosen_by)
        if (const std::string caption = caption_of_sweep(lab, name); !caption.empty()) found += caption + " ";
    return found;
}

bool draw_filling_figure(LabState& lab, const std::string& panel, const std::vector<ShownFigure>& shown,
                         float below) {
    const auto fills = [&](const ShownFigure& each) { return name_in(panel, each) == lab.filling; };
    const auto found = std::find_if(shown.begin(), shown.end(), fills);
    if (found == shown.end()) return false;
    draw_legend(lab, {*found});
    const ImVec2 room = ImGui::GetContentRegionAvail();
    draw_shown_figure(lab, panel, *found, {room.x, std::max(room.y - below, 1.0f)});
    return true;
}

std::vector<ShownFigure> shown_figures(const LabState& lab, Place place) {
    std::vector<ShownFigure> shown;
    // Computed once for all figures with earlier times, and once for the others.
    std::optional<std::string> why_kept, why_others;
    for (size_t i = 0; lab.figures && i < lab.figures->size(); ++i) {
        const Figure& figure = (*lab.figures)[i];
        if (figure.place != place) continue;
        auto& why = lab.kept_figures.contains(figure.id) ? why_kept : why_others;
        if (!why) why = why_outdated(lab, figure);
        shown.push_back({&figure, *why, nullptr, lab.shown_ticket});
    }
    for (const BackgroundSweep& sweep : lab.sweeps) {
        if (!sweep.figures) continue;
        const std::string outdated = !is_of_other_settings(lab, sweep) ? ""
                                     : lab.looking_back                ? "of other settings"
                                                                       : "before the change";
        for (const Figure& figure : *sweep.figures)
            if (figure.place == place) shown.push_back({&figure, outdated, &sweep});
    }
    return shown;
}

void draw_figure_grid(LabState& lab, const std::string& panel, const std::vector<ShownFigure>& shown,
                      const std::string& shows, float below) {
    if (draw_filling_figure(lab, panel, shown, below)) return;
    if (shown.empty()) {
        centred_sentence(empty_sentence(lab, shows), below);
        return;
    }
    draw_legend(lab, shown);
    ImVec2 room = ImGui::GetContentRegionAvail();
    room.y = std::max(room.y - below, 1.0f);
    const float gap = units(8);
    const FigureRows rows = rows_for(shown, room);
    // A panel that fills a picture cannot scroll and shows only what fits.
    const bool may_scroll = !(ImGui::GetCurrentWindow()->Flags & ImGuiWindowFlags_NoScrollbar);
    const std::vector<float> heights = heights_of(rows, room.y, gap, may_scroll);
    const float all =
        std::accumulate(heights.begin(), heights.end(), gap * static_cast<float>(rows.size() - 1));
    const bool bar_is_there = ImGui::GetScrollMaxY() > 0;  // then the room already excludes it
    const float width = room.x - (all > room.y && !bar_is_there ? ImGui::GetStyle().ScrollbarSize : 0);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {gap, gap});
    for (size_t r = 0; r < rows.size(); ++r) {
        const auto in_row = static_cast<float>(rows[r].size());
        const ImVec2 size{std::floor((width - gap * (in_row - 1)) / in_row), heights[r]};
        for (const ShownFigure* each : rows[r]) {
            if (each != rows[r].front()) ImGui::SameLine();
            draw_shown_figure(lab, panel, *each, size);
        }
    }
    ImGui::PopStyleVar();
}

}  // namespace sawtooth
