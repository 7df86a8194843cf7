#pragma once

#include <vector>

#include "kernels/core/figure.h"
#include "kernels/core/sweep.h"

namespace sawtooth::lut {

// Figures over the background sweeps of the family.

// Time of the variants and of the kernels of unfused against a size: detectors, or anchors of each.
std::vector<Figure> size_figures(const SweepResult& sweep);
// Errors, and values that change from run to run, with float and with integer arithmetic.
std::vector<Figure> arithmetic_figures(const SweepResult& sweep);

}  // namespace sawtooth::lut
