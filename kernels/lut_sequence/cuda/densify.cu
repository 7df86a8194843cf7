// densify_firing_stat: turns the statistic into events, and clears it. In the statistic a main event counts 1
// and an alternative one counts `share`, which is so small that those of a neuron never add up to 1. With
// share = 1/16:
//   statistic    0       3                 0.125                      2.0625
//   event        none    main, count 3     alternative, count 0       main, count 2
// A neuron with a main event needs no alternative one: both would add the same sum to the hash table.
//
// Defines: BACKWARD, THREADS.

#include "kernels/cuda/device/sync.cuh"
#include "kernels/lut_sequence/cuda/arguments.cuh"
#include "kernels/lut_table/cuda/events.cuh"

using namespace sawtooth;
using namespace sawtooth::lut_sequence;

// Grid: ceil(T rows / (4 block_size)), min(B S, 65535). Thread block (x, y) has the positions y,
// y + gridDim.y, …; its thread t owns the neurons 4 (x THREADS + t) … + 3 of each:
//   statistic [B S, T rows]  ->  main and alternative events, in any order of thread blocks
// any_of_block is a barrier too. All threads agree whether to call append, which has barriers (events.cuh).
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
        if (device::any_of_block(main)) append(given.main, main, events, given.room + room_events, number);
        if (BACKWARD && device::any_of_block(alternative))
            append(given.alternative, alternative, events, given.room + room_alternative_events, number);
    }
}
