#pragma once

#include "kernels/core/family.h"

namespace sawtooth {

// Associative scan.
const Family& scan_family();

}  // namespace sawtooth
