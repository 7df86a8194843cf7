// The device version of kernels/core/integers.h.
#pragma once

namespace sawtooth::device {

__device__ constexpr int ceil_divide(int count, int by) { return (count + by - 1) / by; }
__device__ constexpr int round_up(int count, int multiple) { return ceil_divide(count, multiple) * multiple; }

}  // namespace sawtooth::device
