// to[i] = from[i], i = 0 … count - 1, between f32 and the 16 bits of f16 or bf16. Narrows inputs when a plan
// is built and widens outputs when they are read, which is never timed.
//
// Each thread takes every (threads of the grid)th element, so that neighbouring threads access neighbouring
// elements.
#include "kernels/cuda/device/half.cuh"

using namespace sawtooth::device;

template <class From, class To>
__device__ void convert(const From* from, To* to, int64_t count, To (*one)(From)) {
    const int64_t threads = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += threads)
        to[i] = one(from[i]);
}

extern "C" __global__ void narrow_f16(const float* from, uint16_t* to, int64_t count) {
    convert(from, to, count, f32_to_f16);
}

extern "C" __global__ void narrow_bf16(const float* from, uint16_t* to, int64_t count) {
    convert(from, to, count, f32_to_bf16);
}

extern "C" __global__ void widen_f16(const uint16_t* from, float* to, int64_t count) {
    convert(from, to, count, f16_to_f32);
}

extern "C" __global__ void widen_bf16(const uint16_t* from, float* to, int64_t count) {
    convert(from, to, count, bf16_to_f32);
}
