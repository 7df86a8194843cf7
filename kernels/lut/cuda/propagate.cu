// From the two sums of a detector to its weakest pair: a thread per detector and item.
//
// Defines: ANCHORS, INTEGER (sums.cuh), THREADS.

#include "kernels/lut/cuda/arguments.cuh"
#include "kernels/lut/cuda/sums.cuh"

using namespace sawtooth;
using namespace sawtooth::lut;

// Grid: ceil(T / block_size), B.
extern "C" __global__ void __launch_bounds__(THREADS) propagate_through_detectors(Arguments given) {
    const int64_t detector = int64_t{blockIdx.x} * THREADS + threadIdx.x;
    if (detector >= given.detectors) return;
    for (int64_t item = blockIdx.y; item < given.batch; item += gridDim.y) {
        Sum* const main = static_cast<Sum*>(given.gradient_sums) + item * 2 * given.detectors + detector;
        Sum* const alternative = main + given.detectors;
        int32_t* const fault = given.fault + fault_gradient_sums;
        const Wide g = value_of(*main, given.scale, fault) - value_of(*alternative, given.scale, fault);
        *main = 0;
        *alternative = 0;
        const int64_t at = item * given.detectors + detector;
        const int32_t weakest = given.found.min_delta_index[at];
        if (weakest < 0) continue;
        const Sum du = term(g * surrogate_derivative(given.found.min_delta[at]), given.scale);
        const int32_t* const pair = given.anchors + (detector * ANCHORS + weakest) * 2;
        Sum* const dx = static_cast<Sum*>(given.dx) + item * given.inputs;
        add(dx + pair[0], du);
        add(dx + pair[1], -du);
    }
}
