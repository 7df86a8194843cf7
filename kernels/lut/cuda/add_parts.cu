// The variant fused, after look_up_in_slices.cu: adds the sums of the parts of the detectors, in their order.
//
// Defines: PARTS, OUTPUTS, THREADS.

#include "kernels/lut/cuda/arguments.cuh"

using namespace sawtooth;
using namespace sawtooth::lut;

// Grid: ceil(B outputs / (4 THREADS)). A thread owns four neighbouring outputs of an item.
//   reads    sums [PARTS, B, outputs]
//   writes   y [B, outputs]
extern "C" __global__ void __launch_bounds__(THREADS) add_parts(Arguments given) {
    const int64_t all = given.batch * OUTPUTS, at = (int64_t{blockIdx.x} * THREADS + threadIdx.x) * 4;
    if (at >= all) return;
    float4 sum = {};
#pragma unroll
    for (int part = 0; part < PARTS; ++part) {
        const float4 one = *reinterpret_cast<const float4*>(given.sums_of_parts + part * all + at);
        sum.x += one.x, sum.y += one.y, sum.z += one.z, sum.w += one.w;
    }
    *reinterpret_cast<float4*>(static_cast<float*>(given.y) + at) = sum;
}
