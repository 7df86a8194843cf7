#pragma once

#include "kernels/btp/cuda/arguments.cuh"
#include "kernels/btp/tensors.h"
#include "kernels/cuda/plan_builder.h"

namespace sawtooth::btp {

// The job of a variant on CUDA.
struct CudaJob : Tensors {
    using Tensors::Tensors;

    // Returns true if rows are aligned to 16 bytes, so that kernels read as many at a time.
    bool is_aligned() const { return length * std::min(bytes_of(storage), bytes_of(x_storage)) % 16 == 0; }
    // Returns the macros of segment.cuh, carries.cuh and, for blocks on CUDA cores, plain.cuh.
    cuda::Defines defines() const {
        constexpr const char* orders[] = {"one", "two", "full"};
        return {{"STORAGE", name_of(storage)},
                {"OUT_STORAGE", name_of(x_storage)},
                {"BLOCK", block},
                {"ORDER", orders[static_cast<size_t>(order)]},
                {"ALIGNED", is_aligned()},
                {"SHARED_GATES", gate_rows < heads},
                {"CARRY0", static_cast<bool>(carry0)}};
    }
    // Returns the arguments for one segment per warp, without what launches pass between them. The driver
    // copies as many bytes of them as the kernel takes.
    MoreArguments arguments() const {
        const Arguments usual = {.all = {length, heads, width},
                                 .a = a.address,
                                 .u = u.address,
                                 .dx = dx.address,
                                 .x = x.address,
                                 .du = du.address,
                                 .carry = carry.as<float>(),
                                 .da = da_of_sequences.as<float>()};
        return {usual, gate_rows, carry0.as<float>(), dcarry0.as<float>()};
    }
};

}  // namespace sawtooth::btp
