// Events are appended with one atomic addition per thread block. Defines: THREADS.
//   warp                0     1     2
//   its events          5     0     4         count: 100 before, 109 after
//   its first place     100   105   105       a lane adds the events of the lanes below it
#pragma once

#include "kernels/cuda/device/reductions.cuh"
#include "kernels/cuda/device/sync.cuh"
#include "kernels/lut_table/cuda/arguments.cuh"

namespace sawtooth::lut_table {

// Returns the place of the first event of a thread that adds `events` events. Places are in the order of the
// threads. All threads of the block must call it.
__device__ inline int64_t take_places(int32_t* count, int32_t events) {
    __shared__ int32_t of_warps[THREADS / 32];
    const int32_t upto = device::sum_upto_lane(events);
    if (device::lane_of_thread() == 31) of_warps[device::warp_of_thread()] = upto;
    device::sync_block();  // the numbers of events of all warps are visible to thread 0
    if (threadIdx.x == 0) {
        int32_t sum = 0;
        for (int32_t& of_warp : of_warps) {
            const int32_t of_one = of_warp;
            of_warp = sum;
            sum += of_one;
        }
        const int32_t base = sum > 0 ? device::atomic_add(count, sum) : 0;
        for (int32_t& of_warp : of_warps) of_warp += base;
    }
    device::sync_block();  // the first places of all warps are visible
    const int64_t place = of_warps[device::warp_of_thread()] + upto - events;
    device::sync_block();  // all threads have read their places, which the next call overwrites
    return place;
}

// Appends the events of a thread whose bit is set in `mask`. All threads of the block must call it. If there
// is no room for an event, *fault becomes `number`.
template <class Event, int most>
__device__ void append(const Events<Event>& to, unsigned mask, const Event (&events)[most], int32_t* fault,
                       int32_t number) {
    int64_t at = take_places(to.count, __popc(mask));
#pragma unroll
    for (int k = 0; k < most; ++k) {
        if (!(mask >> k & 1)) continue;
        if (at < to.capacity)
            to.events[at] = events[k];
        else
            *fault = number;
        ++at;
    }
}

// Reads the event of a thread, which is number blockIdx.x * THREADS + threadIdx.x of the buffer. Returns
// false if there is none.
template <class Event>
__device__ bool event_of_thread(const Events<Event>& all, Event& event) {
    const int64_t index = int64_t{blockIdx.x} * THREADS + threadIdx.x;
    const int64_t count = *all.count < all.capacity ? *all.count : all.capacity;
    if (index >= count) return false;
    event = all.events[index];
    return true;
}

}  // namespace sawtooth::lut_table
