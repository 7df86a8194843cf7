#pragma once

#include <vector>

#include "kernels/core/figure.h"
#include "kernels/core/parameter.h"
#include "kernels/core/result.h"
#include "kernels/core/sweep.h"

namespace sawtooth {

// Bars a variant, stacked by launch, with quartiles; the copy limit as a line.
Figure times_figure(const Result& result);
// Launches of every variant on one time axis, and how many workers are busy under them.
Figure timeline_figure(const Result& result, const View& view = {});
// Time and error of every variant against the axis of a sweep; the second axis of two makes a curve each.
std::vector<Figure> sweep_figures(const SweepResult& result, const Parameter& parameter);

}  // namespace sawtooth
