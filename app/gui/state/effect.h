#pragma once

#include <string>

#include "app/gui/state/lab_state.h"

namespace sawtooth {

// Which parameters have an effect with the current settings: other changes recompute nothing.

// Why the parameter has no effect with the current settings, in a few words; "" if it has one.
std::string reason_unused(const LabState& lab, const Parameter& row);
// The current end of its slider.
double last_value(const LabState& lab, const Parameter& row);

// The Request with effective parameters: equal ones have the same run and the same figures.
Request acting(const LabState& lab, Request request);
// The part of it that decides the numbers.
Request deciding(const LabState& lab, Request request);
// Whether the shown result belongs to the current settings.
bool shows_what_is_set(const LabState& lab);

}  // namespace sawtooth
