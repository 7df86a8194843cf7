#pragma once

#include <optional>
#include <vector>

#include "kernels/attention/figures/common.h"

namespace sawtooth::attention {

// The scores of some queries of the drawn head with all keys, in f64; NaN where the mask hides the key.
struct ScoredRows {
    Range queries;
    int64_t length = 0;          // number of keys
    std::vector<double> scores;  // [queries, keys]

    size_t place(int64_t query, int64_t key) const {
        return static_cast<size_t>((query - queries.first) * length + key);
    }
    double at(int64_t query, int64_t key) const { return scores[place(query, key)]; }
};
// Computes the scores of the tile of the drawn query, or of the queries around it if the tile has too many.
// Returns nothing if even one query would take too long.
std::optional<ScoredRows> score_rows(const Result& result);
// Returns the softmax of the scores; NaN where the mask hides the key.
std::vector<double> probabilities_of(const ScoredRows& rows);

// The softmax of the drawn query after each tile of keys that is not skipped: l = sum of exp(s - m) over the
// keys so far, m their largest score.
struct RunningSoftmax {
    Range keys;
    TileKind kind = TileKind::near;
    double m = 0, l = 0;
    bool rises = false;  // m rises in this tile, so that the sum before it is scaled down
};
std::vector<RunningSoftmax> running_softmax(const Drawn& drawn, const ScoredRows& rows);
// running.cpp
Figure running_figure(const Drawn& drawn, const ScoredRows& rows);

}  // namespace sawtooth::attention
