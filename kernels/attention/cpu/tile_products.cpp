#include "kernels/attention/cpu/tile_products.h"

namespace sawtooth::attention {

using cpu::Into;
using cpu::lanes;

void multiply_scores(const ScoreTile& tile, const float* rows, const float* strips, int64_t d, float* to) {
    cpu::multiply({.left = {rows, d, 1},
                   .right = {strips, lanes, d * lanes},
                   .target = {to, tile.stride, lanes},
                   .rows = tile.queries.count(),
                   .inner = d,
                   .blocks = cpu::strips_of(tile.keys.count())});
}

void add_over_keys(const ScoreTile& tile, const float* values, const float* rows, int64_t d, float* to) {
    // The queries before `skipped` see no key of the tile; from there on each sees one key more.
    const int64_t skipped = tile.mask.causal ? std::max<int64_t>(tile.keys.first - tile.queries.first, 0) : 0;
    const cpu::Product product = {.left = {values + skipped * tile.stride, tile.stride, 1},
                                  .right = {rows, d, lanes},
                                  .target = {to + skipped * d, d, lanes},
                                  .rows = tile.queries.count() - skipped,
                                  .inner = tile.keys.count(),
                                  .blocks = d / lanes,
                                  .into = Into::add};
    const int64_t first = tile.keys_of(skipped);
    first < tile.keys.count() ? cpu::multiply_lower(product, first) : cpu::multiply(product);
}

// Runs backwards from the last key and the last query, so that each next key is seen by one query more: this
// is the triangle that multiply_lower takes.
void add_over_queries(const ScoreTile& tile, const float* values, const float* rows, int64_t d, float* to) {
    const int64_t queries = tile.queries.count(), keys = tile.keys.count();
    const int64_t skipped = tile.mask.causal ? std::max<int64_t>(tile.keys.last - tile.queries.last, 0) : 0;
    const int64_t last_key = keys - 1 - skipped;
    const cpu::Product product = {.left = {values + (queries - 1) * tile.stride + last_key, -1, -tile.stride},
                                  .right = {rows + (queries - 1) * d, -d, lanes},
                                  .target = {to + last_key * d, -d, lanes},
                                  .rows = last_key + 1,
                                  .inner = queries,
                                  .blocks = d / lanes,
                                  .into = Into::add};
    const int64_t first = tile.mask.causal ? tile.queries.last - (tile.keys.first + last_key) : queries;
    first < queries ? cpu::multiply_lower(product, first) : cpu::multiply(product);
}

}  // namespace sawtooth::attention
