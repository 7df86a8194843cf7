#pragma once

#include <string>

#include "kernels/ar_ssm/cuda/arguments.cuh"
#include "kernels/ar_ssm/tensors.h"
#include "kernels/cuda/plan_builder.h"

namespace sawtooth::ar_ssm {

constexpr int64_t threads = 256;

// Whether the variant fused projects with project_wgmma.cu, or project_split.cu in f32: the forward pass on
// Hopper, for whole boxes of 128 bytes of channels whose sums fit in the registers of a group. Hard gates in
// f32 are left to project.cu.
bool projects_in_groups(const Sizes& sizes, const Chip& chip);

// What both variants share on CUDA: the arguments of all kernels, and how their sizes map to a GPU.
struct CudaJob : Tensors {
    CudaJob(cuda::PlanBuilder& plan, bool fused)
        : Tensors(plan, fused, !fused || !projects_in_groups(Sizes(plan.parameters()), plan.chip())),
          builder(plan) {}

    Layer arguments() const;

    // The number of neighbouring channels of a thread: 16 bytes if rows of x are multiples of that
    // (ALIGNED_CHANNELS).
    int64_t channels_together() const { return is_aligned(width) ? 16 / bytes_of(storage) : 1; }
    // The number of channels of a thread block that convolves, a power of two.
    int64_t channels() const { return width > 64 ? 128 : 64; }
    Grid grid_of_tiles() const { return {side("B", batch) * pieces("L", length, tile)}; }
    // The number of terms of a product in one stage: 64 bytes, or 128 in long_depth() if the chip has the
    // shared memory.
    int64_t depth() const { return 64 / bytes_of(storage); }
    int64_t long_depth() const;
    // The bytes of shared memory of a product, from the rows and columns of the tiles of both factors
    // (product.cuh).
    int64_t product_bytes(int64_t left_rows, int64_t left_columns, int64_t right_rows,
                          int64_t right_columns) const;
    // product_bytes of `rows` tokens with weights [columns, inner], or [inner, columns].
    int64_t forward_bytes(int64_t rows, int64_t columns, int64_t depth) const {
        return product_bytes(rows, depth, columns, depth);
    }
    int64_t backward_bytes(int64_t rows, int64_t columns, int64_t depth) const {
        return product_bytes(rows, depth, depth, columns);
    }
    // A kernel of this folder, with the macros STORAGE, ALIGNED and ALIGNED_CHANNELS, which every kernel that
    // reads factors needs, and those of `more`.
    cuda::KernelSource source(const std::string& file, const std::string& entry, int64_t shared_bytes,
                              cuda::Defines more) const;

    cuda::PlanBuilder& builder;

  private:
    bool is_aligned(int64_t columns) const { return columns * bytes_of(storage) % 16 == 0; }
};

// The number of columns to compute at once: about the same every time, and a multiple of `step` that is at
// most `most`.
int64_t columns_at_once(int64_t columns, int64_t most, int64_t step);

// Adds the launch that sums gradients over parts of the tokens, and a second one that adds the parts.
void add_weight_gradients(const CudaJob& job, LaunchInfo info, const std::vector<WeightGradient>& gradients);

}  // namespace sawtooth::ar_ssm
