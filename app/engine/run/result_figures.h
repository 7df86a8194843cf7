#pragma once

#include <memory>
#include <vector>

#include "app/engine/run/configure.h"
#include "kernels/core/figure.h"
#include "kernels/core/result.h"
#include "kernels/core/sweep.h"

namespace sawtooth {

// A copy of the result with other values of parameters that affect only figures.
std::shared_ptr<const Result> with_figure_parameters(const Result& result, const Parameters& parameters);
// All figures of a result: those of the family and those of profiling (times, timeline, occupancy).
std::vector<Figure> figures_of(const Result& result, const View& view);
// The figures of a sweep: those of the family that requested it, otherwise the time and the error of every
// variant by axis.
std::vector<Figure> figures_of(const SweepResult& result);
// The sweeps that the figures of the family need, around a Request that runs on `backend` with these
// parameters, which are all settled.
std::vector<Sweep> figure_sweeps(const Request& request, const Parameters& parameters, Backend backend);

}  // namespace sawtooth
