#pragma once

#include <string>

#include "app/gui/state/lab_state.h"

namespace sawtooth {

// Undo and redo of everything that changes the Request, across families.

// Once per frame: a change since the last call is a step, unless an item is `held`, so that a drag is one.
void follow_changes(LabState& lab, bool held);
// Without effect if there is no step.
void undo(LabState& lab);
void redo(LabState& lab);
// What a step changes, for the menu: "chunk", "the family", "3 settings"; "" if there is none.
std::string words_of_undo(const LabState& lab);
std::string words_of_redo(const LabState& lab);

}  // namespace sawtooth
