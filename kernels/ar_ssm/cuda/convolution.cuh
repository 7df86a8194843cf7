// The convolution of a tile of positions along the sequence, three taps a channel, zeros beyond both ends.
//
// Defines: STORAGE, ALIGNED, THREADS.
#pragma once

#include "kernels/ar_ssm/cuda/product.cuh"

namespace sawtooth::ar_ssm {

// Neighbouring channels of a thread.
constexpr int channels_together = ALIGNED ? 16 / static_cast<int>(sizeof(Element)) : 1;

// A tile of positions of one sequence.
struct Positions {
    int64_t sequence, first;  // the sequence, the first position
    int64_t count;            // positions up to the end of the sequence, at most those of a tile
    int64_t token;            // of the first position
};
template <int rows>
__device__ Positions positions_of(const Layer& of, int64_t tile) {
    const int64_t tiles = (of.length + rows - 1) / rows, sequence = tile / tiles, first = tile % tiles * rows;
    const int64_t left = of.length - first;
    return {sequence, first, left < rows ? left : rows, sequence * of.length + first};
}

// Calls put(row, column, sums) for `channels_together` channels of every row of the tile, `columns` channels
// from `channel` on: t[l] = tap_0 values[l - 1] + tap_1 values[l] + tap_2 values[l + 1], or with the taps
// mirrored, which is the transpose.
template <int rows, int columns, bool mirrored, class Put>
__device__ void convolve(const Layer& of, const void* values, const Positions& at, int64_t channel, Put put) {
    constexpr int each = channels_together, across = columns / each, down = THREADS / across;
    constexpr int own_rows = rows / down;
    static_assert(across * down == THREADS && own_rows * down == rows);
    const int column = static_cast<int>(threadIdx.x) % across * each;
    const int first = static_cast<int>(threadIdx.x) / across * own_rows;
    if (channel + column >= of.width || first >= at.count) return;

    float taps[3][each];
#pragma unroll
    for (int k = 0; k < 3; ++k)
#pragma unroll
        for (int v = 0; v < each; ++v)
            taps[mirrored ? 2 - k : k][v] = element(of.conv, (channel + column + v) * 3 + k);
    const auto row_of = [&](int row, float(&to)[each]) {
        const int64_t position = at.first + row;
#pragma unroll
        for (int v = 0; v < each; ++v) to[v] = 0;
        if (position >= 0 && position < of.length)
            device::load<Storage>(values, (at.token + row) * of.width + channel + column, to);
    };
    float before[each], here[each], after[each];
    row_of(first - 1, before);
    row_of(first, here);
#pragma unroll 4
    for (int row = first; row < first + own_rows; ++row) {
        if (row >= at.count) break;
        row_of(row + 1, after);
        float sums[each];
#pragma unroll
        for (int v = 0; v < each; ++v) {
            sums[v] = fmaf(taps[2][v], after[v], fmaf(taps[1][v], here[v], taps[0][v] * before[v]));
            before[v] = here[v];
            here[v] = after[v];
        }
        put(row, column, sums);
    }
}

// Stores floats, whose address is that of `channels_together` elements of a tile.
__device__ inline void store_floats(float* to, const float (&values)[channels_together]) {
    constexpr int each = channels_together < 4 ? channels_together : 4;
#pragma unroll
    for (int v = 0; v < channels_together; v += each) {
        float part[each];
#pragma unroll
        for (int k = 0; k < each; ++k) part[k] = values[v + k];
        device::store<device::f32>(to, v, part);
    }
}

}  // namespace sawtooth::ar_ssm
