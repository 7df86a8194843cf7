// Finds the bits of the distances, with one thread per detector and distance. The P values 0.5, -0.1, 2.0
// give the bits 101b, and -0.1 is the weakest, with index 1.
//
// Defines: ANCHORS (lut_table/cuda/detectors.cuh), POSITIONAL (bits), THREADS.

#include "kernels/lut_sequence/cuda/arguments.cuh"
#include "kernels/lut_table/cuda/detectors.cuh"

using namespace sawtooth;
using namespace sawtooth::lut_sequence;

// Grid: ceil(T / block_size), S - 1. Thread block (x, y) has the distance j - i = y + 1; its thread t owns
// detector x THREADS + t:
//   positional [S - 1, T, P]  ->  distances: bits, weakest value, its index [S - 1, T]
extern "C" __global__ void __launch_bounds__(THREADS) check_positional_embeddings(Arguments given) {
    const int64_t detector = int64_t{blockIdx.x} * THREADS + threadIdx.x;
    if (detector >= given.detectors) return;
    const int64_t at = blockIdx.y * given.detectors + detector;
    const float* const values = given.positional + at * POSITIONAL;
    Detected detected;
    for (int r = 0; r < POSITIONAL; ++r) detected.add(r, values[r], given.eps);
    store(given.distances, at, detected);
}
