#pragma once

#include "kernels/core/family.h"

namespace sawtooth {

// Memory update rules and their chunked forms.
const Family& memory_family();

}  // namespace sawtooth
