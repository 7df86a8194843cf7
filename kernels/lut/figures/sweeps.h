#pragma once

#include "kernels/lut_table/figures/sweeps.h"

namespace sawtooth::lut {

using lut_table::arithmetic_figures;
// Time of the variants and of the kernels of unfused against a size: detectors, or anchors of each.
std::vector<Figure> size_figures(const SweepResult& sweep);

}  // namespace sawtooth::lut
