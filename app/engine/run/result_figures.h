#pragma once

#include <memory>
#include <vector>

#include "app/engine/run/configure.h"
#include "kernels/core/figure.h"
#include "kernels/core/result.h"
#include "kernels/core/sweep.h"

namespace sawtooth {

// The result with other values of parameters that only affect figures.
std::shared_ptr<const Result> with_figure_parameters(const Result& result, const Parameters& parameters);
// All figures of a result: the family's and those of profiling (times, timeline, occupancy).
std::vector<Figure> figures_of(const Result& result, const View& view);
// Figures of a sweep: those of the family that requested it, otherwise time and error of every variant by
// axis.
std::vector<Figure> figures_of(const SweepResult& result);
// The sweeps that the family's figures need, around a Request whose parameters are all settled and that runs
// on `backend`.
std::vector<Sweep> figure_sweeps(const Request& request, const Parameters& parameters, Backend backend);

}  // namespace sawtooth
