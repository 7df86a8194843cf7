#pragma once

#include <string>
#include <vector>

#include "kernels/core/family.h"

namespace sawtooth::attention {

// Returns the background sweeps of the family. On the CPU their shapes are small, so that they finish soon.
std::vector<FigureSweep> sweeps(const Parameters& parameters);

// Returns maps of a sweep of one variant over BLOCK_M (first axis) and BLOCK_N: its time, and on CUDA the
// theoretical occupancy of its forward kernel.
std::vector<Figure> tile_figures(const SweepResult& sweep);
// Returns time and memory of naive and streaming against N, forward alone and with backward, and the
// speed-up.
std::vector<Figure> length_figures(const SweepResult& sweep);
// Returns the time of streaming against the window, and the number of tiles of each kind.
std::vector<Figure> window_figures(const SweepResult& sweep);

}  // namespace sawtooth::attention
