// densify_firing_stat: from the statistic to events, four neurons a thread.
//
// Defines: BACKWARD, THREADS.

#include "kernels/cuda/device/sync.cuh"
#include "kernels/lut/cuda/events.cuh"
#include "kernels/lut_sequence/cuda/arguments.cuh"

using namespace sawtooth;
using namespace sawtooth::lut_sequence;

// Grid: ceil(T 2^(2C+P) / (4 block_size)), B S.
extern "C" __global__ void __launch_bounds__(THREADS) densify_firing_stat(Arguments given) {
    const int64_t neurons = given.detectors * given.rows;
    const int64_t first = 4 * (int64_t{blockIdx.x} * THREADS + threadIdx.x);
    for (int64_t position = blockIdx.y; position < given.batch; position += gridDim.y) {
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
        if (device::any_of_block(main))
            lut::append(given.main, main, events, given.room + room_events, number);
        if (BACKWARD && device::any_of_block(alternative))
            lut::append(given.alternative, alternative, events, given.room + room_alternative_events, number);
    }
}
