#pragma once

#include <algorithm>
#include <cstdint>

namespace sawtooth {

// The positions first … last - 1.
struct Range {
    int64_t first = 0, last = 0;
    int64_t count() const { return last - first; }
};

// Tile `index` of `length` positions, in tiles of `step` positions of which the last may be shorter.
inline Range tile_at(int64_t index, int64_t step, int64_t length) {
    return {index * step, std::min((index + 1) * step, length)};
}

}  // namespace sawtooth
