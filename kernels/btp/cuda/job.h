#pragma once

#include "kernels/btp/cuda/arguments.cuh"
#include "kernels/btp/tensors.h"
#include "kernels/cuda/plan_builder.h"

namespace sawtooth::btp {

// What the variants on CUDA work on.
struct CudaJob : Tensors {
    using Tensors::Tensors;

    // Whether kernels read 16 bytes at a time.
    bool is_aligned() const { return length * bytes_of(storage) % 16 == 0; }
    // The macros of segment.cuh and carries.cuh.
    cuda::Defines defines() const {
        constexpr const char* orders[] = {"one", "two", "full"};
        return {{"STORAGE", name_of(storage)},
                {"BLOCK", block},
                {"ORDER", orders[static_cast<size_t>(order)]},
                {"ALIGNED", is_aligned()}};
    }
    // Of one segment a warp, without what launches pass between them.
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
