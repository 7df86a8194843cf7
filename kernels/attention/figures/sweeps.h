#pragma once

#include <string>
#include <vector>

#include "kernels/core/family.h"

namespace sawtooth::attention {

// The background sweeps of the family. On the CPU their shapes are small enough to finish soon.
std::vector<FigureSweep> sweeps(const Parameters& parameters);

// Figures of a sweep over BLOCK_M (first axis) and BLOCK_N of one variant: its time, and on CUDA the
// theoretical occupancy of its forward kernel, in every cell.
std::vector<Figure> tile_figures(const SweepResult& sweep);
// Time and memory of naive and streaming against N, forward alone and with backward, and the speed-up.
std::vector<Figure> length_figures(const SweepResult& sweep);
// Time of streaming against the window, beside the tiles of each kind.
std::vector<Figure> window_figures(const SweepResult& sweep);

}  // namespace sawtooth::attention
