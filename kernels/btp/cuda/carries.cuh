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
// Defines: ORDER (one, two, full), THREADS.
#pragma once

#include "kernels/btp/cuda/segment.cuh"
#include "kernels/cuda/device/lookback.cuh"
#include "kernels/cuda/device/sync.cuh"

namespace sawtooth::btp {

constexpr int warps = THREADS / 32;

enum class Order { one, two, full };
constexpr Order order = Order::ORDER;

struct Link {
    float decay, last;
};
__device__ inline Link join(Link left, Link right) {
    const float decay = left.decay * right.decay;
    // A product that underflows becomes the smallest number instead of 0, which would make NaN of an infinite
    // carry.
    const bool underflows = decay == 0 && left.decay != 0 && right.decay != 0;
    return {underflows ? copysignf(0x1p-149f, decay) : decay, fmaf(right.decay, left.last, right.last)};
}

// The stretch of a row that a thread block works on, one of `stretches`. A row is 16 channels of a head, or a
// whole head in gradients.cu, where a thread block goes through all channels.
//
//   by block    blockIdx.x = row * stretches + index
//   by ticket   the ticket = index * rows + row, so that all rows advance together; index counts from the
//               last stretch if flipped
struct Stretch {
    int index, stretches, row;
    uint32_t run;  // the number of the run, for the look-back

    // All threads must call this. A thread block waits only for smaller tickets, whose thread blocks have
    // started.
    static __device__ Stretch by_ticket(const Chain& chain, int stretches, bool flipped) {
        __shared__ device::Ticket shared_ticket;
        if (threadIdx.x == 0) shared_ticket = device::draw_ticket(chain.counter, gridDim.x);
        device::sync_block();  // the ticket is visible
        const int rows = static_cast<int>(gridDim.x) / stretches;
        const auto number = static_cast<int>(shared_ticket.number);
        const int index = number / rows;
        return {flipped ? stretches - 1 - index : index, stretches, number % rows, shared_ticket.run};
    }
    static __device__ Stretch by_block(int stretches) {
        const auto block = static_cast<int>(blockIdx.x);
        return {block % stretches, stretches, block / stretches, 0};
    }
};

// The carry into a thread block from those before it, by decoupled look-back, for channel lane % 16. The
// board is [rows, stretches, 16 channels] with a flag and a link in 16 bytes; a row is 16 channels of a head.
// Lanes 0 … 15 and lanes 16 … 31 look at every second stretch each.
struct FromBlocksBefore {
    using Board = device::Lookback<Link, 16, 2>;
    Board board;
    int index, count;

    __device__ FromBlocksBefore(const Chain& chain, const Stretch& stretch, int row, bool flipped)
        : board(static_cast<Board::Part*>(chain.board), row, stretch.stretches, stretch.run),
          index(flipped ? stretch.stretches - 1 - stretch.index : stretch.index),
          count(stretch.stretches) {}

    __device__ Link before(Link total) const {
        const bool is_last = index + 1 == count;  // no thread block looks back at it
        if (index > 0 && !is_last) board.publish_total(index, total);
        const Link prefix = board.prefix_before(index, {1, 0}, join);
        if (!is_last) board.publish_prefix(index, join(prefix, total));
        return prefix;
    }
    __device__ void keep(Link) const {}
};

// The carry of a thread block that walks along the sequence by itself: lane l of warp 0 keeps the link of all
// steps so far for channel l % 16.
struct FromStepBefore {
    Link kept = {1, 0};

    __device__ Link before(Link) const { return kept; }
    __device__ void keep(Link after) { kept = after; }
};

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

// Stores the carry into a block, in carries [heads, blocks, width]. The four lanes of a channel hold the same
// carry, and one of them stores it.
__device__ inline void store_carry(float* carries, const Place& place, int block, const float (&carry)[2]) {
    if (!place.has_block(block) || device::lane_of_thread() % 4 != 0) return;
#pragma unroll
    for (int half = 0; half < 2; ++half)
        if (place.has(half)) carries[place.at_block(half, block)] = carry[half];
}

// Loads the carry into a block, or its gradient, for the lane's two channels; 0 past the last block.
__device__ inline void load_carry(const float* carries, const Place& place, int block, float (&carry)[2]) {
#pragma unroll
    for (int half = 0; half < 2; ++half)
        carry[half] = place.has_block(block) && place.has(half) ? carries[place.at_block(half, block)] : 0;
}

}  // namespace sawtooth::btp
