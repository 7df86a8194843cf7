#pragma once

#include <algorithm>
#include <cstdint>

namespace sawtooth {

// Positions first … last - 1.
struct Range {
    int64_t first = 0, last = 0;
    int64_t count() const { return last - first; }
};

// Tile `index` of `step` positions; the last one of `length` positions may be short.
inline Range tile_at(int64_t index, int64_t step, int64_t length) {
    return {index * step, std::min((index + 1) * step, length)};
}

}  // namespace sawtooth
