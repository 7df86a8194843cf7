#pragma once

#include <vector>

#include "kernels/core/figure.h"
#include "kernels/core/sweep.h"

namespace sawtooth::btp {

// Figures over the background sweeps of the family.

// Returns time and rate of two_pass and fused against BL.
std::vector<Figure> block_figures(const SweepResult& sweep);
// Returns the time of fused over BL and wpb, and the occupancy of its kernel.
std::vector<Figure> warp_figures(const SweepResult& sweep);
// Returns the time of two_pass and fused with order 1, 2 and full, which shows the cost of the carry.
std::vector<Figure> order_figures(const SweepResult& sweep);
// Returns the time of all variants against L.
std::vector<Figure> length_figures(const SweepResult& sweep);

}  // namespace sawtooth::btp
