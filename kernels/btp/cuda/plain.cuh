// Blocks of any length on CUDA cores. A thread block holds a tile of whole blocks: a thread owns one
// position, for 8 channels at a time. With BL = 3 and 8 threads:
//
//   thread     0   1   2 | 3   4   5 | 6   7
//   block          0     |     1     |           threads without a position only wait at barriers
//
// A position before or after the sequence has u = 0 and a gate of 1, and nothing is stored there. So a short
// last block needs no special case: v stays what it was at the last position.
//
// Defines: STORAGE (of a, u, dx, du), OUT_STORAGE (of x), BLOCK (BL), BLOCKS (of a tile), ORDER, CARRY0,
// SHARED_GATES (links.cuh), THREADS.
#pragma once

#include "kernels/btp/cuda/links.cuh"
#include "kernels/btp/cuda/rules.cuh"
#include "kernels/cuda/device/words.cuh"

namespace sawtooth::btp {

using Storage = device::STORAGE;
using OutStorage = device::OUT_STORAGE;

constexpr int channels = 8;  // sums of a thread
constexpr int positions = BLOCKS * BLOCK;
static_assert(positions <= THREADS, "every position of a tile has a thread");

// The numbers of a position.
struct alignas(16) Channels {
    float at[channels];

    __device__ void add(float factor, const Channels& values) {
#pragma unroll
        for (int c = 0; c < channels; ++c) at[c] = fmaf(factor, values.at[c], at[c]);
    }
    __device__ Channels times(float factor) const {
        Channels product = {};
        product.add(factor, *this);
        return product;
    }
};

// The place of a thread in its tile.
struct Thread {
    int index = static_cast<int>(threadIdx.x);
    int block = index / BLOCK;
    int start = block * BLOCK;                       // the first thread of its block
    int end = min(start + BLOCK, int{THREADS}) - 1;  // the last one

    __device__ bool has_position() const { return index < positions; }
    __device__ bool is_first() const { return has_position() && index == start; }
    __device__ bool is_last() const { return has_position() && index == end; }
};

// The place of a tile in the arrays: `channel` is the first of its 8 channels, `first` its first position,
// which is the start of a block and may lie before the sequence.
struct Place {
    Extents all;
    int64_t head;
    int channel;
    int64_t first;

    __device__ bool is_inside(int64_t position) const {
        return static_cast<uint64_t>(position) < static_cast<uint64_t>(all.length);
    }
    __device__ bool has(Thread own) const { return own.has_position() && is_inside(first + own.index); }
    __device__ bool has_channel(int c) const { return channel + c < all.width; }
    __device__ bool has_block(int number) const { return is_inside(first + int64_t{number} * BLOCK); }
    __device__ int64_t at(Thread own, int c) const {
        return (head * all.width + channel + c) * all.length + first + own.index;
    }
    // The place in carries [heads, blocks, width] of a block that the sequence has.
    __device__ int64_t at_block(int number) const {
        const int64_t blocks = (all.length + BLOCK - 1) / BLOCK;
        return (head * blocks + first / BLOCK + number) * all.width + channel;
    }
};

__device__ inline float load_gate(const MoreArguments& given, const Place& place, Thread own) {
    if (!place.has(own)) return 1;
    const int64_t row = SHARED_GATES ? place.head % given.gate_rows : place.head;
    const auto* const words = static_cast<const Storage::Word*>(given.a);
    return Storage::widen(words[row * place.all.length + place.first + own.index]);
}

template <class S>
__device__ Channels load(const void* array, const Place& place, Thread own) {
    Channels values = {};
#pragma unroll
    for (int c = 0; c < channels; ++c)
        if (place.has(own) && place.has_channel(c))
            values.at[c] = S::widen(static_cast<const typename S::Word*>(array)[place.at(own, c)]);
    return values;
}

template <class S>
__device__ void store(const Channels& values, void* array, const Place& place, Thread own) {
#pragma unroll
    for (int c = 0; c < channels; ++c)
        if (place.has(own) && place.has_channel(c))
            static_cast<typename S::Word*>(array)[place.at(own, c)] = S::narrow(values.at[c]);
}

// Loads the carry into a block of the tile, or its gradient; 0 if the sequence has no such block.
__device__ inline Channels load_carry(const float* carries, const Place& place, int block) {
    Channels carry = {};
#pragma unroll
    for (int c = 0; c < channels; ++c)
        if (place.has_block(block) && place.has_channel(c)) carry.at[c] = carries[place.at_block(block) + c];
    return carry;
}
__device__ inline void store_carry(const Channels& carry, float* carries, const Place& place, int block) {
#pragma unroll
    for (int c = 0; c < channels; ++c)
        if (place.has_block(block) && place.has_channel(c)) carries[place.at_block(block) + c] = carry.at[c];
}

__device__ inline Channels load_first_carry(const float* carry0, const Place& place) {
    Channels carry = {};
#pragma unroll
    for (int c = 0; c < channels; ++c)
        if (place.has_channel(c)) carry.at[c] = carry0[place.head * place.all.width + place.channel + c];
    return carry;
}

// The entries of a row of Lmat, for inputs from the thread's own position to the first one of its block.
// `numbers` has one per thread of the tile: shared_number() of that thread.
//
//   Spans      joins the gates between output and input: their numbers are lifted gates
//   Prefixes   uses the joins of all gates up to output and input, which are their numbers
template <class Rule>
struct Spans {
    typename Rule::Value joined = Rule::identity;

    static __device__ float shared_number(const float* gates, Thread own) {
        return static_cast<float>(Rule::lift(gates[own.index]));
    }
    __device__ float next(const float* numbers, Thread, int input) {
        const float entry = Rule::finish(joined);
        joined = Rule::join(joined, numbers[input]);
        return entry;
    }
};
template <class Rule>
struct Prefixes {
    static __device__ float shared_number(const float* gates, Thread own) {
        float upto = Rule::lift(gates[own.start]);
        for (int i = own.start + 1; i <= own.index; ++i) upto = Rule::join(upto, Rule::lift(gates[i]));
        return upto;
    }
    __device__ float next(const float* numbers, Thread own, int input) const {
        return Rule::between(numbers[own.index], numbers[input]);
    }
};

using log_stable = Spans<Logarithms<false>>;
using log_difference = Prefixes<Differences<false>>;
using masked_cumprod = Spans<Multiplied>;
using cumprod_ratio = Prefixes<Ratios>;
using in_double = Spans<MultipliedInDouble>;

// Computes v = Lmat u at the thread's position. No input after it is read, so that a number that is not
// finite spreads no further than in the recurrence.
template <class Row>
__device__ Channels multiply(const float* numbers, const Channels* u, Thread own) {
    Channels v = {};
    Row row;
    for (int input = own.index; input >= own.start; --input) v.add(row.next(numbers, own, input), u[input]);
    return v;
}

// Computes r = transpose of Lmat times dx at the thread's position.
__device__ inline Channels multiply_transposed(const float* gates, const Channels* dx, Thread own) {
    Channels r = {};
    float entry = 1;
    for (int output = own.index;; ++output) {
        r.add(entry, dx[output]);
        if (output == own.end) return r;
        entry *= gates[output + 1];
    }
}

// The products of the gates of a block before, up to and after the thread's position.
struct Decays {
    float before = 1, upto, after = 1;

    __device__ Decays(const float* gates, Thread own) {
        for (int i = own.start; i < own.index; ++i) before *= gates[i];
        upto = before * gates[own.index];
        for (int i = own.end; i > own.index; --i) after *= gates[i];
    }
};

// Chains the carries into the blocks of a tile, or from the last block their gradients: returns that of the
// thread's block. The link of a block is decays and values of its last thread; `from` has what comes from
// earlier tiles. All threads must call this, and may not use `values` afterwards without a barrier.
template <bool flipped, class From>
__device__ Channels chain(const float* decays, Channels* values, Thread own, From& from) {
    device::sync_block();  // the links are visible to the first warp
    if (own.index < 32) {
        const int channel = own.index % channels;
        const auto last_of = [](int step) { return (flipped ? BLOCKS - step : step + 1) * BLOCK - 1; };
        const auto link_of = [&](int step) -> Link {
            return {decays[last_of(step)], values[last_of(step)].at[channel]};
        };
        Link total = {1, 0};
        for (int step = 0; step < BLOCKS; ++step) total = join(total, link_of(step));
        Link so_far = from.before(total);
        device::sync_warp();  // all lanes have read the values, which the carries replace
        for (int step = 0; step < BLOCKS && own.index == channel; ++step) {
            const Link link = link_of(step);
            values[last_of(step)].at[channel] = so_far.last;
            so_far = join(so_far, link);
        }
        from.keep(so_far);
    }
    device::sync_block();  // the carries are visible
    return values[own.end];
}

}  // namespace sawtooth::btp
