#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/gui/state/lab_state.h"

namespace sawtooth {

// Something that the user can do. Keys, menus, the palette and the list of shortcuts are all made from these,
// so that they agree.
struct Action {
    std::string group, name;
    std::function<void(LabState&)> act;
    std::vector<int> keys = {};  // keys of Dear ImGui with modifiers; the first one is displayed
    std::function<std::string(const LabState&)> reason = {};  // why it cannot be done now; "" if it can
    std::function<std::string(const LabState&)> details =
        {};                                           // what exactly it would do, such as "chunk" for undo
    std::function<bool(const LabState&)> is_on = {};  // for actions that switch or choose
    std::string meaning = {};                         // text of its tooltip
    bool yields = false;                              // popups and typing take its key first
};

// All actions, in the order of the list of shortcuts; they never change.
const std::vector<Action>& actions();
// The action of that name in actions().
const Action& action(std::string_view name);
// The choices that exist at present: families, backends, presets, panels, figures, …
std::vector<Action> choices(const LabState& lab);
std::vector<Action> theme_choices();
std::vector<Action> recent_choices(const LabState& lab);  // recent files
std::vector<Action> scale_choices(const LabState& lab);

// Performs the action unless there is a reason against it.
void perform(LabState& lab, const Action& action);
// Performs all actions whose keys were pressed in this frame.
void take_keys(LabState& lab);

// The key in words: "Ctrl+Shift+P"; "" if it has none.
std::string keys_of(const Action& action);
// Why it cannot be done now; "" if it can.
std::string reason_against(const LabState& lab, const Action& action);
// Draws the menu entry of an action, named and greyed as in the palette.
void draw_entry(LabState& lab, const Action& action);

}  // namespace sawtooth
