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
    Shape weight_shape() const { return sparse ? Shape{weights} : Shape{detectors, rows, outputs}; }
    // The macros of the device headers.
    cuda::Defines defines() const;
    cuda::KernelSource source(const char* file, const char* entry, int64_t threads) const;
    // The same work in the terms of lut, for the kernels that both families share.
    lut::Arguments of_lut() const;

    Arguments given = {};
    const float* x = nullptr;
    int64_t weights = 0;  // of all neurons
};

// The launches of both variants that find the bits of positions and distances.
void add_checks(cuda::PlanBuilder& builder, const CudaJob& job);
// All launches without a single pair, of sequences of one position: their sums are zero.
void add_launches_without_pairs(cuda::PlanBuilder& builder, const CudaJob& job);

}  // namespace sawtooth::lut_sequence
