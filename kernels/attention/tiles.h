#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/core/integers.h"
#include "kernels/core/parameter.h"
#include "kernels/core/range.h"

namespace sawtooth::attention {

// Returns H_kv and N_q, also while they are automatic.
inline int64_t key_heads_of(const Parameters& parameters) {
    return parameters.integer(parameters.is("H_kv", "auto") ? "H" : "H_kv");
}
inline int64_t queries_of(const Parameters& parameters) {
    return parameters.integer(parameters.is("N_q", "auto") ? "N" : "N_q");
}

// Decides which pairs of a query and a key count, and which encoding scores them, by their positions.
struct Mask {
    int64_t window = 1;
    bool causal = true;

    bool allows(int64_t query, int64_t key) const { return !causal || key <= query; }
    bool is_near(int64_t query, int64_t key) const { return std::abs(query - key) < window; }
    // The number of pairs that count, of queries from `first` on with `length` keys; both end together.
    double pairs(int64_t first, int64_t length) const {
        const auto n = static_cast<double>(length), m = static_cast<double>(first);
        return causal ? (n * (n + 1) - m * (m + 1)) / 2 : (n - m) * n;
    }
};
inline Mask mask_of(const Parameters& parameters) {
    return {parameters.integer("window"), parameters.flag("causal")};
}

// Tile `index` of the queries from position `first` on, in tiles of `step` queries.
inline Range queries_at(int64_t index, int64_t step, int64_t first, int64_t length) {
    return {first + index * step, std::min(first + (index + 1) * step, length)};
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
