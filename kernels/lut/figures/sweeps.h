#pragma once

#include "kernels/lut_table/figures/sweeps.h"

namespace sawtooth::lut {

using lut_table::arithmetic_figures;
// The time of the variants and of the kernels of unfused against the number of detectors or of anchors per
// detector.
std::vector<Figure> size_figures(const SweepResult& sweep);

}  // namespace sawtooth::lut
