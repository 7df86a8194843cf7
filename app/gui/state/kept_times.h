#pragma once

#include <memory>
#include <string>

#include "app/gui/state/lab_state.h"

namespace sawtooth {

// A run shows its outputs and errors before it measures times. Until then the times of the last complete run
// stay visible.

// Shows a result. A result without times gets the times, launches and clocks of the last complete one.
void show_result(LabState& lab, const std::shared_ptr<const Result>& result);
// Shows the figures of that result. A figure without data keeps the previous figure with its id.
void show_figures(LabState& lab, const Figures& figures);

// Like `why_outdated` of the lab, for one figure: those that show times are updated last ("measuring (shown:
// chunk = 64)").
std::string why_outdated(const LabState& lab, const Figure& figure);
// The same for the times in a table.
std::string why_times_outdated(const LabState& lab);

}  // namespace sawtooth
