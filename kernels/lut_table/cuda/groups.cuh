// Sums of a row in registers, four per thread. A group has LANES threads, and GROUPS groups sum the same row
// over different terms: in every group lane l sums numbers 4 l … + 3. With LANES = 4 and GROUPS = 2:
//   group       0                                     1
//   thread      0        1        2         3         4        5        6         7
//   numbers     0 … 3    4 … 7    8 … 11    12 … 15   0 … 3    4 … 7    8 … 11    12 … 15
// Thread 1 adds the sums of thread 5 to its own and writes numbers 4 … 7. A thread block may have several
// items, each with its own groups.
// Defines: LANES, GROUPS, THREADS, INTEGER (sums.cuh), ALIGNED (table.cuh).
#pragma once

#include "kernels/cuda/device/sync.cuh"
#include "kernels/lut_table/cuda/sums.cuh"
#include "kernels/lut_table/cuda/table.cuh"

namespace sawtooth::lut_table {

// Adds the sums of the groups in their order. If `writes`, group 0 writes numbers o … o + 3 of a row. All
// threads must call it.
__device__ inline void write_groups(Sum (&sums)[4], int group, float* row, int64_t o, int64_t count,
                                    double scale, int32_t* fault, bool writes) {
    if constexpr (GROUPS > 1) {
        __shared__ Sum room[4][THREADS];
        device::sync_block();  // group 0 has read the sums of the previous call
#pragma unroll
        for (int k = 0; k < 4; ++k) room[k][threadIdx.x] = sums[k];
        device::sync_block();  // the sums of all groups are visible to group 0
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

}  // namespace sawtooth::lut_table
