#include "app/gui/shell/actions.h"

#include <fmt/format.h>
#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>

#include "app/engine/tables/commands.h"
#include "app/engine/tables/trace.h"
#include "app/gui/figures/saving.h"
#include "app/gui/shell/appearance.h"
#include "app/gui/shell/dock_layout.h"
#include "app/gui/shell/palette.h"
#include "app/gui/shell/widgets.h"
#include "app/gui/state/checking.h"
#include "app/gui/state/history.h"
#include "app/gui/state/input_file.h"
#include "app/gui/state/lab.h"
#include "app/gui/state/notes.h"
#include "app/gui/state/past_results.h"
#include "app/gui/state/pins.h"
#include "app/gui/state/selection.h"
#include "app/gui/state/session_file.h"
#include "app/gui/state/sweeps.h"

namespace sawtooth {
namespace {

constexpr int ctrl = ImGuiMod_Ctrl, shift = ImGuiMod_Shift;
constexpr const char* is_a_step =
    "Every change of parameters, variants, backend, inputs or family is a step.";

// Leaves one mode with every key press.
void leave_last(LabState& lab) {
    if (!lab.filling.empty())
        lab.filling.clear();
    else if (lab.measured)
        lab.measured.reset();
    else if (lab.looking_back)
        return_to_newest(lab);
    else
        lab.selected.reset();
}

std::string reason_not_left(const LabState& lab) {
    const bool is_left = !lab.filling.empty() || lab.measured || lab.looking_back || lab.selected;
    return is_left ? ""
                   : "Nothing is selected, measured or filling its panel, and the newest result is shown.";
}

std::string reason_no_earlier(const LabState& lab) {
    return has_step_back(lab, -1) ? "" : "There is no earlier result.";
}

std::string reason_no_later(const LabState& lab) {
    return has_step_back(lab, 1) ? "" : "The newest result is shown.";
}

std::string reason_not_earlier(const LabState& lab) {
    return lab.looking_back ? "" : "The newest result is shown.";
}

std::string reason_no_session(const LabState& lab) {
    return has_session(lab) ? "" : "There is no complete result yet.";
}

auto is_arranged(Arrangement arrangement) {
    return [arrangement](const LabState& lab) { return lab.settings.arrangement == arrangement; };
}

void add_history(std::vector<Action>& all) {
    all.push_back({.group = "History",
                   .name = "Earlier result",
                   .act = [](LabState& lab) { step_back(lab, -1); },
                   .keys = {ImGuiKey_F7},
                   .reason = reason_no_earlier,
                   .meaning = "Shows the result before this one again. Nothing runs."});
    all.push_back({.group = "History",
                   .name = "Later result",
                   .act = [](LabState& lab) { step_back(lab, 1); },
                   .keys = {ImGuiKey_F8},
                   .reason = reason_no_later});
    all.push_back({.group = "History",
                   .name = "Run the earlier result again",
                   .act = [](LabState& lab) { run_again(lab, lab.shown_ticket); },
                   .keys = {ImGuiKey_Enter},
                   .reason = reason_not_earlier,
                   .meaning = "Sets the settings of the earlier result that is shown, and runs them.",
                   .yields = true});
    all.push_back({.group = "View",
                   .name = "History of results",
                   .act = [](LabState& lab) { lab.settings.shows_history = !lab.settings.shows_history; },
                   .is_on = [](const LabState& lab) { return lab.settings.shows_history; },
                   .meaning = "The last 32 results as marks in the status bar: a taller one is slower, a red "
                              "frame has a wrong variant. A click shows a result again."});
}

void add_layouts(std::vector<Action>& all) {
    all.push_back({.group = "View",
                   .name = "Explore layout",
                   .act = [](LabState& lab) { arrange(lab, Arrangement::explore); },
                   .keys = {ctrl | ImGuiKey_1},
                   .is_on = is_arranged(Arrangement::explore),
                   .meaning = "The story in the middle, times, occupancy and numbers beside it."});
    all.push_back({.group = "View",
                   .name = "Compare layout",
                   .act = [](LabState& lab) { arrange(lab, Arrangement::compare); },
                   .keys = {ctrl | ImGuiKey_4},
                   .is_on = is_arranged(Arrangement::compare),
                   .meaning = "Figures and Numbers side by side, to compare with pinned results."});
}

void add_sessions(std::vector<Action>& all) {
    all.push_back(
        {.group = "File",
         .name = "Save session",
         .act =
             [](LabState& lab) { lab.session.path.empty() ? begin_saving_session(lab) : save_session(lab); },
         .keys = {ctrl | ImGuiKey_S},
         .reason = reason_no_session,
         .details = [](const LabState& lab) { return fmt::format("({})", words_of_session(lab)); },
         .meaning = "Saves the history of results, pins and finished sweeps with their figures."});
    all.push_back({.group = "File",
                   .name = "Save session as…",
                   .act = begin_saving_session,
                   .keys = {ctrl | shift | ImGuiKey_S},
                   .reason = reason_no_session,
                   .meaning = "Saves the session under another name."});
}

std::string reason_not_stopped(const LabState& lab) {
    const bool busy = lab.pending.ticket || sweeps_run(lab) || lab.checking.ticket;
    return busy ? "" : "Nothing is running.";
}

std::string reason_no_result(const LabState& lab) { return lab.result ? "" : "Nothing was run yet."; }

void step_scale(LabState& lab, double step) { choose_scale(lab, scale_of(lab) + step); }

std::vector<Action> all_actions() {
    std::vector<Action> all;
    const auto add = [&](Action action) { all.push_back(std::move(action)); };
    add({"Run", "Run", submit, {ImGuiKey_F5}});
    add({"Run", "Stop", stop, {shift | ImGuiKey_F5}, reason_not_stopped});
    add({.group = "Run",
         .name = "Live",
         .act = [](LabState& lab) { lab.live = !lab.live; },
         .is_on = [](const LabState& lab) { return lab.live; }});
    add({"Run", "Check the kernels", start_check});
    add({"Run", "Cancel the background sweeps", cancel_sweeps, {}, [](const LabState& lab) {
             return sweeps_run(lab) ? "" : "No sweep is running.";
         }});
    add({"Settings",
         "Undo",
         undo,
         {ctrl | ImGuiKey_Z},
         [](const LabState& lab) { return words_of_undo(lab).empty() ? "Nothing changed yet." : ""; },
         words_of_undo,
         {},
         is_a_step});
    add({"Settings",
         "Redo",
         redo,
         {ctrl | shift | ImGuiKey_Z, ctrl | ImGuiKey_Y},
         [](const LabState& lab) { return words_of_redo(lab).empty() ? "Nothing was undone." : ""; },
         words_of_redo,
         {},
         is_a_step});
    add({"Settings",
         "Filter parameters",
         [](LabState& lab) { lab.focuses_filter = true; },
         {ctrl | ImGuiKey_F}});
    add({"Settings", "Reset all parameters", reset_parameters});
    add({.group = "View",
         .name = "Pin the result",
         .act = toggle_pin,
         .keys = {ctrl | ImGuiKey_B},
         .reason = reason_not_pinned,
         .is_on = is_pinned,
         .meaning = "Keeps the shown result: figures show it faded behind newer ones, and Numbers compares "
                    "with it."});
    add({"View", "Unpin all results", unpin_all, {}, [](const LabState& lab) {
             return lab.pins.empty() ? "No result is pinned." : "";
         }});
    add_history(all);
    add_layouts(all);
    add({.group = "File",
         .name = "Open a session or inputs",
         .act = [](LabState& lab) { lab.show_open = true; },
         .keys = {ctrl | ImGuiKey_O},
         .meaning = "Opens a saved session, or an .npz file as inputs."});
    add_sessions(all);
    add({"File", "Close the input file", close_file, {}, [](const LabState& lab) {
             return lab.request.input.empty() ? "No file is open." : "";
         }});
    add({"File", "Copy as command",
         [](LabState& lab) { copy_text(lab, command_of(request_of(lab)), "the command"); }});
    add({"File",
         "Copy the numbers as TSV",
         [](LabState& lab) { copy_text(lab, lab.told.measured.tsv(), "the table as TSV"); },
         {},
         reason_no_result});
    add({"File",
         "Copy the numbers as Markdown",
         [](LabState& lab) { copy_text(lab, lab.told.measured.markdown(), "the table as Markdown"); },
         {},
         reason_no_result});
    add({.group = "File",
         .name = "Save trace…",
         .act = begin_saving_trace,
         .reason =
             [](const LabState& lab) {
                 return lab.result && has_launches(*lab.result)
                            ? ""
                            : "This result has no launches: run with profile timeline.";
             },
         .meaning = "Saves launches, busy workers and sampled counters as a file that Perfetto opens."});
    add({.group = "View",
         .name = "Note on the launch…",
         .act = begin_note_on_selected,
         .reason =
             [](const LabState& lab) {
                 return selected_launch(lab) ? reason_no_note(lab) : "No launch is selected: click one.";
             },
         .meaning = "Writes a note on the selected launch, which the timeline, the session and its report "
                    "show."});
    // On some keyboards plus needs Shift.
    add({"View",
         "Larger",
         [](LabState& lab) { step_scale(lab, scale_step); },
         {ctrl | ImGuiKey_Equal, ctrl | shift | ImGuiKey_Equal, ctrl | ImGuiKey_KeypadAdd},
         [](const LabState& lab) {
             return scale_of(lab) < largest_scale(lab) ? "" : "This is the largest.";
         }});
    add({"View",
         "Smaller",
         [](LabState& lab) { step_scale(lab, -scale_step); },
         {ctrl | ImGuiKey_Minus, ctrl | ImGuiKey_KeypadSubtract},
         [](const LabState& lab) { return scale_of(lab) > smallest_scale ? "" : "This is the smallest."; }});
    add({"View",
         "Scale of the monitor",
         [](LabState& lab) { choose_scale(lab, 0); },
         {ctrl | ImGuiKey_0, ctrl | ImGuiKey_Keypad0},
         {},
         [](const LabState& lab) { return fmt::format("({:.0f} %)", lab.monitor.scale * 100); },
         [](const LabState& lab) { return !lab.once.scale && lab.settings.scale <= 0; }});
    add({.group = "View",
         .name = "Full screen",
         .act = [](LabState& lab) { lab.full_screen = !lab.full_screen; },
         .keys = {ImGuiKey_F11},
         .is_on = [](const LabState& lab) { return lab.full_screen; }});
    add({.group = "View",
         .name = "Reset layout",
         .act = [](LabState& lab) { lab.rebuild_layout = true; },
         .meaning = "Restores the panels of the layout."});
    add({.group = "View",
         .name = "Close, clear a selection, back to all figures or the newest result",
         .act = leave_last,
         .keys = {ImGuiKey_Escape},
         .reason = reason_not_left,
         .yields = true});
    add({"Help", "All actions", open_palette, {ctrl | shift | ImGuiKey_P}});
    add({"Help",
         "Explain what is under the mouse",
         [](LabState& lab) {
             lab.help.reset();
             lab.wants_help = true;
         },
         {ImGuiKey_F1}});
    add({"Help", "Shortcuts", [](LabState& lab) {
             lab.help = Help{"", "", true};
             lab.wants_help = true;
         }});
    return all;
}

bool is_pressed(const Action& action) {
    if (ImGui::GetTopMostPopupModal()) return false;  // keys are those of the dialog
    const auto pressed = [](int keys) { return ImGui::Shortcut(keys, ImGuiInputFlags_RouteGlobal); };
    if (!action.yields) return std::any_of(action.keys.begin(), action.keys.end(), pressed);
    // With a visible focus, Enter presses the control that has it.
    if (action.keys.front() == ImGuiKey_Enter && ImGui::GetIO().NavVisible) return false;
    return !ImGui::GetIO().WantTextInput && ImGui::IsKeyPressed(static_cast<ImGuiKey>(action.keys.front())) &&
           !ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopup);
}

}  // namespace

const std::vector<Action>& actions() {
    static const std::vector<Action> all = all_actions();
    return all;
}

const Action& action(std::string_view name) {
    return *std::find_if(actions().begin(), actions().end(),
                         [&](const Action& each) { return each.name == name; });
}

std::string reason_against(const LabState& lab, const Action& action) {
    return action.reason ? action.reason(lab) : "";
}

void perform(LabState& lab, const Action& action) {
    if (reason_against(lab, action).empty()) action.act(lab);
}

void take_keys(LabState& lab) {
    lab.wants_help = false;
    for (const Action& each : actions())
        if (is_pressed(each)) perform(lab, each);
}

std::string keys_of(const Action& action) {
    if (action.keys.empty()) return "";
    std::string words = ImGui::GetKeyChordName(action.keys.front());
    // The names that are printed on keyboards.
    for (const auto& [name, shown] : {std::pair("Equal", "plus"), {"Minus", "minus"}, {"Escape", "Esc"}})
        if (words.ends_with(name))
            words.replace(words.size() - std::string_view(name).size(), std::string::npos, shown);
    return words;
}

void draw_entry(LabState& lab, const Action& action) {
    const std::string details = action.details ? action.details(lab) : "",
                      reason = reason_against(lab, action);
    const std::string label =
        fmt::format("{}{}{}###{}", action.name, details.empty() ? "" : " ", details, action.name);
    const bool on = action.is_on && action.is_on(lab);
    if (ImGui::MenuItem(label.c_str(), keys_of(action).c_str(), on, reason.empty())) perform(lab, action);
    tooltip(reason.empty() ? action.meaning : reason);
}

}  // namespace sawtooth
