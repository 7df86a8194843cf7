#pragma once

#include "kernels/core/family.h"

namespace sawtooth {

// Windowed two-encoding rotary attention.
const Family& attention_family();

}  // namespace sawtooth
