#pragma once

#include <functional>
#include <string>
#include <vector>

#include "app/gui/state/lab_state.h"

namespace sawtooth {

// Something the user can do. Keys, menus, the palette and the list of shortcuts are made from these, so that
// they agree.
struct Action {
    std::string group, name;
    std::function<void(LabState&)> act;
    std::vector<int> keys = {};  // of Dear ImGui, with modifiers; the first is the one shown
    std::function<std::string(const LabState&)> reason = {};   // why it cannot be done now; "" if it can
    std::function<std::string(const LabState&)> details = {};  // what exactly it would do: "chunk" of undo
    std::function<bool(const LabState&)> is_on = {};           // for what is switched or chosen
    std::string meaning = {};                                  // for its tooltip
    bool yields = false;                                       // popups and typing take its key first
};

// The same at every time, in the order of the list of shortcuts.
const std::vector<Action>& actions();
// Of this name in actions().
const Action& action(std::string_view name);
// What there is to choose from now: families, backends, presets, panels, figures, …
std::vector<Action> choices(const LabState& lab);
std::vector<Action> theme_choices();
std::vector<Action> scale_choices(const LabState& lab);

// Does it, unless there is a reason not to.
void perform(LabState& lab, const Action& action);
// Does all whose keys are pressed in this frame.
void take_keys(LabState& lab);

// "Ctrl+Shift+P"; "" without a key.
std::string keys_of(const Action& action);
// Why it cannot be done now; "" if it can.
std::string reason_against(const LabState& lab, const Action& action);
// The entry of a menu, named and greyed as in the palette.
void draw_entry(LabState& lab, const Action& action);

}  // namespace sawtooth
