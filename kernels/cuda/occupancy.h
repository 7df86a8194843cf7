#pragma once

#include "kernels/core/chip.h"
#include "kernels/core/launch.h"
#include "kernels/core/result.h"

namespace sawtooth::cuda {

// The shared memory that the system reserves per thread block, on every chip since 8.0.
constexpr int64_t reserved_shared_bytes = 1 << 10;

// Returns the share of an SM's warps that can be resident, from cuda_occupancy.h, and what limits it:
// "registers", "shared memory", "warps", "blocks", or "does not fit" with a share of 0.
Occupancy theoretical_occupancy(const Chip& chip, int64_t threads_per_block, const Resources& resources);

}  // namespace sawtooth::cuda
