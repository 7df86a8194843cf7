#pragma once

#include "app/gui/state/lab_state.h"

namespace sawtooth {

// The settings that gave a result of the family.
Snapshot settings_of_request(const Family& family, Request request);
// Sets what no control of the window shows or changes to that of the present Request.
void keep_without_control(Request& request, const Request& present);
// The settings that gave a result of the shown family. The present ones may be newer.
Snapshot settings_of_result(const LabState& lab, const Result& result);

}  // namespace sawtooth
