// check_detectors: one thread per detector and item (for_detectors.cuh).
//
// Defines: ANCHORS, INPUTS, THREADS.

#include "kernels/lut_table/cuda/for_detectors.cuh"

using namespace sawtooth;
using namespace sawtooth::lut_table;

// Grid: ceil(T / block_size), min(B, 65535). Each thread
//   reads    x [B, inputs] of its item, anchors [T, C, 2] of its detector
//   writes   lookup_index, min_delta, min_delta_index [B, T], one entry each
// In lut_sequence items are positions, B S of them.
extern "C" __global__ void __launch_bounds__(THREADS) check_detectors(CommonArguments given) {
    for_detectors(given, [](int64_t, int64_t, const Detected&) {});
}
