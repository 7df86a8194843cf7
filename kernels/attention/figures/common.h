#pragma once

#include <string>
#include <vector>

#include "kernels/attention/tiles.h"
#include "kernels/figures/figures.h"

namespace sawtooth::attention {

// Helpers of the figures, and the functions that make them, with one file per subject.

// The parts of a result that figures show. An index beyond its dimension means the last one. Queries are
// named by their positions, as keys are.
struct Drawn {
    explicit Drawn(const Parameters& parameters);

    int64_t length = 0, first_query = 0, d = 0, block_m = 1, block_n = 1;
    Mask mask;
    int64_t batch = 0, head = 0, query = 0;
    int64_t head_index = 0, key_head_index = 0;  // among the heads of all sequences

    int64_t query_count() const { return length - first_query; }
    int64_t query_tiles() const { return ceil_divide(query_count(), block_m); }
    // The queries of tiles, and of the tile of the drawn query.
    Range queries(Range tiles) const {
        return {first_query + tiles.first * block_m, std::min(first_query + tiles.last * block_m, length)};
    }
    Range queries() const {
        const int64_t tile = (query - first_query) / block_m;
        return queries({tile, tile + 1});
    }
    // The number of keys, from key 0 on, that some query of the tile sees.
    int64_t seen_keys() const { return mask.causal ? queries().last : length; }
    int64_t key_tiles() const { return ceil_divide(length, block_n); }
    Range keys(int64_t tile) const { return tile_at(tile, block_n, length); }
};

// Returns an axis of keys 0 to count - 1. All axes of keys zoom together.
Axis key_axis(int64_t count);
// Returns the kinds of tiles with their colours and patterns, in the order of TileKind.
const std::vector<KindMap::Kind>& tile_kinds();
// Returns the positions of a range of tiles of `step` positions each.
inline Range positions_of(Range tiles, int64_t step, int64_t length) {
    return {tiles.first * step, std::min(tiles.last * step, length)};
}
// Returns text such as "keys 64 to 127: tile 1" or "keys 64 to 319: tiles 1 to 4".
std::string words_of_tiles(const std::string& what, Range positions, Range tiles);

// Returns lines along `queries` that separate the keys inside the window from those outside, where there are
// both.
std::vector<Line> edges_of_window(const Drawn& drawn, Range queries);

// tile_map.cpp
struct TileCounts {
    int64_t skipped = 0, near = 0, far = 0, mixed = 0;

    int64_t computed() const { return near + far + mixed; }
    // The fraction of score products, 0 to 0.5, that is saved by computing only the encodings that a tile
    // needs.
    double saved() const;
};
TileCounts count_tiles(const Parameters& parameters);
Figure tile_map_figure(const Result& result, const View& view);

// outputs.cpp: outputs and gradients over the reference, errors by position and by head.
std::vector<Figure> output_figures(const Result& result, const View& view);
// scores.cpp: scores and probabilities of the drawn tile of queries, the running softmax of the drawn query.
std::vector<Figure> score_figures(const Result& result, const View& view);
// flow.cpp: "tile_flow", the bytes that a tile moves in every step through streaming, forward; no figure if
// streaming did not run.
std::vector<Figure> flow_figures(const Result& result);
// speed.cpp: the rate of every variant beside the measured peak.
Figure peak_figure(const Result& result);

}  // namespace sawtooth::attention
