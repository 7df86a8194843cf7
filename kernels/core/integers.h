#pragma once

#include <bit>
#include <cstdint>
#include <limits>

namespace sawtooth {

constexpr int64_t ceil_divide(int64_t count, int64_t by) { return (count + by - 1) / by; }
constexpr int64_t round_up(int64_t count, int64_t multiple) {
    return ceil_divide(count, multiple) * multiple;
}
// The smallest power of two that is at least `count`.
constexpr int64_t power_of_two_from(int64_t count) {
    return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(count)));
}

// The sum or product of two numbers that are not negative, or the largest int64_t if it does not fit.
constexpr int64_t saturating_add(int64_t a, int64_t b) {
    int64_t sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? std::numeric_limits<int64_t>::max() : sum;
}
constexpr int64_t saturating_multiply(int64_t a, int64_t b) {
    int64_t product = 0;
    return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<int64_t>::max() : product;
}

}  // namespace sawtooth
