// densify_firing_stat: from the statistic to events, four neurons a thread. Places come from prefix sums over
// a warp, then over the warps of a block, and one atomic addition a block for each kind.
//
// Defines: BACKWARD, THREADS.

#include "kernels/cuda/device/warp.cuh"
#include "kernels/lut_sequence/cuda/arguments.cuh"

using namespace sawtooth;
using namespace sawtooth::lut_sequence;

namespace {

constexpr int warps = THREADS / 32;

// Adds the thread's events to the buffer: the neurons of its four that `mask` names.
__device__ void add_events(const lut::Events<Event>& to, unsigned mask, const Event (&events)[4],
                           int32_t* fault, int32_t number) {
    __shared__ int32_t places[warps];
    const int lane = device::lane_of_thread();
    const int count = __popc(mask);
    int upto = count;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
        const int below = __shfl_up_sync(device::whole_warp, upto, step);
        if (lane >= step) upto += below;
    }
    if (lane == 31) places[device::warp_of_thread()] = upto;
    __syncthreads();
    if (threadIdx.x == 0) {
        int32_t sum = 0;
        for (int32_t& place : places) {
            const int32_t of_warp = place;
            place = sum;
            sum += of_warp;
        }
        const int32_t base = sum > 0 ? atomicAdd(to.count, sum) : 0;
        for (int32_t& place : places) place += base;
    }
    __syncthreads();
    int64_t at = places[device::warp_of_thread()] + upto - count;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        if (!(mask >> k & 1)) continue;
        if (at < to.capacity)
            to.events[at] = events[k];
        else
            *fault = number;
        ++at;
    }
    __syncthreads();  // the places are read: they may be used again
}

}  // namespace

// Grid: ceil(T 2^(2C+P) / (4 block_size)), B S.
extern "C" __global__ void __launch_bounds__(THREADS) densify_firing_stat(Arguments given) {
    const int64_t neurons = given.detectors * given.rows;
    const int64_t first = 4 * (int64_t{blockIdx.x} * THREADS + threadIdx.x);
    for (int64_t position = blockIdx.y; position < given.batch * given.length; position += gridDim.y) {
        float4* const quad = reinterpret_cast<float4*>(given.statistic + position * neurons + first);
        const float4 held = first < neurons ? *quad : float4{0, 0, 0, 0};
        const float fired[4] = {held.x, held.y, held.z, held.w};
        unsigned main = 0, alternative = 0;
        Event events[4];
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            if (fired[k] >= 1) main |= 1u << k;
            if (fired[k] > 0 && fired[k] < 1) alternative |= 1u << k;
            events[k] = {static_cast<int32_t>(first + k), static_cast<int32_t>(position),
                         static_cast<int32_t>(fired[k])};
        }
        if (main | alternative) *quad = {0, 0, 0, 0};
        const auto number = static_cast<int32_t>(position / given.length + 1);
        if (__syncthreads_or(main)) add_events(given.main, main, events, given.room + room_events, number);
        if (BACKWARD && __syncthreads_or(alternative))
            add_events(given.alternative, alternative, events, given.room + room_alternative_events, number);
    }
}
