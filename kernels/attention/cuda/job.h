#pragma once

#include "kernels/attention/cuda/arguments.cuh"
#include "kernels/attention/tensors.h"
#include "kernels/cuda/plan_builder.h"

namespace sawtooth::attention {

// What the variants on CUDA work on.
struct CudaJob : Tensors {
    explicit CudaJob(PlanBuilder& builder)
        : Tensors(builder, storage_named(builder.parameters().text("dtype"))) {}

    Arguments arguments() const;
};

// Takes the arrays, and rotates q and k.
CudaJob prepared_job(cuda::PlanBuilder& builder);
// The first and the last launch of every backward pass: delta, and the rotation of the gradients of q and k.
void add_preprocess(cuda::PlanBuilder& builder, const CudaJob& job);
void add_epilogue(cuda::PlanBuilder& builder, const CudaJob& job);

}  // namespace sawtooth::attention
