// Additions to a row of one warp, without atomics. Defines: INTEGER (sums.cuh).
#pragma once

#include "kernels/cuda/device/sync.cuh"
#include "kernels/cuda/device/warp.cuh"
#include "kernels/lut/cuda/sums.cuh"

namespace sawtooth::lut {

// Adds the value of every lane to row[target]; lanes with the same target add in their order. A target of -1
// is none. The whole warp takes part.
__device__ inline void add_in_order(Sum* row, int target, Sum value) {
    const unsigned same = __match_any_sync(device::whole_warp, target);
    const int lane = device::lane_of_thread();
    const bool leads = target >= 0 && __ffs(same) - 1 == lane;
    unsigned rest = leads ? same : 0;
    Sum sum = leads ? row[target] : 0;
    while (__any_sync(device::whole_warp, rest != 0)) {
        const Sum other = __shfl_sync(device::whole_warp, value, rest ? __ffs(rest) - 1 : lane);
        if (rest) sum += other;
        rest &= rest - 1;
    }
    if (leads) row[target] = sum;
    device::sync_warp();
}

}  // namespace sawtooth::lut
