#pragma once

#include <vector>

#include "kernels/core/figure.h"
#include "kernels/core/sweep.h"

namespace sawtooth::ar_ssm {

// Figures over the background sweeps of the family.

// "time_by_scan": the time of unfused with every scan, and the share of the scan.
std::vector<Figure> scan_figures(const SweepResult& sweep);
// "time_by_max_rank": the time of both variants.
std::vector<Figure> rank_figures(const SweepResult& sweep);

}  // namespace sawtooth::ar_ssm
