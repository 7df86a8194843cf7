#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace sawtooth::lut_table {

// The sums with `arithmetic` = integer. A term is llrint(value * rescale * 2^20), and a sum of terms is exact
// in any order. Sums are 64 bits wide although the result is an int32, so that a partial sum may leave int32
// and come back.
struct FixedPoint {
    static constexpr double unit = 1 << 20;
    double rescale;

    // A NaN or a value far outside int32 becomes the largest term, so that its sum overflows.
    int64_t term(double value) const {
        constexpr int64_t largest = int64_t{1} << 44;
        const double scaled = value * rescale * unit;
        return std::abs(scaled) <= static_cast<double>(largest) ? std::llrint(scaled) : largest;
    }
    double value(int64_t sum) const { return static_cast<double>(sum) / unit / rescale; }
    static bool overflows(int64_t sum) {
        return sum < std::numeric_limits<int32_t>::min() || sum > std::numeric_limits<int32_t>::max();
    }
};

}  // namespace sawtooth::lut_table
