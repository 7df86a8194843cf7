#pragma once

#include "app/engine/run/sweep_steps.h"
#include "app/engine/sources/source.h"

namespace sawtooth {

// Measures the next cell of a sweep, or takes it from `newest` if that has its settings; it may be null.
// Errors: usage (before the first cell: the sweep is not possible), cancelled, or no further cell can run.
std::optional<Error> take_next_cell(SweepSteps& steps, Source& source, std::stop_token stop,
                                    const Result* newest = nullptr);

// All cells. Refused cells are results; an error ends the sweep. `done` is called after each cell.
Outcome<SweepResult> run_sweep(Source& source, const Sweep& sweep, std::stop_token stop,
                               const OnCell& done = {});

}  // namespace sawtooth
