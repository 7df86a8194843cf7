#pragma once

#include <optional>
#include <span>
#include <string>

#include "kernels/core/range.h"
#include "kernels/core/result.h"
#include "kernels/lut_table/sizes.h"

namespace sawtooth::lut_table {

// Helpers for the figures of both families.

// The weights of a result, full or sparse.
class Weights {
  public:
    explicit Weights(const Result& result);

    // Returns what a row of a detector's table adds to an output.
    double weight(int64_t detector, int64_t row, int64_t output) const;
    // Returns the synapses of a row. The connectivity must be sparse.
    Range synapses(int64_t detector, int64_t row) const;

  private:
    const Sizes sizes_;
    std::span<const float> weights_;
    std::span<const int32_t> offsets_, targets_;
};

// "gather_x_gradients": the name of a kernel without the endings that many kernels of both families have.
std::string kernel_label(const std::string& kernel);

// Returns the float64 reference of an output, even if its terms are rounded to integers in the reference that
// files have; absent if the variants have no such output.
std::optional<Array> float64_reference(const Result& result, const std::string& output);

}  // namespace sawtooth::lut_table
