#pragma once

#include <functional>
#include <string>
#include <vector>

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

// Measures these cells of `result` (see `unmeasured`), which is no search, in order. Refused cells are
// results. `done` is called after each cell, with its index. Errors as of run_sweep; the cells before it
// stay.
using OnMeasured = std::function<void(size_t cell)>;
std::optional<Error> run_cells(Source& source, SweepResult& result, const std::vector<size_t>& cells,
                               const std::stop_token& stop, const OnMeasured& done = {});

// The same in several workers at once, one for each command (TeamTask). `told` gets a line for each worker
// that is lost. Errors: also a failure once all are lost.
std::optional<Error> run_cells_in_team(const std::vector<std::string>& commands,
                                       const std::string& cache_directory, SweepResult& result,
                                       const std::vector<size_t>& cells, const std::stop_token& stop,
                                       const OnMeasured& done,
                                       const std::function<void(const std::string&)>& told);

}  // namespace sawtooth
