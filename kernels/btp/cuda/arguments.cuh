// Kernel arguments. Gates are [heads, length], values [heads, width, length], carries [heads, blocks, width];
// inputs, x and du in the storage of the request, the rest in f32. Heads are those of all sequences.
#pragma once

#include "kernels/cuda/device/types.cuh"

namespace sawtooth::btp {

struct Extents {
    int64_t length, heads, width;
};

// steps.cu. `state`: v and z of every row, for one launch per token.
struct Steps : Extents {
    const void *a, *u;
    void* x;
    float *carry, *state;
    int64_t token;
};

// Tickets and published parts (device/lookback.cuh), where carries are chained.
struct Chain {
    unsigned long long* counter;
    void* board;
};

// fused.cu, second_pass.cu. A warp goes through `run` segments (segment.cuh), one after the other.
struct Forward : Extents {
    int64_t run;
    const void *a, *u;  // u is null in the second pass, which adds to x
    void* x;
    float* carry;
    Chain chain;
};

// gradients.cu. `dc`: gradients of the carries between two launches.
struct Backward : Extents {
    int64_t run;
    const void *a, *u, *dx;
    const float* carry;
    float *dc, *da;
    void* du;
    Chain chain;
};

}  // namespace sawtooth::btp
