// The online softmax of the queries of a warp while tiles of keys pass by, which both streaming kernels use.
//
// Defines used: BLOCK_N, HEAD, CAUSAL, ZERO_SCALE, SHARING, CACHE.
#pragma once

#include "kernels/attention/cuda/mask.cuh"
#include "kernels/attention/cuda/rows.cuh"
#include "kernels/cuda/device/tiles.cuh"

namespace sawtooth::attention {

using device::Tile;

constexpr int key_tiles = BLOCK_N / 8, head_tiles = HEAD / 8;
// Returns how many key tiles, from the first on, queries up to last - 1 visit; the others are skipped.
__device__ inline int key_tiles_of(const Mask& mask, int last) {
    return ((CAUSAL ? min(last, mask.length) : mask.length) + BLOCK_N - 1) / BLOCK_N;
}

constexpr float nothing = -3.402823466e38f;  // the lowest finite number: only scores of -infinity are less

// Calls act(query, key, n, at) for the lane's pairs in 16 queries and `tiles` tiles of 8 keys.
template <int tiles, class Act>
__device__ void for_each_pair(int query, int key, Act act) {
#pragma unroll
    for (int n = 0; n < tiles; ++n)
#pragma unroll
        for (int at = 0; at < 4; ++at)
            act(query + device::row_of_lane() + at / 2 * 8, key + 8 * n + device::column_of_lane() + at % 2,
                n, at);
}

// Replaces the scores of pairs that are not near by those of the far encoding.
template <int tiles>
__device__ void choose(const Mask& mask, int query, int key, const Tile (&far)[tiles], Tile* scores) {
    for_each_pair<tiles>(query, key, [&](int i, int j, int n, int at) {
        if (!mask.is_near(i, j)) scores[n][at] = far[n][at];
    });
}

// Returns the factor of scores in base 2. It is not 0, which would make hidden scores NaN.
__device__ inline float factor_of(float scale) { return fmaxf(scale * log2_e, 1e-37f); }

// Applies a scale of 0, which makes infinite scores NaN, before pairs are hidden.
__device__ inline void apply_zero_scale(Tile (&scores)[key_tiles]) {
    if constexpr (ZERO_SCALE) {
        device::scale_row(scores, 0, 0);
        device::scale_row(scores, 1, 0);
    }
}

__device__ inline void hide(const Mask& mask, int query, int key, Tile (&scores)[key_tiles]) {
    for_each_pair<key_tiles>(query, key, [&](int i, int j, int n, int at) {
        if (!mask.allows(i, j)) scores[n][at] = __int_as_float(0xff800000);  // -infinity
    });
}

// Returns the largest score of a row of the lane. The whole warp must call it.
__device__ inline float largest_of(const Tile (&scores)[key_tiles], int half) {
    float largest = nothing;
#pragma unroll
    for (int n = 0; n < key_tiles; ++n)
        largest = fmaxf(largest, fmaxf(scores[n][2 * half], scores[n][2 * half + 1]));
    largest = fmaxf(largest, __shfl_xor_sync(device::whole_warp, largest, 1));
    return fmaxf(largest, __shfl_xor_sync(device::whole_warp, largest, 2));
}

// The online softmax of 16 queries of a warp: their sums of values, and for the two queries of every lane the
// largest score and the sum of exponentials so far. streaming.cu raises the largest score at every tile
// (weigh, rescale), streaming_wgmma.cu only where it must (weigh_as_is, raise).
struct OnlineSoftmax {
    Tile sums[head_tiles];
    float most[2], total[2];  // `total` sums only the keys of the lane

    __device__ void start() {
        device::clear(sums);
#pragma unroll
        for (int half = 0; half < 2; ++half) most[half] = nothing, total[half] = 0;
    }

    // Turns scores into probabilities relative to the new maximum, and returns the factors for `rescale`.
    __device__ float2 weigh(Tile (&scores)[key_tiles], float factor) {
        float kept[2];
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const float now = fmaxf(most[half], largest_of(scores, half) * factor);
            kept[half] = exp2_of(most[half] - now);
            most[half] = now;
            float sum = 0;
#pragma unroll
            for (int n = 0; n < key_tiles; ++n)
#pragma unroll
                for (int at = 2 * half; at < 2 * half + 2; ++at) {
                    scores[n][at] = exp2_of(scores[n][at] * factor - now);
                    sum += scores[n][at];
                }
            total[half] = total[half] * kept[half] + sum;
        }
        return {kept[0], kept[1]};
    }
    // Sets weights to the probabilities relative to `most` as it is, and sum to their sums over the keys of
    // the lane.
    __device__ void weigh_as_is(const Tile (&scores)[key_tiles], float factor, Tile (&weights)[key_tiles],
                                float (&sum)[2]) const {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            sum[half] = 0;
#pragma unroll
            for (int n = 0; n < key_tiles; ++n)
#pragma unroll
                for (int at = 2 * half; at < 2 * half + 2; ++at) {
                    weights[n][at] = exp2_of(fmaf(scores[n][at], factor, -most[half]));
                    sum[half] += weights[n][at];
                }
        }
    }
    // Raises `most` to the largest score for the queries that any of their lanes names.
    __device__ void raise(const Tile (&scores)[key_tiles], float factor, const bool (&named)[2]) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const float now = fmaxf(most[half], largest_of(scores, half) * factor);
            const unsigned lanes = __ballot_sync(device::whole_warp, named[half]);
            if ((lanes >> (device::lane_of_thread() & 28) & 15) == 0) continue;
            const float kept = exp2_of(most[half] - now);
            most[half] = now;
            total[half] *= kept;
            device::scale_row(sums, half, kept);
        }
    }
    __device__ void rescale(float2 kept) {
        device::scale_row(sums, 0, kept.x);
        device::scale_row(sums, 1, kept.y);
    }

    // Stores o and lse of the queries from `query` on.
    template <class Storage>
    __device__ void finish(const Arguments& given, int64_t head, int query) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            // If all scores are -infinity, this is 0, and o and lse become NaN.
            const float all = device::sum_of_quad(total[half]);
            device::scale_row(sums, half, 1 / all);
            const int64_t row = query + device::row_of_lane() + 8 * half;
            if (row < given.length && device::column_of_lane() == 0)
                given.lse[query_row(given, head, row)] = most[half] + log2f(all) + 0 / all;
        }
        const int there = static_cast<int>(max(min(given.length - query, static_cast<int64_t>(16)), 0L));
        auto* const to = static_cast<typename Storage::Word*>(given.o) + query_row(given, head, query) * HEAD;
        device::store_rows<Storage, HEAD>(sums, there, to);
    }
};

}  // namespace sawtooth::attention
