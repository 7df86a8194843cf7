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

// Returns whether a dimension counts positions of the sequence, or some of them, as N_q counts some of N.
inline bool counts_sequence(const Family& family, const std::string& dimension) {
    return !family.sequence_axis.empty() &&
           (dimension == family.sequence_axis || dimension.starts_with(family.sequence_axis + "_"));
}

// Returns the axis along which errors of the output are reported by position; -1 if there is none.
inline int sequence_axis_of(const Family& family, const Array& output) {
    const ArraySpec* const row = family.array(output.name);
    if (!row) return -1;
    const auto names = dimensions_of(*row, output.whole_shape());
    const auto found = std::find_if(names.begin(), names.end(), [&](const std::string& dimension) {
        return counts_sequence(family, dimension);
    });
    return found == names.end() ? -1 : static_cast<int>(found - names.begin());
}

}  // namespace sawtooth
