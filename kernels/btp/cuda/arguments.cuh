// Kernel arguments. The last index is the fastest, and `heads` counts the heads of all sequences:
//
//   a, da          [heads, length]          gates: all channels of a head share them
//   u, dx, x, du   [heads, width, length]   values: a row is one channel along the sequence
//   carry, dc      [heads, blocks, width]   carries into the blocks of BL positions, and their gradients
//   state          [heads, width, 2]        v and z of every row, where every token is a launch
//
// a, u, dx, x and du are in the storage of the request, the rest is f32. Kernels use what they need.
#pragma once

#include "kernels/cuda/device/types.cuh"

namespace sawtooth::btp {

struct Extents {
    int64_t length, heads, width;
};

// The memory of the look-back, where carries are chained (device/lookback.cuh): the counter of tickets, and
// the board on which thread blocks publish (carries.cuh).
struct Chain {
    unsigned long long* counter;
    void* board;
};

struct Arguments {
    Extents all;
    const void *a, *u, *dx;
    void *x, *du;
    float *carry, *da, *dc = nullptr, *state = nullptr;
    int64_t run = 1;    // neighbouring segments that a warp goes through (segment.cuh)
    int64_t token = 0;  // the token of this launch
    Chain chain = {};
};

}  // namespace sawtooth::btp
