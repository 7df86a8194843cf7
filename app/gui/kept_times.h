#pragma once

#include <memory>
#include <string>

#include "app/gui/lab_state.h"

namespace sawtooth {

// While a run has outputs and errors and no times yet, the times of the run before it stay in sight.

// The partial result with the times, launches and clocks that `before` has.
std::shared_ptr<const Result> with_times_of(const Result& before, const Result& partial);

// The figures of a partial result, where `before` stands in for those that cannot be drawn yet; their ids are
// added to `kept`.
Figures with_figures_of(const Figures& before, const Figures& partial, std::set<std::string>& kept);

// What was set when the times in sight were measured and is set otherwise now: "chunk = 64, d = 32"; "" where
// they are of this result, or of the same values.
std::string setting_of_times(const LabState& lab);

}  // namespace sawtooth
