#pragma once

#include "kernels/core/family.h"

namespace sawtooth {

// Rotary attention with a window: pairs within it and pairs beyond it have different encodings.
const Family& attention_family();

}  // namespace sawtooth
