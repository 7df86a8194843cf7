// The forward pass of the variant fused, for sparse tables: a thread block compares the pairs of all
// detectors for an item, then every warp adds the synapses of the chosen neurons of its detectors to its own
// row.
//
// Defines: ANCHORS (detectors.cuh), SPARSE, ALIGNED (table.cuh), INTEGER (sums.cuh), WARPS, ROWS_SHARED
// (rows.cuh), THREADS.

#include "kernels/lut/cuda/arguments.cuh"
#include "kernels/lut_table/cuda/detectors.cuh"
#include "kernels/lut_table/cuda/rows.cuh"
#include "kernels/lut_table/cuda/table.cuh"

using namespace sawtooth;
using namespace sawtooth::lut;

extern __shared__ Sum row_room[];

// Grid: B. Thread block b owns item b. Thread t compares detectors t, t + THREADS, …; then a lane has one
// detector at a time:
//   warp        0          1           …   WARPS - 1          then 32 WARPS detectors further on
//   detectors   0 … 31     32 … 63         … 32 WARPS - 1
//   y row       0          1               WARPS - 1          [WARPS, outputs] (rows.cuh), summed at the end
extern "C" __global__ void __launch_bounds__(THREADS) look_up_sparse(Arguments given) {
    const int64_t item = blockIdx.x;
    const float* const x = given.x + item * given.inputs;
    for (int64_t detector = threadIdx.x; detector < given.detectors; detector += THREADS) {
        const Pairs pairs(given.anchors + detector * ANCHORS * 2);
        store(given.found, item * given.detectors + detector,
              detect(pairs, given.eps, [&](int i) { return x[i]; }));
    }
    // The barrier in the constructor also makes what the detectors found visible to all warps.
    const Rows y(row_room, static_cast<Sum*>(given.scratch) + item * given.outputs, given.outputs);
    for (int64_t first = 32 * device::warp_of_thread(); first < given.detectors; first += 32 * WARPS) {
        const int64_t detector = first + device::lane_of_thread();
        Row row;
        if (detector < given.detectors) {
            const int32_t chosen = given.found.lookup_index[item * given.detectors + detector];
            row = Row(given.table, detector * given.rows + chosen, given.outputs);
        }
        y.add_synapses(given.table, row, given.scale);
    }
    y.write(static_cast<float*>(given.y) + item * given.outputs, given.scale, given.fault + fault_y);
}
