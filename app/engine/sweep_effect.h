#pragma once

#include <string>
#include <vector>

#include "kernels/core/sweep.h"

namespace sawtooth {

// "slot_count has no effect: only for rule lattice" for each axis without effect in any cell of a checked
// sweep. Empty if the arrays of a file could give an axis an effect.
std::vector<std::string> axes_without_effect(const Sweep& sweep);

}  // namespace sawtooth
