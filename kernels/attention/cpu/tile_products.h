#pragma once

#include "kernels/attention/cpu/job.h"

namespace sawtooth::attention {

// Products of one tile of scores, [queries, keys] with rows `stride` apart, that never read a pair which the
// mask forbids: a number that is not finite does not spread through it.
struct ScoreTile {
    const Mask& mask;
    Range queries, keys;
    int64_t stride = 0;

    // Pairs of query `row` of the tile: its first keys.
    int64_t keys_of(int64_t row) const {
        if (!mask.causal) return keys.count();
        return std::clamp<int64_t>(queries.first + row + 1 - keys.first, 0, keys.count());
    }
};

// to [queries, keys] = rows [queries, d] * strips, the transposed keys.
void multiply_scores(const ScoreTile& tile, const float* rows, const float* strips, int64_t d, float* to);
// to [queries, d] += values [queries, keys] * rows [keys, d].
void add_over_keys(const ScoreTile& tile, const float* values, const float* rows, int64_t d, float* to);
// to [keys, d] += transposed values * rows [queries, d].
void add_over_queries(const ScoreTile& tile, const float* values, const float* rows, int64_t d, float* to);

}  // namespace sawtooth::attention
