#pragma once

#include <memory>
#include <string>

#include "app/gui/state/lab_state.h"

namespace sawtooth {

// A run shows its outputs and errors before it measures times. Until it does, the times of the last complete
// run remain visible.

// Shows a result. If it has no times, it gets the times, launches and clocks of the last complete one.
void show_result(LabState& lab, const std::shared_ptr<const Result>& result);
// Shows the figures of that result. For a figure without data, the previous figure with its id remains.
void show_figures(LabState& lab, const Figures& figures);

// Why a single figure is out of date, like `why_outdated` of the lab. Figures with times are updated last:
// "measuring (shown: chunk = 64)".
std::string why_outdated(const LabState& lab, const Figure& figure);
// Why the times in a table are out of date.
std::string why_times_outdated(const LabState& lab);

}  // namespace sawtooth
