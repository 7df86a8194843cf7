#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/core/integers.h"
#include "kernels/core/parameter.h"
#include "kernels/core/range.h"

namespace sawtooth::attention {

// Which pairs count, and which encoding scores them.
struct Mask {
    int64_t window = 1;
    bool causal = true;

    bool allows(int64_t query, int64_t key) const { return !causal || key <= query; }
    bool is_near(int64_t query, int64_t key) const { return std::abs(query - key) < window; }
};
inline Mask mask_of(const Parameters& parameters) {
    return {parameters.integer("window"), parameters.flag("causal")};
}

// How a pair of a query tile and a key tile is scored, by its pairs that the mask allows: none of them, all
// by q1 k1, all by q2 k2, or both.
enum class TileKind { skipped, near, far, mixed };
inline TileKind kind_of(const Mask& mask, Range queries, Range keys) {
    if (mask.causal && keys.first >= queries.last) return TileKind::skipped;
    const int64_t after = queries.last - 1 - keys.first, before = keys.last - 1 - queries.first;
    const int64_t farthest = mask.causal ? after : std::max(after, before);
    const int64_t gap = std::max(queries.first - (keys.last - 1), keys.first - (queries.last - 1));
    if (farthest < mask.window) return TileKind::near;
    return std::max<int64_t>(gap, 0) >= mask.window ? TileKind::far : TileKind::mixed;
}

// How many encodings are loaded and multiplied.
inline int64_t encodings_of(TileKind kind) {
    return kind == TileKind::skipped ? 0 : kind == TileKind::mixed ? 2 : 1;
}

}  // namespace sawtooth::attention
