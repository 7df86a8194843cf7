// One thread per pair of positions, in tiles of TILE x TILE pairs. Only tiles on and below the diagonal are
// launched, with all detectors of a tile side by side. For a sequence of 3 TILE positions:
//            column 0   1   2      blockIdx.x = tile T + detector
//   row 0           0              i = column TILE + threadIdx.x % TILE
//   row 1           1   2          j = row TILE + threadIdx.x / TILE
//   row 2           3   4   5      tiles 0, 2 and 5 also have threads with i >= j, which are no pairs
// Defines: TILE, THREADS.
#pragma once

#include "kernels/lut_sequence/cuda/pairs.cuh"

namespace sawtooth::lut_sequence {

static_assert(THREADS == TILE * TILE, "a thread per pair of a tile");

struct TilePlace {
    int64_t detector, i, j;
    bool is_pair;

    __device__ explicit TilePlace(const Arguments& given) {
        detector = blockIdx.x % given.detectors;
        const int64_t tile = blockIdx.x / given.detectors;
        const int64_t row = row_of_triangle(tile) - 1, column = tile - (row + 1) * row / 2;
        i = column * TILE + threadIdx.x % TILE;
        j = row * TILE + threadIdx.x / TILE;
        is_pair = i < j && j < given.length;
    }
};

}  // namespace sawtooth::lut_sequence
