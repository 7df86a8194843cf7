// Events are appended with one atomic addition per thread block. Defines: THREADS.
#pragma once

#include "kernels/cuda/device/warp.cuh"
#include "kernels/lut/cuda/arguments.cuh"

namespace sawtooth::lut {

// All threads of the block take part; those that fire add their event. Without room for it `number` becomes
// the fault.
template <class Event>
__device__ void append(const Events<Event>& to, bool fires, const Event& event, int32_t* fault,
                       int32_t number) {
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
    if (fires && at >= to.capacity) *fault = number;
    __syncthreads();  // the places are read: they may be used again
}

// The event of a thread; false if there is none.
template <class Event>
__device__ bool event_of_thread(const Events<Event>& all, Event& event) {
    const int64_t index = int64_t{blockIdx.x} * THREADS + threadIdx.x;
    const int64_t count = *all.count < all.capacity ? *all.count : all.capacity;
    if (index >= count) return false;
    event = all.events[index];
    return true;
}

}  // namespace sawtooth::lut
