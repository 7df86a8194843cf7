#pragma once

#include "app/gui/state/lab_state.h"

namespace sawtooth {

// Shows another family, and runs it.
void choose_family(LabState& lab, const Family& family);
// The first step of choose_family, for callers that also set something else: stores the settings of the shown
// family and returns those at which the next family was left.
FamilySettings leave_family(LabState& lab, const Family& next);
// The second step: shows a family without results and without its input file; runs nothing. A check of
// another family ends, unless a result is only looked at.
void show_family(LabState& lab, const Family& family, FamilySettings settings);
// The settings that would be stored for the shown family.
FamilySettings settings_of(const LabState& lab);

}  // namespace sawtooth
