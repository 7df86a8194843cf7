#pragma once

#include "kernels/core/family.h"

namespace sawtooth {

// Look-up table kernels on pairs of positions.
const Family& lut_sequence_family();

}  // namespace sawtooth
