// Links, which map the carry before some blocks to the one after them, c -> decay c + last, and how they come
// from earlier thread blocks or steps. carries.cuh explains the chain.
//
// Defines: ORDER (one, two, full), CARRY0 (whether the first block receives a carry), SHARED_GATES (whether
// the batch shares its gates).
#pragma once

#include "kernels/btp/cuda/arguments.cuh"
#include "kernels/cuda/device/lookback.cuh"
#include "kernels/cuda/device/sync.cuh"

namespace sawtooth::btp {

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

// The arguments of a kernel.
using Given = ArgumentsOf<CARRY0 || SHARED_GATES>::Type;

// Returns the link before the first block, for one channel of a head.
__device__ inline Link first_link(const Arguments&, int64_t, int64_t) { return {1, 0}; }
__device__ inline Link first_link(const MoreArguments& given, int64_t head, int64_t channel) {
    const bool has_carry = CARRY0 && channel < given.all.width;
    return {1, has_carry ? given.carry0[head * given.all.width + channel] : 0};
}

// The stretch of a row that a thread block works on, one of `stretches`. A row is 16 channels of a head (8 on
// CUDA cores), or a whole head where a thread block goes through all channels (gradients).
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

// The carry into a thread block from those before it, by decoupled look-back, for channel lane % channels.
// The board is [rows, stretches, channels] with a flag and a link in 16 bytes; a row is so many channels of a
// head. With 16 channels, lanes 0 … 15 and lanes 16 … 31 look at every second stretch each.
template <int channels>
struct FromBlocksBefore {
    using Board = device::Lookback<Link, channels, 2>;
    Board board;
    int index, count;
    Link start;  // before the first thread block

    __device__ FromBlocksBefore(const Chain& chain, const Stretch& stretch, int row, bool flipped, Link first)
        : board(static_cast<typename Board::Part*>(chain.board), row, stretch.stretches, stretch.run),
          index(flipped ? stretch.stretches - 1 - stretch.index : stretch.index),
          count(stretch.stretches),
          start(first) {}

    __device__ Link before(Link total) const {
        const bool is_last = index + 1 == count;  // no thread block looks back at it
        if (index > 0 && !is_last) board.publish_total(index, total);
        const Link prefix = board.prefix_before(index, start, join);
        if (!is_last) board.publish_prefix(index, join(prefix, total));
        return prefix;
    }
    __device__ void keep(Link) const {}
};

// The carry of a thread block that walks along the sequence by itself: lane l of warp 0 keeps the link of all
// steps so far for channel l % 16 (l % 8 on CUDA cores).
struct FromStepBefore {
    Link kept = {1, 0};

    __device__ Link before(Link) const { return kept; }
    __device__ void keep(Link after) { kept = after; }
};

}  // namespace sawtooth::btp
