#pragma once

#include <array>
#include <cstdint>
#include <numeric>

#include "kernels/attention/tiles.h"

namespace sawtooth::attention {

// The tiles of one head by kind.
struct TileCounts {
    explicit TileCounts(const Parameters& p) {
        const Mask mask = mask_of(p);
        const int64_t length = p.integer("N"), block_m = p.integer("BLOCK_M"), block_n = p.integer("BLOCK_N");
        for (int64_t m = 0; m * block_m < length; ++m)
            for (int64_t n = 0; n * block_n < length; ++n)
                ++of[static_cast<size_t>(
                    kind_of(mask, tile_at(m, block_m, length), tile_at(n, block_n, length)))];
    }

    int64_t count(TileKind kind) const { return of[static_cast<size_t>(kind)]; }
    int64_t computed() const {
        return std::accumulate(of.begin(), of.end(), int64_t{0}) - count(TileKind::skipped);
    }

    std::array<int64_t, 4> of{};
};

}  // namespace sawtooth::attention
