// Decides which pairs of a query and a key count, and which encoding scores them.
//
// Defines used: BLOCK_N, CAUSAL.
#pragma once

#include "kernels/attention/cuda/arguments.cuh"

namespace sawtooth::attention {

// How the pairs of a tile are scored: all by q1 k1 (near), all by q2 k2 (far), or each by one of the two.
enum class TileKind { near, far, mixed };

struct Mask {
    int length, window;  // a window beyond the length is cut to it

    __device__ Mask(int64_t positions, int64_t given_window)
        : length(static_cast<int>(positions)), window(static_cast<int>(min(given_window, positions))) {}

    // Returns the kind of the tile with queries from `query` to query_end - 1 and keys from `key` to
    // key_end - 1, of whose pairs the mask allows at least one.
    __device__ TileKind kind(int query, int query_end, int key, int key_end) const {
        query_end = min(query_end, length);
        key_end = min(key_end, length);
        const int after = query_end - 1 - key, before = key_end - 1 - query;
        const int farthest = CAUSAL ? after : max(after, before);
        const int gap = max(query - (key_end - 1), key - (query_end - 1));
        if (farthest < window) return TileKind::near;
        return gap >= window ? TileKind::far : TileKind::mixed;
    }
    // Returns true if the mask forbids some pair of a query from `query` on with a key from `key` to
    // key_end - 1.
    __device__ bool forbids(int query, int key, int key_end) const {
        return key_end > length || (CAUSAL && key_end - 1 > query);
    }
    __device__ bool allows(int query, int key) const { return key < length && (!CAUSAL || key <= query); }
    __device__ bool is_near(int query, int key) const { return abs(query - key) < window; }
};

constexpr float log2_e = 1.4426950408889634f;

__device__ inline float exp2_of(float value) {
    float power;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(value));
    return power;
}

}  // namespace sawtooth::attention
