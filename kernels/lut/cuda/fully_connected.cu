// The kernels of fully connected tables: one thread per detector and output block. Output block q has the
// outputs 4 q … 4 q + 3 of every 4 output_blocks, so that neighbouring threads read neighbouring numbers.
// With 4 output blocks (LANES = 4) and 32 outputs a warp has 8 detectors:
//   lane          0         1         2         3         4         …   31
//   detector      0         0         0         0         1             7
//   outputs       0 … 3     4 … 7     8 … 11    12 … 15   0 … 3         12 … 15
//                 16 … 19   20 … 23   24 … 27   28 … 31   16 … 19       28 … 31
// No barrier is needed: threads communicate only by shuffles and atomic additions.
//
// Defines: SPARSE, ALIGNED (table.cuh), INTEGER (sums.cuh), LANES (the number of output blocks if it divides
// a warp, so that neighbouring lanes have the blocks of one detector; otherwise 32), ALTERNATIVE, THREADS.

#include "kernels/cuda/device/warp.cuh"
#include "kernels/lut/cuda/arguments.cuh"
#include "kernels/lut_table/cuda/sums.cuh"
#include "kernels/lut_table/cuda/table.cuh"

using namespace sawtooth;
using namespace sawtooth::lut;

namespace {

// The detector and output block of a thread: index = detector * output_blocks + output_block.
struct Place {
    int64_t detector;  // -1: none
    int64_t output_block;

    __device__ explicit Place(const Arguments& given) {
        const int64_t index = int64_t{blockIdx.x} * THREADS + threadIdx.x;
        detector = index / given.output_blocks;
        output_block = index % given.output_blocks;
        if (detector >= given.detectors) detector = -1;
    }
};

// Calls each(o) for the first of every four outputs of the block. All lanes make the same number of calls, so
// o may lie past the end.
template <class Each>
__device__ void for_outputs(const Arguments& given, int64_t output_block, Each each) {
    for (int64_t first = 0; first < given.outputs; first += 4 * given.output_blocks)
        each(first + 4 * output_block);
}

// Adds atomically to numbers o … o + 3 of a row, except those past its end.
template <class Sums>
__device__ void add_four_of_row(Sums* row, int64_t o, int64_t outputs, const Sums (&four)[4]) {
    if (ALIGNED) {
        add_four(row + o, four);
    } else {
#pragma unroll
        for (int k = 0; k < 4; ++k)
            if (o + k < outputs) add(row + o + k, four[k]);
    }
}

}  // namespace

// Grid of all kernels: ceil(T * output_blocks / block_size), min(B, 65535). Thread block (x, y) has the items
// y, y + gridDim.y, … This kernel adds rows to y:
//   weights [T, rows, outputs], row lookup_index [B, T] of each detector  ->  y [B, outputs]
// If LANES < 32, a warp first sums the rows of its detectors, then adds once: above, lane 1 adds the sums of
// lanes 1, 5, 9, …, 29. Threads without a detector take part with zeros.
extern "C" __global__ void __launch_bounds__(THREADS) fill_outputs_fully_connected(Arguments given) {
    const Place place(given);
    for (int64_t item = blockIdx.y; item < given.batch; item += gridDim.y) {
        const float* weights = nullptr;
        if (place.detector >= 0) {
            const int32_t row = given.found.lookup_index[item * given.detectors + place.detector];
            weights = given.table.weights + (place.detector * given.rows + row) * given.outputs;
        }
        Sum* const y = static_cast<Sum*>(given.y) + item * given.outputs;
        for_outputs(given, place.output_block, [&](int64_t o) {
            float four[4] = {};
            if (weights && o < given.outputs) load_four(weights, o, given.outputs, four);
            Sum sums[4];
#pragma unroll
            for (int k = 0; k < 4; ++k) {
                sums[k] = term(four[k], given.scale);
#pragma unroll
                for (int step = LANES; step < 32; step *= 2)
                    sums[k] += __shfl_xor_sync(device::whole_warp, sums[k], step);
            }
            if (device::lane_of_thread() < LANES && o < given.outputs)
                add_four_of_row(y, o, given.outputs, sums);
        });
    }
}

// Sums weight times dy over the outputs of the output block, for the chosen row, or with ALTERNATIVE for the
// alternative row:
//   dy [B, outputs], weights [T, rows, outputs]  ->  gradient_sums [B, 2, T], row ALTERNATIVE of each item
// If LANES < 32, the LANES neighbouring threads of a detector are summed first, and output block 0 adds for
// all of them: above, lane 4 adds the sums of lanes 4 … 7. Otherwise every thread adds its own sum.
extern "C" __global__ void __launch_bounds__(THREADS) gather_x_gradients_fully_connected(Arguments given) {
    const Place place(given);
    for (int64_t item = blockIdx.y; item < given.batch; item += gridDim.y) {
        Sum sum = 0;
        const float* const dy = given.dy + item * given.outputs;
        if (place.detector >= 0) {
            const int64_t at = item * given.detectors + place.detector;
            int32_t row = given.found.lookup_index[at];
            bool is_one = true;
            if constexpr (ALTERNATIVE) {
                const int32_t weakest = given.found.min_delta_index[at];
                is_one = weakest >= 0;
                if (is_one) row ^= 1 << weakest;
            }
            const float* const weights =
                given.table.weights + (place.detector * given.rows + row) * given.outputs;
            if (is_one)
                for_outputs(given, place.output_block, [&](int64_t o) {
                    if (o >= given.outputs) return;
                    float w[4], d[4];
                    load_four(weights, o, given.outputs, w);
                    load_four(dy, o, given.outputs, d);
#pragma unroll
                    for (int k = 0; k < 4; ++k) sum += term(Wide{w[k]} * Wide{d[k]}, given.scale);
                });
        }
        if constexpr (LANES < 32) {
#pragma unroll
            for (int step = 1; step < LANES; step *= 2) sum += __shfl_xor_sync(device::whole_warp, sum, step);
        }
        if (place.detector < 0 || (LANES < 32 && place.output_block > 0)) continue;
        const int64_t at = (item * 2 + ALTERNATIVE) * given.detectors + place.detector;
        add(static_cast<Sum*>(given.gradient_sums) + at, sum);
    }
}

// Each thread adds dy times lr to the chosen row of its detector, at the outputs of its output block:
//   dy [B, outputs]  ->  dweights [T, rows, outputs] += lr dy, weights_after -= lr dy (floats only)
// Items that chose the same row add to the same numbers. Integers are subtracted later, by convert.cu.
extern "C" __global__ void __launch_bounds__(THREADS) gather_w_gradients_fully_connected(Arguments given) {
    const Place place(given);
    if (place.detector < 0) return;
    const auto lr = static_cast<Wide>(given.lr);
    for (int64_t item = blockIdx.y; item < given.batch; item += gridDim.y) {
        const int32_t row = given.found.lookup_index[item * given.detectors + place.detector];
        const int64_t begin = (place.detector * given.rows + row) * given.outputs;
        const float* const dy = given.dy + item * given.outputs;
        for_outputs(given, place.output_block, [&](int64_t o) {
            if (o >= given.outputs) return;
            float four[4];
            load_four(dy, o, given.outputs, four);
            Sum terms[4];
#pragma unroll
            for (int k = 0; k < 4; ++k) terms[k] = term(Wide{four[k]} * lr, given.scale);
            add_four_of_row(static_cast<Sum*>(given.dweights) + begin, o, given.outputs, terms);
            if (integer || !given.weights_after) return;
            const float steps[4] = {-static_cast<float>(terms[0]), -static_cast<float>(terms[1]),
                                    -static_cast<float>(terms[2]), -static_cast<float>(terms[3])};
            add_four_of_row(given.weights_after + begin, o, given.outputs, steps);
        });
    }
}
