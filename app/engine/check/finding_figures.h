#pragma once

#include <vector>

#include "app/engine/check/trial.h"
#include "kernels/core/figure.h"

namespace sawtooth {

// What the variant computed, what it should have, and their difference, around the worst element of a wrong
// output, with the borders of tiles. Empty without that output.
std::vector<Figure> figures_of_finding(const Trial& trial, const Tried& tried);

}  // namespace sawtooth
