// From the two sums of a detector to its weakest pair: a thread per detector and item. If an item has few
// inputs, a thread block sums in shared memory first.
//
// Defines: ANCHORS, INTEGER (sums.cuh), INPUTS (those summed in shared memory; 0: none), THREADS.

#include "kernels/lut/cuda/arguments.cuh"
#include "kernels/lut/cuda/sums.cuh"

using namespace sawtooth;
using namespace sawtooth::lut;

namespace {

// Takes the gradient of a detector from its sums, and clears them. Adds to dx.
__device__ void propagate(const Arguments& given, int64_t item, int64_t detector, Sum* dx) {
    Sum* const main = static_cast<Sum*>(given.gradient_sums) + item * 2 * given.detectors + detector;
    Sum* const alternative = main + given.detectors;
    int32_t* const fault = given.fault + fault_gradient_sums;
    const Wide g = value_of(*main, given.scale, fault) - value_of(*alternative, given.scale, fault);
    *main = 0;
    *alternative = 0;
    const int64_t at = item * given.detectors + detector;
    const int32_t weakest = given.found.min_delta_index[at];
    if (weakest < 0) return;
    const Sum du = term(g * surrogate_derivative(given.found.min_delta[at]), given.scale);
    const int32_t* const pair = given.anchors + (detector * ANCHORS + weakest) * 2;
    add(dx + pair[0], du);
    add(dx + pair[1], -du);
}

}  // namespace

// Grid: ceil(T / block_size), B.
extern "C" __global__ void __launch_bounds__(THREADS) propagate_through_detectors(Arguments given) {
    const int64_t detector = int64_t{blockIdx.x} * THREADS + threadIdx.x;
    for (int64_t item = blockIdx.y; item < given.batch; item += gridDim.y) {
        Sum* const dx = static_cast<Sum*>(given.dx) + item * given.inputs;
        if constexpr (INPUTS > 0) {
            __shared__ Sum sums[INPUTS];
            for (int i = threadIdx.x; i < INPUTS; i += THREADS) sums[i] = 0;
            __syncthreads();
            if (detector < given.detectors) propagate(given, item, detector, sums);
            __syncthreads();
            for (int i = threadIdx.x; i < INPUTS; i += THREADS)
                if (sums[i] != 0) add(dx + i, sums[i]);
            __syncthreads();  // the sums are read: they may be used again
        } else if (detector < given.detectors) {
            propagate(given, item, detector, dx);
        }
    }
}
