#pragma once

#include <vector>

#include "app/engine/check/trial.h"
#include "kernels/core/figure.h"

namespace sawtooth {

// Figures of what the variant computed, what it should have computed, and the difference, around the worst
// element of a wrong output, with the borders of tiles. Empty if that output is missing.
std::vector<Figure> figures_of_finding(const Trial& trial, const Tried& tried);

}  // namespace sawtooth
