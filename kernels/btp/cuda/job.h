#pragma once

#include "kernels/btp/cuda/arguments.cuh"
#include "kernels/btp/tensors.h"
#include "kernels/cuda/plan_builder.h"

namespace sawtooth::btp {

// The job of a variant on CUDA.
struct CudaJob : Tensors {
    using Tensors::Tensors;

    // Returns true if rows are aligned to 16 bytes, so that kernels read as many at a time.
    bool is_aligned() const { return length * bytes_of(storage) % 16 == 0; }
    // Returns the macros of segment.cuh and carries.cuh.
    cuda::Defines defines() const {
        constexpr const char* orders[] = {"one", "two", "full"};
        return {{"STORAGE", name_of(storage)},
                {"BLOCK", block},
                {"ORDER", orders[static_cast<size_t>(order)]},
                {"ALIGNED", is_aligned()}};
    }
    // Returns the arguments for one segment per warp, without what launches pass between them.
    Arguments arguments() const {
        return {.all = {length, heads, width},
                .a = a.address,
                .u = u.address,
                .dx = dx.address,
                .x = x.address,
                .du = du.address,
                .carry = carry.as<float>(),
                .da = da.as<float>()};
    }
};

}  // namespace sawtooth::btp
