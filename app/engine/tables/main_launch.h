#pragma once

#include "kernels/core/result.h"

namespace sawtooth {

// The launch on which a variant spends most time, if its SM resources are known; otherwise null.
const LaunchRecord* main_launch(const VariantResult& variant);

}  // namespace sawtooth
