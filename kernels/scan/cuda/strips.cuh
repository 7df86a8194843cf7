// Work on independent positions: a thread block processes `block_size` neighbouring rows of `lanes`
// neighbouring columns of [batch, rows, channels]. Neighbouring threads own neighbouring columns, then
// neighbouring rows.
// Grid: batches * ceil(rows / block_size) by ceil(channels / lanes).
//
// Defines: THREADS, a multiple of `lanes`.
#pragma once

#include "kernels/cuda/device/types.cuh"

namespace sawtooth::scan {

constexpr int reads_at_once = 4;

// Calls put(batch, row, column, get(batch, row, column)) for the thread's positions. Several are read before
// the first is written, so that their loads overlap: `get` must not read what `put` of another position
// writes.
template <int block_size, int lanes, class Get, class Put>
__device__ void for_each_position(int64_t rows, int64_t channels, Get get, Put put) {
    constexpr int apart = THREADS / lanes;  // rows between two positions of a thread
    const auto blocks = static_cast<uint32_t>((rows + block_size - 1) / block_size);
    const int64_t batch = blockIdx.x / blocks;
    const int64_t first = int64_t{blockIdx.x % blocks} * block_size;
    const int64_t column = int64_t{blockIdx.y} * lanes + threadIdx.x % lanes;
    if (column >= channels) return;
    const int64_t last = first + block_size < rows ? first + block_size : rows;
    decltype(get(batch, first, column)) got[reads_at_once];
    for (int64_t row = first + threadIdx.x / lanes; row < last; row += reads_at_once * apart) {
#pragma unroll
        for (int k = 0; k < reads_at_once; ++k)
            if (row + k * apart < last) got[k] = get(batch, row + k * apart, column);
#pragma unroll
        for (int k = 0; k < reads_at_once; ++k)
            if (row + k * apart < last) put(batch, row + k * apart, column, got[k]);
    }
}

}  // namespace sawtooth::scan
