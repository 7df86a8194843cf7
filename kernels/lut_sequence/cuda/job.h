#pragma once

#include "kernels/lut_sequence/cuda/arguments.cuh"
#include "kernels/lut_sequence/launches.h"
#include "kernels/lut_table/cuda/launches.h"

namespace sawtooth::lut_sequence {

// The arrays, sizes and kernel arguments of the CUDA variants.
struct CudaJob : Tensors {
    explicit CudaJob(cuda::PlanBuilder& builder);

    cuda::KernelSource source(const char* file, const char* entry, int64_t threads) const;

    Arguments given;
};

// The plan of a variant: the launches that find the bits of positions and distances, then, if there is a
// pair, those of the variant.
using AddLaunches = void (*)(cuda::PlanBuilder& builder, const CudaJob& job);
Outcome<Plan> plan_of(const PlanRequest& request, AddLaunches add_launches);

}  // namespace sawtooth::lut_sequence
