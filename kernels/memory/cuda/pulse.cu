// 1 where a level of this chunk fires, at every multiple of it.

#include "kernels/cuda/device/dependent_launch.cuh"
#include "kernels/cuda/device/types.cuh"

using namespace sawtooth;

extern "C" __global__ void pulse(int32_t* to, int64_t length, int64_t chunk) {
    device::wait_for_launches_before();
    device::let_next_launch_start();
    const int64_t token = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (token < length) to[token] = token % chunk == 0;
}
