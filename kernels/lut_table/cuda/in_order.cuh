// Additions of a warp to its own row without atomics, always in the same order.
//   lane        0    1    2    3    4          the first lane of each target leads: 0 and 1
//   target      5    2    5   -1    5
//   round 1     row[5] + v0      row[2] + v1
//   round 2     … + v2
//   round 3     … + v4           as many rounds as the most frequent target has lanes
// Defines: INTEGER (sums.cuh).
#pragma once

#include "kernels/cuda/device/sync.cuh"
#include "kernels/cuda/device/warp.cuh"
#include "kernels/lut_table/cuda/sums.cuh"

namespace sawtooth::lut_table {

// Adds the value of every lane to row[target]; lanes with the same target add in their order. A target of -1
// adds nothing. The whole warp must call it.
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
    device::sync_warp();  // the next call may have another leading lane for a target
}

}  // namespace sawtooth::lut_table
