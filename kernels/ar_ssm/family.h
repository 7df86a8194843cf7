#pragma once

#include "kernels/core/family.h"

namespace sawtooth {

// The AR-SSM layer: H = T + U V^T with an adaptive rank.
const Family& ar_ssm_family();

}  // namespace sawtooth
