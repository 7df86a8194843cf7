// Kernel arguments. The last index is the fastest, and `heads` counts the heads of all sequences:
//
//   a              [gate_rows, length]      gates: all channels of a head share them; gate_rows is heads, or
//                                           H if the sequences of the batch share them, too
//   da             [heads, length]          gradients of the gates of every sequence
//   u, dx, x, du   [heads, width, length]   values: a row is one channel along the sequence
//   carry, dc      [heads, blocks, width]   carries into the blocks of BL positions, and their gradients
//   carry0, dcarry0 [heads, width]          the carry into the first block and its gradient
//   state          [heads, width, 2]        v and z of every row, where every token is a launch
//
// a, u, dx and du are in the storage of the inputs, x in its own, the rest is f32. Kernels use what they
// need.
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

// What few settings need besides. A kernel that needs nothing of it takes only the Arguments, with which
// these begin: a longer struct alone would change its registers.
struct MoreArguments : Arguments {
    int64_t gate_rows;
    const float* carry0;
    float* dcarry0;
};
template <bool needs_more>
struct ArgumentsOf {
    using Type = Arguments;
};
template <>
struct ArgumentsOf<true> {
    using Type = MoreArguments;
};

// da [gates] is the sum of da_of_sequences [sequences, gates].
struct SumArguments {
    int64_t gates, sequences;
    const float* da_of_sequences;
    float* da;
};

}  // namespace sawtooth::btp
