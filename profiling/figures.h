#pragma once

#include "kernels/core/figure.h"
#include "kernels/core/result.h"

namespace sawtooth {

// Launches of every variant on one time axis, and under them how many workers are busy (on the CPU) or when
// a launch runs (on a GPU), and what was sampled.
Figure timeline_figure(const Result& result, const View& view = {});
// Theoretical and achieved occupancy of every kind of launch as bars, with what limits it: for the chip of
// `Request::arch` where one was chosen, else as it ran on a GPU.
Figure occupancy_figure(const Result& result);

}  // namespace sawtooth
