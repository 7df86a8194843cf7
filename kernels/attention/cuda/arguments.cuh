// Kernel arguments: one plain struct per kernel, filled in by the host. Vectors are [heads, N, D] in the
// storage of the inputs, rows [heads, N] in f32; `heads` counts the heads of all sequences.
#pragma once

#include "kernels/cuda/device/tensor_map.cuh"
#include "kernels/cuda/device/types.cuh"

namespace sawtooth::attention {

// prologue.cu: q1 = R(i) q, q2 = R(window) q, k1 = R(i) k.
struct RotationArguments {
    const void *q, *k;
    void *q1, *q2, *k1;
    int64_t heads, length, window;
};

// prologue.cu: dq = R(i)^-1 dq1 + R(window)^-1 dq2, dk = R(i)^-1 dk1 + dk2, in f32.
struct RotationBackArguments {
    const float *dq1, *dq2, *dk1, *dk2;
    float *dq, *dk;
    int64_t heads, length, window;
};

// streaming.cu and streaming_wgmma.cu
struct ForwardArguments {
    const void *q1, *q2, *k1, *k2, *v;
    void* o;
    float* lse;
    int64_t length, window;
    float scale;
};

// streaming_wgmma.cu: the inputs as [heads, N, D], in boxes of 64 or HEAD columns and BLOCK_M or BLOCK_N rows
struct WarpgroupArguments {
    TensorMap q1, q2, k1, k2, v;
    ForwardArguments forward;
};

// preprocess.cu
struct PreprocessArguments {
    const void *o, *dout;
    float* delta;
    int64_t length;
};

// backward.cu; the gradients are f32
struct BackwardArguments {
    const void *q1, *q2, *k1, *k2, *v, *dout;
    const float *lse, *delta;
    float *dq1, *dq2, *dk1, *dk2, *dv;
    int64_t length, window;
    float scale;
};

// naive.cu; scores [heads, N, N] become probabilities in place, score_gradients is as large.
struct NaiveArguments {
    ForwardArguments forward;
    float *scores, *score_gradients;
    const void* dout;
    const float* delta;
    float *dq1, *dq2, *dk1, *dk2, *dv;
};

}  // namespace sawtooth::attention
