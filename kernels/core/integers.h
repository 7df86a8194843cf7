#pragma once

#include <bit>
#include <cstdint>

namespace sawtooth {

constexpr int64_t ceil_divide(int64_t count, int64_t by) { return (count + by - 1) / by; }
constexpr int64_t round_up(int64_t count, int64_t multiple) {
    return ceil_divide(count, multiple) * multiple;
}
// The smallest power of two that is at least `count`.
constexpr int64_t power_of_two_from(int64_t count) {
    return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(count)));
}

}  // namespace sawtooth
