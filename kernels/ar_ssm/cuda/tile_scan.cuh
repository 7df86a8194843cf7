// The scan of a tile of positions in one or both directions, for 32 ranks at a time. A thread owns own_rows
// consecutive positions of one rank; with 256 threads and 64 positions:
//
//                      rank 0   rank 1   …   rank 31
//   positions 0 … 7    lane 0   lane 1   …   lane 31     of warp 0
//   positions 8 … 15   lane 0   lane 1   …   lane 31     of warp 1, and so on to warp 7
//
// A thread sums its positions, the totals pass through shared memory, and every thread adds those of the
// warps before (or after) its own. Two threads with two positions each, before = 10 and after = 20:
//
//   values        1   2    3   4
//   total           3        7
//   forward      11  13   16  20
//   reverse      30  29   27  24
//   both         41  42   43  44
//
// Defines: THREADS.
#pragma once

#include "kernels/ar_ssm/cuda/convolution.cuh"
#include "kernels/cuda/device/sync.cuh"

namespace sawtooth::ar_ssm {

template <int rows>
struct TileScan {
    static constexpr int columns = 32, groups = THREADS / columns, own_rows = rows / groups;
    static_assert(groups * columns == THREADS && own_rows * groups == rows);
    struct Shared {
        float total[groups][columns];
    };

    // The rank and the first position of the thread within the tile.
    static __device__ int column() { return static_cast<int>(threadIdx.x) % columns; }
    static __device__ int first_row() { return static_cast<int>(threadIdx.x) / columns * own_rows; }

    // One number for every row of the thread, zero where the tile has no such row or rank. All are loaded
    // before any is used.
    struct Values {
        float number[own_rows];

        template <class Load>
        __device__ Values(const Layer& layer, const Positions& at, int64_t first_rank, Load load) {
            const int64_t rank = first_rank + column();
#pragma unroll
            for (int r = 0; r < own_rows; ++r)
                number[r] = rank < layer.rank && first_row() + r < at.count
                                ? load((at.token + first_row() + r) * layer.rank + rank)
                                : 0;
        }
    };

    // Every value becomes: if `forward`, the sum of `before` and the values up to it; if `reverse`, the sum
    // of it, all later values and `after`; if both, the sum of these two. All threads take part.
    template <bool forward, bool reverse>
    static __device__ void scan(Shared& shared, float before, float after, Values& values) {
        float total = 0;
#pragma unroll
        for (int r = 0; r < own_rows; ++r) total += values.number[r];
        const int group = static_cast<int>(threadIdx.x) / columns;
        shared.total[group][column()] = total;
        device::sync_block();  // the totals of all warps are visible
        float ends[own_rows];  // the sum of the row and all later ones
        if constexpr (reverse) {
#pragma unroll
            for (int g = groups - 1; g > 0; --g)
                if (g > group) after += shared.total[g][column()];
#pragma unroll
            for (int r = own_rows - 1; r >= 0; --r) ends[r] = after += values.number[r];
        }
        if constexpr (forward) {
#pragma unroll
            for (int g = 0; g < groups - 1; ++g)
                if (g < group) before += shared.total[g][column()];
        }
        device::sync_block();  // all have read the totals: they may be reused
#pragma unroll
        for (int r = 0; r < own_rows; ++r) {
            const float value = values.number[r];
            values.number[r] = 0;
            if constexpr (forward) values.number[r] = before += value;
            if constexpr (reverse) values.number[r] += ends[r];
        }
    }

    // Calls visit(r, place) for the rows of the thread inside the tile; `place` is their index in [batch,
    // length, rank].
    template <class Visit>
    static __device__ void for_each(const Layer& layer, const Positions& at, int64_t first_rank,
                                    Visit visit) {
        const int64_t rank = first_rank + column();
#pragma unroll
        for (int r = 0; r < own_rows; ++r)
            if (rank < layer.rank && first_row() + r < at.count)
                visit(r, (at.token + first_row() + r) * layer.rank + rank);
    }
};

// The prefix of a tile from `scanned` [batch, tiles, rank], the inclusive scan of the totals of all tiles:
// its entry for the tile before (step -1), or in a reverse scan for the tile after (step 1); 0 beyond both
// ends.
//
//   totals           3   7   2
//   scanned          3  10  12     the prefix of tile 1 is 3
//   from the end    12   9   2     the prefix of tile 1 is 2
template <int rows>
__device__ float prefix_of(const Layer& layer, const float* scanned, const Positions& at, int step,
                           int64_t rank) {
    const int64_t tiles = (layer.length + rows - 1) / rows, tile = at.first / rows + step;
    return tile < 0 || tile >= tiles || rank >= layer.rank
               ? 0
               : scanned[(at.sequence * tiles + tile) * layer.rank + rank];
}

}  // namespace sawtooth::ar_ssm
