#pragma once

#include "kernels/lut/cuda/arguments.cuh"
#include "kernels/lut/launches.h"
#include "kernels/lut_table/cuda/launches.h"

namespace sawtooth::lut {

// The arrays, sizes and kernel arguments of the CUDA variants.
struct CudaJob : Tensors {
    explicit CudaJob(cuda::PlanBuilder& builder)
        : Tensors(builder), given{common_arguments(builder, *this, batch)} {}

    cuda::KernelSource source(const char* file, const char* entry, int64_t threads) const {
        return {std::string("kernels/lut/cuda/") + file, entry, defines_of(*this), threads};
    }

    Arguments given;
};

}  // namespace sawtooth::lut
