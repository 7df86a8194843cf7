// How carries pass from segment to segment where they form a chain. The warps of a thread block then hold
// adjacent segments, which together are a stretch. A segment maps the carry before it to the one after it by
// its link, c -> decay c + last. With 4 warps, for one channel:
//
//   segments       |  0    1      2       3    |     4       5   …    one per warp
//   links          | l0   l1     l2      l3    |    l4      l5   …    each warp makes its own
//   into stretch   |  0                        | l0l1l2l3             look-back, or the step before
//   into segment   |  0   l0   l0l1   l0l1l2   | l0l1l2l3    …        warp 0, one lane per channel
//
// Links join from the left: (1/2, 1) then (1/4, 2) is (1/8, 2.25). A carry of 4 becomes 3, then 2.75, which
// is 4 / 8 + 2.25. Gradients pass the other way: `flipped` means that segments are linked from the last to
// the first.
//
// Defines: ORDER, CARRY0, SHARED_GATES (links.cuh), THREADS.
#pragma once

#include "kernels/btp/cuda/links.cuh"
#include "kernels/btp/cuda/segment.cuh"

namespace sawtooth::btp {

constexpr int warps = THREADS / 32;

// Computes the carry into the warp's segment, for the lane's two channels, from the links of all segments.
// All threads must call this.
//
//   all warps   store links     |                                   |   load their carry
//   warp 0                      |   joins all links, `from` before, |
//                               |   stores the carry of every warp  |        each `|` is a barrier
//
// Shared memory: decay [warps], as gates have no channels; last, carry [warps, 16 channels].
template <bool flipped, class From>
__device__ void chain_carries(const Link (&link)[2], From& from, float (&into)[2]) {
    __shared__ float decay[warps], last[warps][16], carry[warps][16];
    const int warp = device::uniform_warp_of_thread();
    device::sync_block();  // all warps have read the carries of an earlier call
    if (device::lane_of_thread() % 4 == 0) {
        decay[warp] = link[0].decay;
#pragma unroll
        for (int half = 0; half < 2; ++half) last[warp][channel_of_lane() + 8 * half] = link[half].last;
    }
    device::sync_block();  // the links of all warps are visible to warp 0
    if (warp == 0) {
        const int channel = device::lane_of_thread() % 16;
        const auto warp_of = [](int step) { return flipped ? warps - 1 - step : step; };
        Link total = {1, 0};
#pragma unroll 4
        for (int step = 0; step < warps; ++step)
            total = join(total, {decay[warp_of(step)], last[warp_of(step)][channel]});
        Link so_far = from.before(total);
#pragma unroll 4
        for (int step = 0; step < warps; ++step) {
            carry[warp_of(step)][channel] = so_far.last;
            so_far = join(so_far, {decay[warp_of(step)], last[warp_of(step)][channel]});
        }
        from.keep(so_far);
    }
    device::sync_block();  // the carries are visible to their warps
#pragma unroll
    for (int half = 0; half < 2; ++half) into[half] = carry[warp][channel_of_lane() + 8 * half];
}

// Stores the carries into neighbouring blocks from the block `first` of the segment on, in carries [heads,
// blocks, width]. The four lanes of a channel hold the same carries, and each of them stores one or none:
//
//   t              0          1          2          3
//   two blocks   block 0    block 0    block 1    block 1
//   channel        g         g + 8       g         g + 8
template <int count>
__device__ void store_carries(float* carries, const Place& place, int first, const float (&carry)[count][2]) {
    const int block = quad_of_lane() / 2, half = quad_of_lane() % 2;
    const auto of_block = [&](int b) { return half == 0 ? carry[b][0] : carry[b][1]; };
    const float mine = block == 0 ? of_block(0) : of_block(count - 1);
    if (block < count && place.has(half) && place.has_block(first + block))
        carries[place.at_block(half, first + block)] = mine;
}

// What kernels do with carry0 and with gates that the batch shares; without them, nothing.
//
//   find_gates             moves the address of the gates, so that row `head` is that of the head
//   load_first_carry       loads the carry into the first block, for the lane's two channels
//   store_first_gradient   stores its gradient, which the four lanes of a channel hold
__device__ inline void find_gates(Arguments&, int) {}
__device__ inline void find_gates(MoreArguments& given, int head) {
    const int64_t row = SHARED_GATES ? head % given.gate_rows : head;
    given.a = static_cast<const Storage::Word*>(given.a) + (row - head) * given.all.length;
}
__device__ inline void load_first_carry(const Arguments&, const Place&, float (&)[2]) {}
__device__ inline void load_first_carry(const MoreArguments& given, const Place& place, float (&carry)[2]) {
    if constexpr (CARRY0)
#pragma unroll
        for (int half = 0; half < 2; ++half)
            if (place.first == 0) carry[half] = place.has(half) ? given.carry0[place.at_channel(half)] : 0;
}
__device__ inline void store_first_gradient(const Arguments&, const Place&, const float (&)[2]) {}
__device__ inline void store_first_gradient(const MoreArguments& given, const Place& place,
                                            const float (&dc)[2]) {
    const bool is_storing = place.first == 0 && device::lane_of_thread() % 4 == 0;
    if constexpr (CARRY0)
#pragma unroll
        for (int half = 0; half < 2; ++half)
            if (is_storing && place.has(half)) given.dcarry0[place.at_channel(half)] = dc[half];
}

// Loads the carry into a block, or its gradient, for the lane's two channels; 0 past the last block.
__device__ inline void load_carry(const float* carries, const Place& place, int block, float (&carry)[2]) {
#pragma unroll
    for (int half = 0; half < 2; ++half)
        carry[half] = place.has_block(block) && place.has(half) ? carries[place.at_block(half, block)] : 0;
}

}  // namespace sawtooth::btp
