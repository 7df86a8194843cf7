#pragma once

#include "kernels/attention/cuda/arguments.cuh"
#include "kernels/attention/outputs.h"
#include "kernels/cuda/plan_builder.h"

namespace sawtooth::attention {

// What the variants on CUDA work on: inputs and o in the storage of the request, everything else in f32.
struct CudaJob : Outputs {
    int64_t heads = 0, length = 0, d = 0, window = 0;
    Storage storage = Storage::bf16;
    float scale = 1;
    const void *q1 = nullptr, *q2 = nullptr, *k1 = nullptr, *k2 = nullptr, *v = nullptr;
    const void* dout = nullptr;  // null without a backward pass
    void* o = nullptr;

    Shape vectors() const { return {heads, length, d}; }
    ForwardArguments forward() const { return {q1, q2, k1, k2, v, o, lse, length, window, scale}; }
};

// Takes inputs and outputs, and rotates q and k.
CudaJob prepared_job(cuda::PlanBuilder& builder);
// The first and the last launch of every backward pass: delta, and the rotation of the gradients of q and k.
void add_preprocess(cuda::PlanBuilder& builder, const CudaJob& job);
void add_epilogue(cuda::PlanBuilder& builder, const CudaJob& job);

}  // namespace sawtooth::attention
