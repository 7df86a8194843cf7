#pragma once

#include "kernels/core/family.h"

namespace sawtooth {

// Block Two-Pass: a sliding window recurrence.
const Family& btp_family();

}  // namespace sawtooth
