// The forward pass of the variant fused, for fully connected tables: a thread block compares the pairs of all
// detectors for ITEMS items, then sums the chosen rows in registers. A group is LANES threads with four
// neighbouring outputs each; each of the GROUPS groups sums every GROUPS-th detector.
//
// Defines: ANCHORS (detectors.cuh), SPARSE, ALIGNED (table.cuh), INTEGER (sums.cuh), INPUTS (the number kept
// in shared memory, 0 if they do not fit), ITEMS, GROUPS, LANES, THREADS.

#include "kernels/cuda/device/sync.cuh"
#include "kernels/lut/cuda/arguments.cuh"
#include "kernels/lut_table/cuda/detectors.cuh"
#include "kernels/lut_table/cuda/groups.cuh"

using namespace sawtooth;
using namespace sawtooth::lut;

static_assert(THREADS == ITEMS * GROUPS * LANES, "every thread has a place");

namespace {

// Compares the pairs of all detectors for the items of the thread block, at most ITEMS. Thread t has the
// detectors t, t + THREADS, … and loads their pairs once for all items. staged: [ITEMS, INPUTS].
__device__ void detect_all(const Arguments& given, int64_t first_item) {
    __shared__ float staged[ITEMS * (INPUTS > 0 ? INPUTS : 1)];
    const int64_t left = given.batch - first_item;
    const int items = left < ITEMS ? static_cast<int>(left) : ITEMS;
    const float* const x = given.x + first_item * given.inputs;
    if constexpr (INPUTS > 0) {
        for (int i = threadIdx.x; i < items * INPUTS; i += THREADS) staged[i] = x[i];
        device::sync_block();  // the inputs of all items are visible
    }
    for (int64_t detector = threadIdx.x; detector < given.detectors; detector += THREADS) {
        const Pairs pairs(given.anchors + detector * ANCHORS * 2);
        for (int item = 0; item < items; ++item) {
            const auto at = [&](int i) {
                return INPUTS > 0 ? staged[item * INPUTS + i] : x[item * given.inputs + i];
            };
            store(given.found, (first_item + item) * given.detectors + detector,
                  detect(pairs, given.eps, at));
        }
    }
    device::sync_block();  // the rows are visible to the whole block
}

}  // namespace

// Grid: ceil(B / ITEMS). Thread block x owns the items x ITEMS … + ITEMS - 1; in the sum of rows its thread
// (item GROUPS + group) LANES + lane owns the outputs 4 lane … + 3, then those 4 LANES further on. With 2
// items, 2 groups, 64 lanes, 256 outputs:
//   threads      0 … 63       64 … 127     128 … 191    192 … 255
//   item         0            0            1            1
//   detectors    0, 2, 4, …   1, 3, 5, …   0, 2, 4, …   1, 3, 5, …
//   reads    x [B, inputs], anchors [T, C, 2], weights [T, rows, outputs]
//   writes   lookup_index, min_delta, min_delta_index [B, T], y [B, outputs]
// write_groups adds the sums of the groups of an item; if GROUPS > 1 it has barriers, which all threads must
// reach (groups.cuh).
extern "C" __global__ void __launch_bounds__(THREADS) look_up(Arguments given) {
    const int64_t first_item = int64_t{blockIdx.x} * ITEMS;
    detect_all(given, first_item);
    const int lane = threadIdx.x % LANES, group = threadIdx.x / LANES % GROUPS;
    const int64_t own_item = first_item + threadIdx.x / (LANES * GROUPS);
    const int64_t item = own_item < given.batch ? own_item : first_item;  // all reach the barriers
    const int32_t* const rows = given.found.lookup_index + item * given.detectors;
    float* const y = static_cast<float*>(given.y) + item * given.outputs;
    for (int64_t first = 0; first < given.outputs; first += 4 * LANES) {
        const int64_t o = first + 4 * lane;
        const int64_t read = o < given.outputs ? o : 0;
        Sum sums[4] = {};
#pragma unroll 8
        for (int64_t t = group; t < given.detectors; t += GROUPS) {
            float four[4];
            load_four(given.table.weights + (t * given.rows + rows[t]) * given.outputs, read, given.outputs,
                      four);
#pragma unroll
            for (int k = 0; k < 4; ++k) sums[k] += term(four[k], given.scale);
        }
        write_groups(sums, group, y, o, given.outputs, given.scale, given.fault + fault_y,
                     own_item < given.batch);
    }
}
