// Kernel arguments: one plain struct per kernel, filled in by the host. Vectors are [heads, N, D] in the
// storage of the inputs, rows [heads, N] in f32; `heads` counts the heads of all sequences.
#pragma once

#include "kernels/cuda/device/types.cuh"

namespace sawtooth::attention {

// prologue.cu: q1 = R(i) q, q2 = R(window) q, k1 = R(i) k.
struct RotationArguments {
    const void *q, *k;
    void *q1, *q2, *k1;
    int64_t heads, length, window;
};

// streaming.cu
struct ForwardArguments {
    const void *q1, *q2, *k1, *k2, *v;
    void* o;
    float* lse;
    int64_t length, window;
    float scale;
};

// naive.cu; scores [heads, N, N] become probabilities in place.
struct NaiveArguments {
    const void *q1, *q2, *k1, *k2, *v;
    float* scores;
    void* o;
    float* lse;
    int64_t length, window;
    float scale;
};

}  // namespace sawtooth::attention
