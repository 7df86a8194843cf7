// Sums along a tile of positions in both directions, for 32 ranks at a time: a thread owns consecutive
// positions of one rank.
//
// Defines: THREADS.
#pragma once

#include "kernels/ar_ssm/cuda/arguments.cuh"

namespace sawtooth::ar_ssm {

template <int rows>
struct TileScan {
    static constexpr int columns = 32, groups = THREADS / columns, own_rows = rows / groups;
    static_assert(groups * columns == THREADS && own_rows * groups == rows);
    struct Shared {
        float total[groups][columns];
    };

    static __device__ int column() { return static_cast<int>(threadIdx.x) % columns; }
    static __device__ int first_row() { return static_cast<int>(threadIdx.x) / columns * own_rows; }

    // Calls take(row, sum): the sum of `before` and the rows up to this one if `forward`, plus the sum of
    // this and all later rows and `after` if `reverse`. load(row) is called once a row. Needs all threads.
    template <bool forward, bool reverse, class Load, class Take>
    static __device__ void scan(Shared& shared, float before, float after, Load load, Take take) {
        float values[own_rows], total = 0;
#pragma unroll
        for (int r = 0; r < own_rows; ++r) total += values[r] = load(first_row() + r);
        const int group = static_cast<int>(threadIdx.x) / columns;
        shared.total[group][column()] = total;
        __syncthreads();       // the totals are visible
        float ends[own_rows];  // the sum of the row and all later ones
        if constexpr (reverse) {
#pragma unroll
            for (int g = groups - 1; g > 0; --g)
                if (g > group) after += shared.total[g][column()];
#pragma unroll
            for (int r = own_rows - 1; r >= 0; --r) ends[r] = after += values[r];
        }
        if constexpr (forward) {
#pragma unroll
            for (int g = 0; g < groups - 1; ++g)
                if (g < group) before += shared.total[g][column()];
        }
        __syncthreads();  // all have read the totals: they may be reused
#pragma unroll
        for (int r = 0; r < own_rows; ++r) {
            float sum = 0;
            if constexpr (forward) sum = before += values[r];
            if constexpr (reverse) sum += ends[r];
            take(first_row() + r, sum);
        }
    }
};

// The prefix of a tile, from the inclusive scan of the totals of all tiles, [batch, tiles, rank].
__device__ inline float prefix_of(const float* scanned, int64_t sequence, int64_t tiles, int64_t tile,
                                  int64_t columns, int64_t column) {
    return tile < 0 || tile >= tiles ? 0 : scanned[(sequence * tiles + tile) * columns + column];
}

}  // namespace sawtooth::ar_ssm
