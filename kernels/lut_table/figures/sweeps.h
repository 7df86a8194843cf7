#pragma once

#include <vector>

#include "kernels/core/family.h"
#include "kernels/core/figure.h"
#include "kernels/core/sweep.h"

namespace sawtooth::lut_table {

// Figures over the background sweeps of both families.

// The time of the variants and of the kernels of unfused against a size, such as the number of detectors.
std::vector<Figure> size_figures(const SweepResult& sweep, const Family& family);
// Errors and the number of values that change from run to run, with float and with integer arithmetic.
std::vector<Figure> arithmetic_figures(const SweepResult& sweep);

}  // namespace sawtooth::lut_table
