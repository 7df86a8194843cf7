#pragma once

#include <string>

#include "app/gui/state/lab_state.h"

namespace sawtooth {

// Says which parameters have an effect with the current settings: changes of the others recompute nothing.

// Why the parameter has no effect with the current settings, in a few words; "" if it has one.
std::string reason_unused(const LabState& lab, const Parameter& row);
// The current upper end of the parameter's slider.
double last_value(const LabState& lab, const Parameter& row);

// The Request with only the parameters in effect: equal ones have the same run and the same figures.
Request acting(const LabState& lab, Request request);
// The part of that Request that decides the numbers.
Request deciding(const LabState& lab, Request request);
// Returns whether the shown result belongs to the current settings.
bool shows_what_is_set(const LabState& lab);

}  // namespace sawtooth
