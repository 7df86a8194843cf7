#pragma once

#include <string>

#include "app/gui/lab_state.h"

namespace sawtooth {

// Which parameters have an effect in what is set: a change without one makes nothing anew.

// Why the row's parameter does nothing in what is set, in a few words; "" where it matters.
std::string reason_unused(const LabState& lab, const Parameter& row);
// Where its slider ends now.
double last_value(const LabState& lab, const Parameter& row);

// The Request with all parameters as they act: two that are equal are the same run and the same figures.
Request acting(const LabState& lab, Request request);
// What of it decides the numbers.
Request deciding(const LabState& lab, Request request);
// Whether the result that is shown is one of what is set.
bool shows_what_is_set(const LabState& lab);

}  // namespace sawtooth
