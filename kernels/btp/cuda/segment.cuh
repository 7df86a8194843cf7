// A segment is what a warp holds in registers: `tiles` tiles of 16 positions of a head, for 16 of its
// channels, in the layout of a left factor on tensor cores (products.cuh). Lane (g, t) = (lane / 4, lane % 4)
// holds of every tile four neighbouring positions, a quad, of the channels g and g + 8:
//
//   positions of a tile    0 … 3     4 … 7    8 … 11   12 … 15
//   channels 0 and 8      lane 0    lane 1    lane 2    lane 3
//   channels 1 and 9      lane 4    lane 5    lane 6    lane 7
//   …
//   channels 7 and 15    lane 28   lane 29   lane 30   lane 31
//
// Positions are the inner dimension of the products, so that their order is free. In this order a lane reads
// 16 bytes at once, which are 8 neighbouring halves of a pair of tiles, and swaps four of them with the
// lane t ^ 1:
//
//   t           0                 1                 2                  3
//   reads   0 … 7             16 … 23           8 … 15             24 … 31
//   holds   0 … 3, 16 … 19    4 … 7, 20 … 23    8 … 11, 24 … 27    12 … 15, 28 … 31
//
// A segment is a whole number of blocks:
//
//   BL = 16   | block 0 | block 1 |                       2 tiles
//   BL = 32   |      block 0      |                       2 tiles
//   BL = 64   |                block 0                |   4 tiles
//
// Defines: STORAGE (of a, u, dx, du), OUT_STORAGE (of x), BLOCK (BL), ALIGNED (whether rows are aligned to 16
// bytes).
#pragma once

#include "kernels/btp/cuda/arguments.cuh"
#include "kernels/cuda/device/products.cuh"

namespace sawtooth::btp {

using Storage = device::STORAGE;
using OutStorage = device::OUT_STORAGE;

constexpr int tile = 16;
constexpr int tiles = BLOCK == 64 ? 4 : 2;
constexpr int segment = tiles * tile;         // positions of a segment
constexpr int tiles_of_block = BLOCK / tile;  // BL is a multiple of the tile
constexpr int blocks = segment / BLOCK;       // whole blocks of a segment

template <class S>
constexpr bool has_half_words = sizeof(typename S::Word) == 2;
constexpr bool is_half = has_half_words<Storage>;

// The slice of a segment that a lane holds: [s][h] is its quad of tile s and channel g + 8 h.
template <class S>
using QuadOf = device::Words<S, 4>;
template <class S>
using ValuesOf = QuadOf<S>[tiles][2];
using Quad = QuadOf<Storage>;
using Values = ValuesOf<Storage>;
using Gates = float[tiles][4];  // the gates of the same positions, which all channels share
// The results of a block in the layout of sums: [s][q][2 h + e] is position 2 q + e of the lane's quad of
// tile s, for channel g + 8 h.
using Sums = device::Tile[tiles_of_block][2];

__device__ inline int quad_of_lane() { return device::lane_of_thread() % 4; }
__device__ inline int channel_of_lane() { return device::lane_of_thread() / 4; }
// Returns the lane that holds a quad of the same channels.
__device__ inline int lane_of_quad(int quad) { return (device::lane_of_thread() & ~3) | quad; }
// Returns the first position in the segment of the lane's quad of tile s.
__device__ inline int first_of_quad(int s) { return s * tile + 4 * quad_of_lane(); }

// Returns the sum at a position 0 … 3 of the lane's quad, for channel g + 8 half.
__device__ inline float at(const device::Tile (&sums)[2], int half, int position) {
    return sums[position / 2][2 * half + position % 2];
}

// Returns the lane's quad of channel g + 8 half, rounded to a storage.
template <class S>
__device__ QuadOf<S> narrowed(const device::Tile (&sums)[2], int half) {
    QuadOf<S> quad;
#pragma unroll
    for (int k = 0; k < 2; ++k) quad.set(2 * k, sums[k][2 * half], sums[k][2 * half + 1]);
    return quad;
}

template <class S>
__device__ void clear(QuadOf<S>& quad) {
#pragma unroll
    for (auto& held : quad.held) held = 0;
}

// The place of a segment in the arrays: `channel` is the first of its 16 channels, `first` its first
// position. It may lie partly or entirely after the sequence; there u is 0, gates are 1, and nothing is
// stored. So a short last block needs no special case: v stays what it was at the last position. Positions
// fit in 32 bits, as L is at most 2^24.
struct Place {
    int head, channel, first, length, width;
    bool is_whole = false;  // known to lie inside the arrays, so that nothing needs to be checked
    int64_t row;            // where the arrays have the lane's channel g

    __device__ Place(const Extents& all, int head, int channel, int first)
        : head(head),
          channel(channel),
          first(first),
          length(static_cast<int>(all.length)),
          width(static_cast<int>(all.width)),
          row(at_channel(0) * length) {}

    // Returns how many of `count` segments from this one on, `stride` positions apart, lie inside the arrays.
    __device__ int whole_segments(int count, int stride) const {
        if (channel + 16 > width) return 0;
        return min(count, (max(length - first, 0) + stride - segment) / stride);
    }
    __device__ bool has(int half) const { return is_whole || channel + channel_of_lane() + 8 * half < width; }
    __device__ bool has_position(int position) const { return is_whole || position < length; }
    __device__ bool has(int half, int position) const { return has(half) && has_position(position); }
    __device__ int64_t at(int half, int position) const {
        return row + static_cast<unsigned>(position) + half * 8 * static_cast<int64_t>(length);
    }
    __device__ int64_t at_gate(int position) const { return static_cast<int64_t>(head) * length + position; }
    // Returns the place of a channel in carry0.
    __device__ int64_t at_channel(int half) const {
        return static_cast<int64_t>(head) * width + channel + channel_of_lane() + 8 * half;
    }
    // Returns true if the sequence has a block, which is numbered from the first one of the segment. Carries
    // are [heads, blocks, width].
    __device__ bool has_block(int number) const {
        return (is_whole && number < blocks) || first + number * BLOCK < length;
    }
    __device__ int64_t at_block(int half, int number) const {
        const int blocks_of_head = (length + BLOCK - 1) / BLOCK;
        const int64_t block = static_cast<int64_t>(head) * blocks_of_head + number;
        return block * width + channel + channel_of_lane() + 8 * half +
               static_cast<unsigned>(first / BLOCK * width);
    }
};

// 8 neighbouring positions of a pair of tiles. swap_quads() turns them into a quad of each tile by an
// exchange between the lanes t and t ^ 1; swap_back() turns them back.
struct Eight {
    uint32_t held[4];
};
template <class S>
__device__ void swap_quads(const Eight& eight, QuadOf<S>& even, QuadOf<S>& odd) {
    const bool even_lane = device::lane_of_thread() % 2 == 0;
#pragma unroll
    for (int k = 0; k < 2; ++k) {
        const uint32_t mine = even_lane ? eight.held[2 + k] : eight.held[k];
        const uint32_t got = __shfl_xor_sync(device::whole_warp, mine, 1);
        even.held[k] = even_lane ? eight.held[k] : got;
        odd.held[k] = even_lane ? got : eight.held[2 + k];
    }
}
template <class S>
__device__ Eight swap_back(const QuadOf<S>& even, const QuadOf<S>& odd) {
    const bool even_lane = device::lane_of_thread() % 2 == 0;
    Eight eight;
#pragma unroll
    for (int k = 0; k < 2; ++k) {
        const uint32_t got = __shfl_xor_sync(device::whole_warp, even_lane ? odd.held[k] : even.held[k], 1);
        eight.held[k] = even_lane ? even.held[k] : got;
        eight.held[2 + k] = even_lane ? got : odd.held[k];
    }
    return eight;
}
// Returns the first of the lane's 8 neighbouring positions of a pair of tiles.
__device__ inline int first_of_eight(int pair) {
    const int lane = device::lane_of_thread();
    return (2 * pair + lane % 2) * tile + lane % 4 / 2 * 8;
}

// Loads 16 bytes, and lets the L2 cache fetch the 256 bytes around them, whose rest this warp or its
// neighbour needs soon.
__device__ inline uint4 load_16_bytes(const void* from) {
    uint4 four;
    asm("ld.global.L2::256B.v4.u32 {%0, %1, %2, %3}, [%4];"
        : "=r"(four.x), "=r"(four.y), "=r"(four.z), "=r"(four.w)
        : "l"(from));
    return four;
}

// Loads a segment, with zeros where the array has no such channel or position. All loads come before the
// first exchange, so that they are in flight together.
template <class S>
__device__ void load(QuadOf<S> (&values)[tiles][2], const void* array, const Place& place) {
    const auto* const words = static_cast<const typename S::Word*>(array);
    if constexpr (ALIGNED && has_half_words<S>) {
        Eight eight[2][tiles / 2];
#pragma unroll
        for (int half = 0; half < 2; ++half)
#pragma unroll
            for (int pair = 0; pair < tiles / 2; ++pair) {
                const int position = place.first + first_of_eight(pair);
                uint4 four = {0, 0, 0, 0};
                if (place.has(half, position)) four = load_16_bytes(words + place.at(half, position));
                eight[half][pair] = {{four.x, four.y, four.z, four.w}};
            }
#pragma unroll
        for (int half = 0; half < 2; ++half)
#pragma unroll
            for (int pair = 0; pair < tiles / 2; ++pair)
                swap_quads(eight[half][pair], values[2 * pair][half], values[2 * pair + 1][half]);
    } else {
#pragma unroll
        for (int half = 0; half < 2; ++half)
#pragma unroll
            for (int s = 0; s < tiles; ++s) {
                const int position = place.first + first_of_quad(s);
                clear(values[s][half]);
                if constexpr (ALIGNED) {
                    if (place.has(half, position))
                        values[s][half] = device::load_words<S, 4>(array, place.at(half, position));
                } else {
#pragma unroll
                    for (int k = 0; k < 4; ++k)
                        if (place.has(half, position + k))
                            values[s][half].set(k, S::widen(words[place.at(half, position + k)]));
                }
            }
    }
}

// Stores with a hint that the line may leave the caches first, as this launch does not read it again.
template <class Word>
__device__ void store_16_bytes(Word* to, const uint32_t* held) {
    __stcs(reinterpret_cast<uint4*>(to), uint4{held[0], held[1], held[2], held[3]});
}

template <class S>
__device__ void store(const QuadOf<S> (&values)[tiles][2], void* array, const Place& place) {
    auto* const words = static_cast<typename S::Word*>(array);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        if constexpr (ALIGNED && has_half_words<S>) {
#pragma unroll
            for (int pair = 0; pair < tiles / 2; ++pair) {
                const int position = place.first + first_of_eight(pair);
                const Eight eight = swap_back(values[2 * pair][half], values[2 * pair + 1][half]);
                if (place.has(half, position)) store_16_bytes(words + place.at(half, position), eight.held);
            }
        } else {
#pragma unroll
            for (int s = 0; s < tiles; ++s) {
                const int position = place.first + first_of_quad(s);
                if constexpr (ALIGNED) {
                    if (place.has(half, position))
                        store_16_bytes(words + place.at(half, position), values[s][half].held);
                } else {
#pragma unroll
                    for (int k = 0; k < 4; ++k)
                        if (place.has(half, position + k))
                            words[place.at(half, position + k)] = S::narrow(values[s][half].get(k));
                }
            }
        }
    }
}

// Loads the gates of the lane's positions. The lanes with the same t load the same ones.
__device__ inline void load_gates(Gates& gates, const void* a, const Place& place) {
    const int first = place.first + first_of_quad(0);
    const auto* const words = static_cast<const Storage::Word*>(a) + place.at_gate(first);
#pragma unroll
    for (int s = 0; s < tiles; ++s) {
        const int position = first + s * tile;
#pragma unroll
        for (int k = 0; k < 4; ++k) gates[s][k] = 1;
        if constexpr (ALIGNED) {
            if (place.has_position(position)) device::load<Storage>(words, s * tile, gates[s]);
        } else {
#pragma unroll
            for (int k = 0; k < 4; ++k)
                if (place.has_position(position + k)) gates[s][k] = Storage::widen(words[s * tile + k]);
        }
    }
}

// Returns in every lane the value that the lane of a quad of the same channels holds.
template <class Value>
__device__ Value of_quad(Value mine, int quad) {
    return __shfl_sync(device::whole_warp, mine, lane_of_quad(quad));
}

// Products of the gates of a block before, up to and after the lane's positions. In a block with the gates
// a b c d:
//
//   position    0      1      2      3
//   before      1      a      ab     abc
//   upto        a      ab     abc    abcd
//   after       bcd    cd     d      1         block = abcd
//
// A lane knows only its own gates, so shuffles hand around the products of whole quads and of half tiles.
struct Decays {
    Gates before, upto, after;  // a_0 … a_(i-1), a_0 … a_i, a_(i+1) … a_last
    float block[blocks];        // a_0 … a_last

    __device__ explicit Decays(const Gates& a) {
        float earlier[tiles], later[tiles], total[tiles];  // of the other quads of a tile, of the whole tile
#pragma unroll
        for (int s = 0; s < tiles; ++s) join_quads(a[s], earlier[s], later[s], total[s]);
#pragma unroll
        for (int b = 0; b < blocks; ++b) {
            const int first = b * tiles_of_block, last = first + tiles_of_block - 1;
            float so_far = 1;
#pragma unroll
            for (int s = first; s <= last; ++s) {
                before[s][0] = so_far * earlier[s];
                so_far *= total[s];
#pragma unroll
                for (int k = 0; k < 4; ++k) {
                    upto[s][k] = before[s][k] * a[s][k];
                    if (k < 3) before[s][k + 1] = upto[s][k];
                }
            }
            block[b] = so_far;
            so_far = 1;
#pragma unroll
            for (int s = last; s >= first; --s) {
                after[s][3] = so_far * later[s];
                so_far *= total[s];
#pragma unroll
                for (int k = 3; k > 0; --k) after[s][k - 1] = after[s][k] * a[s][k];
            }
        }
    }

    // Joins the quads of a tile in two exchanges: with the other quad of its half of the tile, then of
    // halves.
    static __device__ void join_quads(const float (&a)[4], float& earlier, float& later, float& total) {
        const int quad = quad_of_lane();
        const float own = a[0] * a[1] * a[2] * a[3];
        const float next = __shfl_xor_sync(device::whole_warp, own, 1);
        const float other_half = __shfl_xor_sync(device::whole_warp, own * next, 2);
        earlier = (quad % 2 == 1 ? next : 1) * (quad >= 2 ? other_half : 1);
        later = (quad % 2 == 0 ? next : 1) * (quad < 2 ? other_half : 1);
        total = own * next * other_half;
    }
};

}  // namespace sawtooth::btp
