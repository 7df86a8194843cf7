#pragma once

#include "kernels/cuda/plan_builder.h"
#include "kernels/lut/cuda/arguments.cuh"
#include "kernels/lut/sizes.h"

namespace sawtooth::lut {

// The words of a fault of an array of sums: it left 32 bits.
std::string overflow_words(const std::string& array);

// The weights of a request of either family on the GPU.
Table table_of(cuda::PlanBuilder& builder);
// The factor of a term before it becomes an integer.
double scale_of(const Parameters& parameters);

// What the variants of lut on CUDA work on: inputs and outputs of the request.
struct CudaJob : Sizes {
    explicit CudaJob(cuda::PlanBuilder& builder);

    int64_t sum_bytes() const { return integer ? 8 : 4; }
    // The macros of the device headers.
    cuda::Defines defines() const;
    // Numbers of x that a kernel keeps in shared memory for so many items; 0 if they do not fit.
    int64_t staged_inputs(int64_t items) const;

    Arguments given = {};
    int64_t weights = 0;  // of all neurons
};

}  // namespace sawtooth::lut
