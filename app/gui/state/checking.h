#pragma once

#include "app/gui/state/lab_state.h"

namespace sawtooth {

// Checks the selected variants on the device where they run now.
void start_check(LabState& lab);
// Ends and forgets a check unless it is of the shown family.
void end_check_of_other_family(LabState& lab);
// Takes an event of the running check.
void take_check_event(LabState& lab, const Event& event);
// Sets everything as in the Request of a finding, and runs it.
void load_finding(LabState& lab, const Finding& finding);

}  // namespace sawtooth
