#pragma once

#include <string>

#include "app/gui/state/lab_state.h"

namespace sawtooth {

// Undo and redo of all changes of the Request, across families. The history of results is in past_results.h.

// Call once per frame: a change since the last call becomes a step. While an item is `held` there are no
// steps, so that a drag is a single one.
void follow_changes(LabState& lab, bool held);
// Undo and redo have no effect if there is no step.
void undo(LabState& lab);
void redo(LabState& lab);
// The present settings.
Snapshot settings_now(const LabState& lab);
// Sets the settings of the shown family. Runs nothing.
void set_settings(LabState& lab, const Snapshot& settings);
// Sets these settings and runs them if they differ from the present ones, as a step that undo takes back.
void go_to(LabState& lab, const Snapshot& settings);
// The changes of a step in words, for the menu: "chunk", "the family", "3 settings"; "" if there is none.
std::string words_of_undo(const LabState& lab);
std::string words_of_redo(const LabState& lab);

}  // namespace sawtooth
