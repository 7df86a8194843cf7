#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/core/integers.h"
#include "kernels/core/parameter.h"
#include "kernels/core/range.h"

namespace sawtooth::attention {

// Decides which pairs of a query and a key count, and which encoding scores them.
struct Mask {
    int64_t window = 1;
    bool causal = true;

    bool allows(int64_t query, int64_t key) const { return !causal || key <= query; }
    bool is_near(int64_t query, int64_t key) const { return std::abs(query - key) < window; }
};
inline Mask mask_of(const Parameters& parameters) {
    return {parameters.integer("window"), parameters.flag("causal")};
}

// The kinds of tiles of scores. The mask allows no pair of a skipped tile. Of the allowed pairs q1 k1 scores
// all in a near tile, q2 k2 all in a far tile, and both some in a mixed tile.
enum class TileKind { skipped, near, far, mixed };
inline TileKind kind_of(const Mask& mask, Range queries, Range keys) {
    if (mask.causal && keys.first >= queries.last) return TileKind::skipped;
    const int64_t after = queries.last - 1 - keys.first, before = keys.last - 1 - queries.first;
    const int64_t farthest = mask.causal ? after : std::max(after, before);
    const int64_t gap = std::max(queries.first - (keys.last - 1), keys.first - (queries.last - 1));
    if (farthest < mask.window) return TileKind::near;
    return std::max<int64_t>(gap, 0) >= mask.window ? TileKind::far : TileKind::mixed;
}

// The number of encodings that a tile loads and multiplies.
inline int64_t encodings_of(TileKind kind) {
    return kind == TileKind::skipped ? 0 : kind == TileKind::mixed ? 2 : 1;
}

}  // namespace sawtooth::attention
