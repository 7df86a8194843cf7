#pragma once

#include "kernels/core/family.h"

namespace sawtooth {

// Look-up table kernels on one vector.
const Family& lut_family();

}  // namespace sawtooth
