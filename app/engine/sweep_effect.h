#pragma once

#include <string>
#include <vector>

#include "kernels/core/sweep.h"

namespace sawtooth {

// "slot_count has no effect: only for rule lattice" of each axis that does nothing in any cell of a checked
// sweep. None where the arrays of a file may give an axis an effect.
std::vector<std::string> axes_without_effect(const Sweep& sweep);

}  // namespace sawtooth
