#include "app/gui/figures/figure_menu.h"

#include <fmt/format.h>
#include <imgui.h>

#include "app/engine/session/notes_on_figures.h"
#include "app/engine/tables/commands.h"
#include "app/gui/figures/saving.h"
#include "app/gui/shell/appearance.h"
#include "app/gui/shell/widgets.h"
#include "app/gui/state/lab.h"
#include "app/gui/state/notes.h"
#include "app/gui/state/trail.h"
#include "viz/figure_csv.h"
#include "viz/layout.h"
#include "viz/present.h"

namespace sawtooth {
namespace {

// The figure for a file or the clipboard, as the window shows it. A CSV file has only the numbers, with those
// of pinned results.
Figure for_others(const LabState& lab, const ShownFigure& shown, Saving::Format format) {
    if (format != Saving::Format::csv) return figure_as_drawn(lab, shown, found_by_sweeps(lab, shown));
    return shown.ticket == lab.shown_ticket ? with_ghosts(*shown.figure, lab.told.ghosts) : *shown.figure;
}

// The command that makes the figure again. A figure of maps may show a pinned result.
std::string command_for(const LabState& lab, const ShownFigure& shown) {
    if (!shown.command.empty()) return shown.command;
    if (shown.sweep) return command_of(shown.sweep->sweep);
    for (const Pin& pin : lab.pins)
        if (pin.ticket == shown.ticket) return command_of(pin.result->request);
    return command_of(lab.result->request);
}

// Those of the result that the user looks back at, otherwise those that are set.
const Parameters& parameters_shown(const LabState& lab) {
    return lab.looking_back && lab.result ? lab.result->parameters : lab.parameters;
}

// The action for a new note on the figure, at the place where the menu was opened.
Action note_entry(const ShownFigure& shown) {
    return {
        .group = "Figure",
        .name = "Add note…",
        .act = [&figure = *shown.figure, ticket = shown.ticket](
                   LabState& lab) { begin_note(lab, figure, lab.menu_place->x, lab.menu_place->y, ticket); },
        .reason = [is_of_sweep = shown.ticket ==
                                 0](const LabState& lab) { return is_of_sweep ? "" : reason_no_note(lab); }};
}

// Draws the entries for notes: those on the figure, and a new one where the menu was opened. A figure of a
// check belongs to no result that could keep notes.
void draw_note_entries(LabState& lab, const ShownFigure& shown) {
    if (!lab.menu_place || !shown.command.empty()) return;
    draw_entry(lab, note_entry(shown));
    for (size_t i = 0; i < lab.session.notes.size(); ++i) {
        const auto& [note, of] = lab.session.notes[i];
        if (of != shown.ticket || note.figure != shown.figure->id || note.family != lab.family->name)
            continue;
        ImGui::PushID(static_cast<int>(i));
        if (ImGui::MenuItem(elided_to("Edit note: " + note.text, units(240)).c_str()))
            edit_note(lab, i, shown.figure->title);
        ImGui::PopID();
    }
}

// The entries for a figure; valid only in this frame, like the figure.
std::vector<Action> entries_of(const ShownFigure& shown) {
    const BackgroundSweep* const sweep = shown.sweep;
    const auto saves = [shown](Saving::Format format) {
        return [shown, format](LabState& lab) { begin_saving(lab, for_others(lab, shown, format), format); };
    };
    const std::string group = "Figure";
    std::vector<Action> entries{
        {group, "Save as PNG…", saves(Saving::Format::png)},
        {group, "Save as SVG…", saves(Saving::Format::svg)},
        {group, "Save as CSV…", saves(Saving::Format::csv)},
        {group, "Copy CSV",
         [shown](LabState& lab) {
             copy_text(lab, to_csv(for_others(lab, shown, Saving::Format::csv)), "the figure as CSV");
         }},
        {group, "Copy as command",
         [shown](LabState& lab) { copy_text(lab, command_for(lab, shown), "the command"); }}};
    if (is_zoomable(*shown.figure))
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

Figure with_marks(const LabState& lab, const Figure& figure, uint64_t ticket) {
    const bool is_of_shown = ticket != 0 && ticket == lab.shown_ticket;
    const auto notes = notes_on(lab, ticket);
    if (!is_of_shown) return with_notes(figure, notes, nullptr);
    return with_ghosts(with_notes(with_trail(figure, lab), notes, lab.result.get()), lab.told.ghosts);
}

Figure figure_as_drawn(const LabState& lab, const ShownFigure& shown, const std::string& found) {
    Figure figure = with_marks(lab, with_present(*shown.figure, parameters_shown(lab)), shown.ticket);
    figure.caption = found + figure.caption;
    return lab.hidden_variants.empty() ? figure : without_variants(figure, lab.hidden_variants);
}

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
    draw_note_entries(lab, shown);
    if (!shown.sweep && shown.figure->place == Place::timeline) {
        draw_entry(lab, action("Note on the launch…"));
        draw_entry(lab, action("Save trace…"));
    }
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
