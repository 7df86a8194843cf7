// Kernel arguments. Vectors of queries are [heads, N_q, D] in the storage of the inputs, those of keys and
// values [heads of keys, N, D], gradients have these shapes in f32, and rows are [heads, N_q] in f32; `heads`
// counts the heads of all sequences. Kernels use what they need.
#pragma once

#include "kernels/cuda/device/tensor_map.cuh"
#include "kernels/cuda/device/types.cuh"

namespace sawtooth::attention {

struct Arguments {
    int64_t heads, length, window;
    float scale;
    // prologue.cu: q1 = R(i) q, q2 = R(window) q, k1 = R(i) k
    const void *q, *k;
    void *q1, *q2, *k1;
    const void *k2, *v, *dout;
    void* o;
    float *lse, *delta;
    float *dq1, *dq2, *dk1, *dk2, *dv;
    // prologue.cu: dq = R(i)^-1 dq1 + R(window)^-1 dq2, dk = R(i)^-1 dk1 + dk2
    float *dq, *dk;
    // naive.cu: [heads, N_q, N]; scores become probabilities in place.
    float *scores = nullptr, *score_gradients = nullptr;
    int64_t queries = 0;  // N_q
    double base = 0;      // prologue.cu: of the rotation
};

// Arguments of streaming_wgmma.cu. The maps copy vectors in boxes of BLOCK_M or BLOCK_N rows and 64 columns,
// or HEAD if it is less.
struct WarpgroupArguments {
    TensorMap q1, q2, k1, k2, v;
    Arguments arguments;
};

// Arguments of backward_wgmma.cu. The maps copy queries in boxes of STEP rows, keys in boxes of BLOCK_N rows,
// and gradients in boxes of 64 rows and 32 columns.
struct WarpgroupBackwardArguments {
    TensorMap q1, q2, dout, k1, k2, v, dq1, dq2;
    Arguments arguments;
};

}  // namespace sawtooth::attention
