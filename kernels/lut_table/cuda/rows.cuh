// Rows of sums, one per warp, so that every sum has a fixed order: [WARPS, width] in shared memory, or if
// ROWS_SHARED is false, one row in global memory.
//   row of warp 0            0   1   2   …   width - 1     only warp w adds to row w
//   row of warp 1            0   1   2   …   width - 1
//   row of warp WARPS - 1    0   1   2   …   width - 1
//   write()                  thread i % THREADS sums column i, from warp 0 on
// Defines: WARPS, ROWS_SHARED, INTEGER (sums.cuh), SPARSE, ALIGNED (table.cuh), THREADS.
#pragma once

#include "kernels/cuda/device/sync.cuh"
#include "kernels/lut_table/cuda/in_order.cuh"
#include "kernels/lut_table/cuda/table.cuh"

namespace sawtooth::lut_table {

static_assert(ROWS_SHARED || WARPS == 1, "a row of global memory belongs to one warp");
static_assert(THREADS == 32 * WARPS, "a row per warp");

struct Rows {
    Sum* first;
    int64_t width;

    // Clears the rows. `global` is the row in global memory.
    __device__ Rows(Sum* shared, Sum* global, int64_t row_width)
        : first(ROWS_SHARED ? shared : global), width(row_width) {
        for (int64_t i = threadIdx.x; i < WARPS * width; i += THREADS) first[i] = 0;
        device::sync_block();  // the zeros are visible, which threads also wrote to rows of other warps
    }
    __device__ Sum* of_warp() const { return first + device::warp_of_thread() * width; }

    // Adds the synapses of every lane's neuron; step k adds synapse k of each. The whole warp must call it.
    __device__ void add_synapses(const Table& table, const Row& of_lane, double scale) const {
        for (int k = 0; __any_sync(device::whole_warp, k < of_lane.count); ++k) {
            const bool has = k < of_lane.count;
            const float weight = has ? table.weights[of_lane.begin + k] : 0;
            add_in_order(of_warp(), has ? of_lane.target(table, k) : -1, term(weight, scale));
        }
    }

    // Writes the sums over the rows of the warps, added in the order of the warps.
    __device__ void write(float* to, double scale, int32_t* fault) const {
        device::sync_block();  // all warps have added to their rows
        for (int64_t i = threadIdx.x; i < width; i += THREADS) {
            Sum sum = first[i];
            for (int warp = 1; warp < WARPS; ++warp) sum += first[warp * width + i];
            to[i] = static_cast<float>(value_of(sum, scale, fault));
        }
    }
};

}  // namespace sawtooth::lut_table
