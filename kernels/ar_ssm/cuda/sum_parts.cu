// Adds the parts of the gradients of weights, in order.
//
// Defines: THREADS, SHARED_BYTES.

#include "kernels/ar_ssm/cuda/arguments.cuh"

using namespace sawtooth::ar_ssm;

static_assert(SHARED_BYTES == 0);

// Grid: ceil(weights / THREADS). A thread owns one weight: a column of partial [parts, total], from the first
// part to the last, so that the bits are equal in every run.
//
//   partial       | w0 w1 w2 … |  part 0      + down the column of the thread
//                 | w0 w1 w2 … |  part 1      v
//   gradients     | dgate_w1 | du_proj | … |  the one whose offset and count hold the weight
extern "C" __global__ void __launch_bounds__(THREADS) sum_parts(GradientParts arguments) {
    const int64_t at = int64_t{blockIdx.x} * THREADS + threadIdx.x;
    if (at >= arguments.total) return;
    float sum = 0;
#pragma unroll 4
    for (int64_t part = 0; part < arguments.parts; ++part)
        sum += arguments.partial[part * arguments.total + at];
    for (int i = 0; i < arguments.gradient_count; ++i) {
        const auto& gradient = arguments.gradients[i];
        if (at >= gradient.offset && at < gradient.offset + gradient.count) {
            float* const to = gradient.to + at - gradient.offset;
            *to = arguments.adds ? *to + sum : sum;
        }
    }
}
