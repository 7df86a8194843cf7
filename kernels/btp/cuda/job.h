#pragma once

#include "kernels/btp/cuda/arguments.cuh"
#include "kernels/btp/sizes.h"
#include "kernels/cuda/plan_builder.h"

namespace sawtooth::btp {

// What the variants on CUDA work on: a, u, dx, x and du in the storage of the request, everything else in
// f32.
struct CudaJob : Sizes {
    explicit CudaJob(cuda::PlanBuilder& builder);

    // Whether kernels read 16 bytes at a time.
    bool is_aligned() const { return length * bytes_of(storage) % 16 == 0; }
    Extents extents() const { return {length, heads, width}; }
    // The macros of segment.cuh and carries.cuh.
    cuda::Defines defines() const;

    Order order;
    Storage storage;
    const void *a = nullptr, *u = nullptr, *dx = nullptr;  // dx is null without a backward pass
    void *x = nullptr, *du = nullptr;
    float *carry = nullptr, *da = nullptr;
};

}  // namespace sawtooth::btp
