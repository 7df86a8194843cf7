#pragma once

#include "kernels/attention/cpu/job.h"

namespace sawtooth::attention {

// A tile of scores, [queries, keys] with rows `stride` numbers apart. The sums over its keys and over its
// queries leave out the pairs that the mask forbids, so that a number that is not finite does not spread.
struct ScoreTile {
    const Mask& mask;
    Range queries, keys;
    int64_t stride = 0;

    // The number of keys that query `row` of the tile sees; they are the first ones.
    int64_t keys_of(int64_t row) const {
        if (!mask.causal) return keys.count();
        return std::clamp<int64_t>(queries.first + row + 1 - keys.first, 0, keys.count());
    }
};

// to [queries, keys] = rows [queries, d] * strips, the transposed keys.
void multiply_scores(const ScoreTile& tile, const float* rows, const float* strips, int64_t d, float* to);
// to [queries, d] += values [queries, keys] * rows [keys, d], without forbidden pairs.
void add_over_keys(const ScoreTile& tile, const float* values, const float* rows, int64_t d, float* to);
// to [keys, d] += transposed values [queries, keys] * rows [queries, d], without forbidden pairs.
void add_over_queries(const ScoreTile& tile, const float* values, const float* rows, int64_t d, float* to);

}  // namespace sawtooth::attention
