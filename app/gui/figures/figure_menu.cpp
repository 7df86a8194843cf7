#include "app/gui/figures/figure_menu.h"

#include <fmt/format.h>
#include <imgui.h>

#include "app/engine/tables/tables.h"
#include "app/gui/figures/saving.h"
#include "app/gui/shell/widgets.h"
#include "app/gui/state/lab.h"
#include "viz/figure_csv.h"
#include "viz/layout.h"

namespace sawtooth {
namespace {

// The figure for a file or the clipboard: with the ghosts of pinned results that the window shows.
Figure for_others(const LabState& lab, const Figure& figure, const BackgroundSweep* sweep) {
    return sweep ? figure : with_ghosts(figure, lab.told.ghosts);
}

// The entries for a figure; valid only in this frame, like the figure.
std::vector<Action> entries_of(const ShownFigure& shown) {
    const Figure& figure = *shown.figure;
    const BackgroundSweep* const sweep = shown.sweep;
    const auto saves = [&figure, sweep](Saving::Format format) {
        return [&figure, sweep, format](LabState& lab) {
            begin_saving(lab, for_others(lab, figure, sweep), format);
        };
    };
    const std::string group = "Figure";
    std::vector<Action> entries{
        {group, "Save as PNG…", saves(Saving::Format::png)},
        {group, "Save as SVG…", saves(Saving::Format::svg)},
        {group, "Save as CSV…", saves(Saving::Format::csv)},
        {group, "Copy CSV",
         [&figure, sweep](LabState& lab) {
             copy_text(lab, to_csv(for_others(lab, figure, sweep)), "the figure as CSV");
         }},
        {group, "Copy as command", [sweep](LabState& lab) {
             copy_text(lab, sweep ? command_of(sweep->sweep) : command_of(lab.result->request),
                       "the command");
         }}};
    if (is_zoomable(figure))
        entries.push_back({.group = group,
                           .name = "Show all of it",
                           .act = [key = axis_key(shown)](LabState& lab) { look_at(lab, key, {}); },
                           .reason =
                               [key = axis_key(shown)](const LabState& lab) {
                                   return lab.view.visible.contains(key) ? "" : "Nothing is zoomed.";
                               }});
    if (sweep && sweep->by_person)
        entries.push_back(
            {group, "Remove this sweep", [key = sweep->key](LabState& lab) { lab.removed_sweep = key; }});
    return entries;
}

}  // namespace

std::string figure_key(const ShownFigure& shown) {
    return fmt::format("figure {} {}", shown.sweep ? shown.sweep->key : "", shown.figure->id);
}

std::string axis_key(const ShownFigure& shown) {
    const std::string& shared = shown.figure->x.shared;
    return shared.empty() ? figure_key(shown) : shared;
}

std::string name_in(const std::string& panel, const ShownFigure& shown) {
    return fmt::format("{} {} {}", panel, shown.sweep ? shown.sweep->key : "", shown.figure->id);
}

void draw_figure_menu(LabState& lab, const std::string& panel, const ShownFigure& shown) {
    if (!ImGui::BeginPopup(figure_menu)) return;
    for (const Action& entry : entries_of(shown)) draw_entry(lab, entry);
    if (!shown.sweep && shown.figure->place == Place::timeline) draw_entry(lab, action("Save trace…"));
    const std::string name = name_in(panel, shown);
    const bool fills = lab.filling == name;
    if (ImGui::MenuItem(fills ? "Back to all figures" : "Fill the panel")) lab.filling = fills ? "" : name;
    ImGui::EndPopup();
}

void add_figures(const LabState& lab, std::vector<Action>& all) {
    for (const Place place :
         {Place::views, Place::outputs, Place::error, Place::times, Place::occupancy, Place::timeline})
        for (const ShownFigure& shown : shown_figures(lab, place))
            for (Action& entry : entries_of(shown)) {
                entry.details = [figure = shown.figure](const LabState&) { return figure->title; };
                all.push_back(std::move(entry));
            }
}

}  // namespace sawtooth
