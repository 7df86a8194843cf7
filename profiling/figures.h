#pragma once

#include <vector>

#include "kernels/core/figure.h"
#include "kernels/core/parameter.h"
#include "kernels/core/result.h"
#include "kernels/core/sweep.h"

namespace sawtooth {

// Bars a variant, stacked by launch, with quartiles; the copy limit as a line.
Figure times_figure(const Result& result);
// Launches of every variant on one time axis, and under them how many workers are busy (on the CPU) or when
// a launch runs (on a GPU), and what was sampled.
Figure timeline_figure(const Result& result, const View& view = {});
// Theoretical and achieved occupancy of every kind of launch as bars, with what limits it: for the chip of
// `Request::arch` where one was chosen, else as it ran on a GPU.
Figure occupancy_figure(const Result& result);
// Time and error of every variant against the axis of a sweep; the second axis of two makes a curve each.
std::vector<Figure> sweep_figures(const SweepResult& result, const Parameter& parameter);

}  // namespace sawtooth
