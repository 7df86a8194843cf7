// Four sums a thread, of LANES threads side by side in each of GROUPS groups. Defines: LANES, GROUPS,
// THREADS, INTEGER (sums.cuh), ALIGNED (table.cuh).
#pragma once

#include "kernels/cuda/device/sync.cuh"
#include "kernels/lut/cuda/sums.cuh"
#include "kernels/lut/cuda/table.cuh"

namespace sawtooth::lut {

// Adds the sums of the groups in their order, and writes numbers o … o + 3 of a row, if `writes`. All threads
// take part.
__device__ inline void write_groups(Sum (&sums)[4], int group, float* row, int64_t o, int64_t count,
                                    double scale, int32_t* fault, bool writes) {
    if constexpr (GROUPS > 1) {
        __shared__ Sum room[4][THREADS];
        device::sync_block();  // the room is free
#pragma unroll
        for (int k = 0; k < 4; ++k) room[k][threadIdx.x] = sums[k];
        device::sync_block();
        if (group > 0) return;
        for (int other = 1; other < GROUPS; ++other)
#pragma unroll
            for (int k = 0; k < 4; ++k) sums[k] += room[k][threadIdx.x + other * LANES];
    }
    if (!writes || o >= count) return;
    float values[4];
#pragma unroll
    for (int k = 0; k < 4; ++k)
        values[k] = o + k < count ? static_cast<float>(value_of(sums[k], scale, fault)) : 0;
    store_four(row, o, count, values);
}

}  // namespace sawtooth::lut
