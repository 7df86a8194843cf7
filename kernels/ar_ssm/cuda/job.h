#pragma once

#include <map>
#include <string>
#include <vector>

#include "kernels/ar_ssm/cuda/arguments.cuh"
#include "kernels/ar_ssm/sizes.h"
#include "kernels/core/integers.h"
#include "kernels/cuda/plan_builder.h"

namespace sawtooth::ar_ssm {

constexpr int64_t threads = 256;
constexpr int64_t tile_rows = tile_rows_on_cuda;

// What the variants on CUDA share: the arguments of all kernels, and how their sizes map to a GPU.
class CudaJob : public Sizes {
  public:
    explicit CudaJob(cuda::PlanBuilder& builder);

    // Arrays of tokens: floats of ranks, and factors of products in their storage.
    float* take_ranks() { return builder.take<float>(tokens() * rank); }
    void* take_factors(int64_t columns) {
        return builder.take<std::byte>(tokens() * columns * bytes_of(storage));
    }

    // Neighbouring channels of a thread: 16 bytes if rows of x are multiples of that (ALIGNED_CHANNELS).
    int64_t channels_together() const { return is_aligned(width) ? 16 / bytes_of(storage) : 1; }
    // Channels of a thread block that convolves; a power of two.
    int64_t channels() const { return width > 64 ? 128 : 64; }
    // The output for the gradient of a weight.
    float* gradient(const std::string& weight);
    int64_t tiles() const { return ceil_divide(length, tile_rows); }  // of a sequence
    Grid grid_of_tiles() const { return {side("B", batch) * pieces("L", length, tile_rows)}; }
    // Terms of a product at once: 64 bytes, or 128 of rows that are long, if the chip has the memory.
    int64_t depth() const { return 64 / bytes_of(storage); }
    int64_t long_depth() const;
    // Shared memory of a product, from the rows and columns of the parts of both factors (product.cuh).
    int64_t product_bytes(int64_t left_rows, int64_t left_columns, int64_t right_rows,
                          int64_t right_columns) const;
    // The same for `rows` tokens with weights as [columns, inner] or as [inner, columns].
    int64_t forward_bytes(int64_t rows, int64_t columns, int64_t depth) const {
        return product_bytes(rows, depth, columns, depth);
    }
    int64_t backward_bytes(int64_t rows, int64_t columns, int64_t depth) const {
        return product_bytes(rows, depth, depth, columns);
    }
    // A kernel of this folder with STORAGE, ALIGNED and ALIGNED_CHANNELS, which all have that read factors,
    // and further macros.
    cuda::KernelSource source(const std::string& file, const std::string& entry, int64_t shared_bytes,
                              cuda::Defines more) const;

    // Adds the scan of `from` [batch, count, rank] along `count`.
    struct ScanOf {
        const char* prefix;  // of the names of its launches
        bool flipped;
        int64_t count;
        const char* name;
        const void* from;
        Storage storage;
        const char* to_name;
        float* to;
    };
    void scan(const std::string& variant, const ScanOf& of);

    cuda::PlanBuilder& builder;
    Layer given = {};

  private:
    bool is_aligned(int64_t columns) const { return columns * bytes_of(storage) % 16 == 0; }

    std::map<std::string, float*> gradients_;
};

// At most `most` columns at a time, in pieces of about the same size that are multiples of `step`.
int64_t panel_of(int64_t columns, int64_t most, int64_t step);

// Gradients of weights that one launch sums over parts of the tokens; a second launch adds the parts.
class WeightSums {
  public:
    explicit WeightSums(CudaJob& job);

    // The gradient of the weight: scale left^T right of arrays of tokens with these columns; the sum of
    // values over tokens; that of conv.
    void product(const char* weight, const void* left, int64_t rows, const void* right, int64_t columns,
                 float scale = 1);
    void sum(const char* weight, const void* values, int64_t columns);
    void taps();

    // `adds`: to the gradients that are there.
    void launch(LaunchInfo info, bool adds = false) const;

  private:
    int64_t parts() const;
    int64_t place(const char* weight, int64_t count);
    Side tiles() const;

    CudaJob& job_;
    WeightGradients of_ = {};
    GradientParts to_ = {};
};

}  // namespace sawtooth::ar_ssm
