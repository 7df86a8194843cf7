#pragma once

#include "kernels/cuda/plan_builder.h"
#include "kernels/lut_sequence/cuda/arguments.cuh"
#include "kernels/lut_sequence/sizes.h"

namespace sawtooth::lut_sequence {

// What the variants of lut_sequence on CUDA work on: an item of lut is a position b S + j here.
struct CudaJob : Sizes {
    explicit CudaJob(cuda::PlanBuilder& builder);

    bool backward() const { return given.dy != nullptr; }
    int64_t positions() const { return batch * length; }
    int64_t sum_bytes() const { return integer ? 8 : 4; }
    cuda::KernelSource source(const char* file, const char* entry, int64_t threads) const;

    Arguments given = {};
};

// The plan of a variant: the launches that find the bits of positions and distances, then its own, if there
// is a pair.
using AddLaunches = void (*)(cuda::PlanBuilder& builder, CudaJob& job);
Outcome<Plan> plan_of(const PlanRequest& request, AddLaunches add_launches);

}  // namespace sawtooth::lut_sequence
