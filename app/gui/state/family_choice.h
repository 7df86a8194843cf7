#pragma once

#include "app/gui/state/lab_state.h"

namespace sawtooth {

// Shows another family. Submits if the lab is live.
void choose_family(LabState& lab, const Family& family);
// Its parts, for callers that set more. Stores what the shown family is left at; returns what the next one
// was left at.
FamilySettings leave_family(LabState& lab, const Family& next);
// Without its results, and without its input file; runs nothing.
void show_family(LabState& lab, const Family& family, FamilySettings settings);
// What the shown family would be left at.
FamilySettings settings_of(const LabState& lab);

}  // namespace sawtooth
