// The variant fused: a thread block computes g of every detector and dx of an item. Every warp takes 32
// detectors at a time and adds to its own row of dx. With g = 0.8 and a weakest difference delta of 1:
//   du = g up'(delta) = 0.8 * 0.125 = 0.1;  dx[first] += 0.1, dx[second] -= 0.1
//
// Defines: ANCHORS, SPARSE, ALIGNED (table.cuh), INTEGER (sums.cuh), WARPS, ROWS_SHARED (rows.cuh), SLICES
// (those of g that detector_gradients.cu has written; 0 if there are none), THREADS.

#include "kernels/lut/cuda/arguments.cuh"
#include "kernels/lut_table/cuda/gradient.cuh"
#include "kernels/lut_table/cuda/rows.cuh"

using namespace sawtooth;
using namespace sawtooth::lut;

extern __shared__ Sum row_room[];

// Grid: B. Thread block b owns item b; a lane owns one detector at a time:
//   warp        0          1           …   WARPS - 1          then 32 WARPS detectors further on
//   detectors   0 … 31     32 … 63         … 32 WARPS - 1
//   dx row      0          1               WARPS - 1          [WARPS, inputs] (rows.cuh), summed at the end
// With slices of g each lane adds those of its detector. Sparse: each lane computes g of its detector. Full:
// the whole warp computes g of its 32 detectors one after another, each lane with a part of the outputs, and
// lane k keeps that of detector k.
//   reads    found [B, T], anchors [T, C, 2]; weights, dy [B, outputs], or slices of g [SLICES, B, T]
//   writes   dx [B, inputs]
// The only barriers are those of Rows, after the zeros and before the rows are summed; in between, warps are
// independent.
extern "C" __global__ void __launch_bounds__(THREADS) input_gradients(Arguments given) {
    const int64_t item = blockIdx.x;
    const int lane = device::lane_of_thread();
    const float* const dy = given.dy + item * given.outputs;
    const Rows dx(row_room, static_cast<Sum*>(given.scratch) + item * given.inputs, given.inputs);
    for (int64_t first = 32 * device::warp_of_thread(); first < given.detectors; first += 32 * WARPS) {
        const int64_t detector = first + lane, at = item * given.detectors + detector;
        const bool is_one = detector < given.detectors;
        const int32_t weakest = is_one ? given.found.min_delta_index[at] : -1;
        const int64_t main = is_one ? detector * given.rows + given.found.lookup_index[at] : 0;
        const int64_t alternative = weakest >= 0 ? main ^ int64_t { 1 } << weakest : main;
        Gradient gradient;
        if constexpr (SLICES > 0) {
#pragma unroll
            for (int slice = 0; slice < SLICES; ++slice)
                if (is_one)
                    gradient.main += given.gradient_slices[slice * given.batch * given.detectors + at];
        } else if constexpr (SPARSE) {
            if (weakest >= 0)
                gradient = gradient_of_synapses(given.table, dy, main, alternative, given.scale);
        } else {
            const int64_t left = given.detectors - first;
            const int count = left < 32 ? static_cast<int>(left) : 32;
#pragma unroll 4
            for (int k = 0; k < count; ++k) {
                const Gradient one =
                    gradient_of_rows(given.table, given.outputs, dy, __shfl_sync(device::whole_warp, main, k),
                                     __shfl_sync(device::whole_warp, alternative, k), given.scale);
                if (k == lane) gradient = one;
            }
        }
        Sum du = 0;
        int pair[2] = {-1, -1};
        if (weakest >= 0) {
            const Wide g = gradient.value(given.scale, given.fault + fault_gradient_sums);
            du = term_of_du(g, given.found.min_delta[at], given.eps, given.scale);
            for (int k = 0; k < 2; ++k) pair[k] = given.anchors[(detector * ANCHORS + weakest) * 2 + k];
            if (pair[0] == pair[1]) du -= du;  // 0, or NaN: the two additions would leave a rounding error
        }
        add_in_order(dx.of_warp(), pair[0], du);
        add_in_order(dx.of_warp(), pair[1], -du);
    }
    dx.write(static_cast<float*>(given.dx) + item * given.inputs, given.scale, given.fault + fault_dx);
}
