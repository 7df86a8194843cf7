#pragma once

#include <span>
#include <string>

#include "kernels/core/range.h"
#include "kernels/core/result.h"
#include "kernels/lut_table/sizes.h"

namespace sawtooth::lut_table {

// Shared by the figures of both families.

// The weights of a result, full or sparse.
class Weights {
  public:
    explicit Weights(const Result& result);

    // What a row of a detector's table adds to an output.
    double of(int64_t detector, int64_t row, int64_t output) const;
    // The synapses of a row; only with sparse connectivity.
    Range synapses(int64_t detector, int64_t row) const;

  private:
    const Sizes sizes_;
    std::span<const float> weights_;
    std::span<const int32_t> offsets_, targets_;
};

// "gather_x_gradients": a kernel without what the names of many of both families end with.
std::string kernel_label(const std::string& kernel);

}  // namespace sawtooth::lut_table
