// One thread per detector and item compares the pairs of the detector.
//   detectors   0 … THREADS - 1       THREADS … 2 THREADS - 1   …
//   item 0      thread block (0, 0)   thread block (1, 0)
//   item 1      thread block (0, 1)   thread block (1, 1)
// The grid is at most 65535 high: thread block (x, y) has the items y, y + gridDim.y, …, one after another.
//
// Defines: ANCHORS (detectors.cuh), INPUTS (the number kept in shared memory, 0 if they do not fit), THREADS.
#pragma once

#include "kernels/cuda/device/sync.cuh"
#include "kernels/lut_table/cuda/detectors.cuh"

namespace sawtooth::lut_table {

// Calls each(item, detector, detected) from all threads, because `each` may have barriers; a thread without a
// detector passes -1. Thread t copies inputs t, t + THREADS, … of the item to `staged`.
template <class Each>
__device__ void for_detectors(const CommonArguments& given, Each each) {
    __shared__ float staged[INPUTS > 0 ? INPUTS : 1];
    const int64_t detector = int64_t{blockIdx.x} * THREADS + threadIdx.x;
    for (int64_t item = blockIdx.y; item < given.batch; item += gridDim.y) {
        const float* const x = given.x + item * given.inputs;
        if constexpr (INPUTS > 0) {
            for (int i = threadIdx.x; i < INPUTS; i += THREADS) staged[i] = x[i];
            device::sync_block();  // the item's inputs are visible to all detectors
        }
        const bool is_one = detector < given.detectors;
        Detected found;
        if (is_one) {
            const Pairs pairs(given.anchors + detector * ANCHORS * 2);
            found = detect(pairs, given.eps, [&](int i) { return INPUTS > 0 ? staged[i] : x[i]; });
            store(given.found, item * given.detectors + detector, found);
        }
        each(item, is_one ? detector : -1, found);
        if constexpr (INPUTS > 0) device::sync_block();  // all have read the inputs of this item
    }
}

}  // namespace sawtooth::lut_table
