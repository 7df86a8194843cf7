// Events are appended with one atomic addition per thread block. Defines: THREADS.
#pragma once

#include "kernels/cuda/device/warp.cuh"
#include "kernels/lut/cuda/arguments.cuh"

namespace sawtooth::lut {

// All threads of the block take part; those that fire add their event.
__device__ inline void append(const Events& to, bool fires, Event event, int32_t* fault) {
    __shared__ int32_t place[THREADS / 32];
    const unsigned firing = __ballot_sync(device::whole_warp, fires);
    if (device::lane_of_thread() == 0) place[device::warp_of_thread()] = __popc(firing);
    __syncthreads();
    if (threadIdx.x == 0) {
        int32_t sum = 0;
        for (int32_t& of_warp : place) {
            const int32_t count = of_warp;
            of_warp = sum;
            sum += count;
        }
        const int32_t base = sum > 0 ? atomicAdd(to.count, sum) : 0;
        for (int32_t& of_warp : place) of_warp += base;
    }
    __syncthreads();
    const unsigned lower = (1u << device::lane_of_thread()) - 1;
    const int64_t at = place[device::warp_of_thread()] + __popc(firing & lower);
    if (fires && at < to.capacity) to.events[at] = event;
    if (fires && at >= to.capacity) *fault = 1;
    __syncthreads();  // the places are read: they may be used again
}

}  // namespace sawtooth::lut
