#pragma once

#include <memory>
#include <string>

#include "app/gui/lab_state.h"

namespace sawtooth {

// A run shows its outputs and errors before it measures times. Until then the times of the last complete run
// stay in sight.

// The partial result with the times, launches and clocks of `before`.
std::shared_ptr<const Result> with_times_of(const Result& before, const Result& partial);

// The figures of a partial result. A figure that has nothing to draw yet is replaced by the one in `before`
// with the same id, and its id is added to `kept`.
Figures with_figures_of(const Figures& before, const Figures& partial, std::set<std::string>& kept);

// What differed when the times in sight were measured: "chunk = 64, d = 32", or the device; "" if nothing
// did, or if the times are those of the result itself.
std::string setting_of_times(const LabState& lab);

}  // namespace sawtooth
