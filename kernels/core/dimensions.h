#pragma once

#include <algorithm>
#include <span>
#include <string>

#include "kernels/core/family.h"

namespace sawtooth {

// Returns the names of the dimensions of an array. An array with fewer dimensions than its row lacks the
// first ones: NumPy broadcasts arrays in the same way.
inline std::span<const std::string> dimensions_of(const ArraySpec& row, const Shape& shape) {
    return std::span(row.dimensions).last(std::min(row.dimensions.size(), shape.size()));
}

// Returns the axis along which errors of the output are reported by position; -1 if there is none.
inline int sequence_axis_of(const Family& family, const Array& output) {
    const ArraySpec* const row = family.array(output.name);
    if (!row || family.sequence_axis.empty()) return -1;
    const auto names = dimensions_of(*row, output.whole_shape());
    const auto found = std::find(names.begin(), names.end(), family.sequence_axis);
    return found == names.end() ? -1 : static_cast<int>(found - names.begin());
}

}  // namespace sawtooth
