// The bits of the distances: a thread per detector and distance.
//
// Defines: POSITIONAL (bits), THREADS.

#include "kernels/lut_sequence/cuda/arguments.cuh"

using namespace sawtooth;
using namespace sawtooth::lut_sequence;

// Grid: ceil(T / block_size), S - 1.
extern "C" __global__ void __launch_bounds__(THREADS) check_positional_embeddings(Arguments given) {
    const int64_t detector = int64_t{blockIdx.x} * THREADS + threadIdx.x;
    if (detector >= given.detectors) return;
    const int64_t at = blockIdx.y * given.detectors + detector;
    const float* const values = given.positional + at * POSITIONAL;
    int32_t bits = 0, index = -1;
    float weakest = 0;
    for (int r = 0; r < POSITIONAL; ++r) {
        if (values[r] > 0) bits |= 1 << r;
        if (index >= 0 && !(fabsf(values[r]) < fabsf(weakest))) continue;
        weakest = values[r];
        index = r;
    }
    given.distances.lookup_index[at] = bits;
    given.distances.min_delta[at] = weakest;
    given.distances.min_delta_index[at] = index;
}
