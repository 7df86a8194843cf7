#pragma once

#include <memory>
#include <string>

#include "app/gui/lab_state.h"

namespace sawtooth {

// A run shows its outputs and errors before it measures times. Until then the times of the last complete run
// stay in sight.

// Shows a result. One without times yet gets the times, launches and clocks of the last complete one.
void show_result(LabState& lab, const std::shared_ptr<const Result>& result);
// Shows the figures of that result. Where one has nothing to draw yet, the one before it with its id stays.
void show_figures(LabState& lab, const Figures& figures);

// Like `why_outdated` of the lab, for one figure: those that show times are updated last ("measuring (shown:
// chunk = 64)").
std::string why_outdated(const LabState& lab, const Figure& figure);
// The same for the times in a table.
std::string why_times_outdated(const LabState& lab);

}  // namespace sawtooth
