#pragma once

#include <algorithm>
#include <cmath>
#include <string>

#include "kernels/core/figure.h"
#include "kernels/core/range.h"

namespace sawtooth {

// The visible ones of the indices 0 to count - 1 along the axes with that name.
inline Range visible_range(const View& view, const std::string& shared, int64_t count) {
    const View::Range range = view.range_of(shared, {0, static_cast<double>(count)});
    const auto first = std::clamp(static_cast<int64_t>(std::floor(range.low)), int64_t{0}, count - 1);
    return {first, std::clamp(static_cast<int64_t>(std::ceil(range.high)) + 1, first + 1, count)};
}

}  // namespace sawtooth
