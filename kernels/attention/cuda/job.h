#pragma once

#include "kernels/attention/cuda/arguments.cuh"
#include "kernels/attention/tensors.h"
#include "kernels/cuda/plan_builder.h"

namespace sawtooth::attention {

// The job of a variant on CUDA.
struct CudaJob : Tensors {
    explicit CudaJob(PlanBuilder& builder)
        : Tensors(builder, storage_named(builder.parameters().text("dtype"))) {}

    Arguments arguments() const;
    // Returns macros with those of rows.cuh.
    cuda::Defines with_rows(cuda::Defines defines) const;
    // Returns the macros of both passes of the streaming variants, and those of their forward pass.
    cuda::Defines streaming_defines(const Parameters& parameters) const;
    cuda::Defines forward_defines(const Parameters& parameters) const;
};

// Makes the job of a request and adds the launch that rotates q and k.
CudaJob prepared_job(cuda::PlanBuilder& builder);
// Adds the first launch of a backward pass, which computes delta, and clears dq1 and dq2 if the next one adds
// to them.
void add_preprocess(cuda::PlanBuilder& builder, const CudaJob& job, bool clears = false);
// Adds the launches of the backward pass of streaming.
void add_backward(cuda::PlanBuilder& builder, const CudaJob& job);
// Adds the last launch of a backward pass, which rotates the gradients of queries and keys back to dq and dk.
void add_epilogue(cuda::PlanBuilder& builder, const CudaJob& job);

}  // namespace sawtooth::attention
