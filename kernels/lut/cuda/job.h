#pragma once

#include "kernels/cuda/plan_builder.h"
#include "kernels/lut/cuda/arguments.cuh"
#include "kernels/lut_table/sizes.h"

namespace sawtooth::lut {

// What the variants of lut on CUDA work on: inputs and outputs of the request.
struct CudaJob : Sizes {
    explicit CudaJob(cuda::PlanBuilder& builder);

    int64_t sum_bytes() const { return integer ? 8 : 4; }
    cuda::KernelSource source(const char* file, const char* entry, int64_t threads) const;

    Arguments given = {};
};

}  // namespace sawtooth::lut
