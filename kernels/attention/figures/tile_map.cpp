// The map of tiles: which of them are computed, and with which encoding.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/attention/figures/common.h"
#include "kernels/core/table.h"
#include "kernels/figures/visible_range.h"

namespace sawtooth::attention {
namespace {

constexpr int64_t most_cells = 256;     // cells of a side; with more tiles a cell shows several
constexpr int64_t most_with_edge = 32;  // tiles of a side; with more, mixed tiles are as narrow as the line

// Deals a range of tiles to at most `most` cells, and returns the tiles of every cell.
std::vector<Range> cells_of(Range tiles, int64_t most) {
    const int64_t count = std::min(tiles.count(), most);
    std::vector<Range> cells;
    for (int64_t i = 0; i < count; ++i)
        cells.push_back(
            {tiles.first + tiles.count() * i / count, tiles.first + tiles.count() * (i + 1) / count});
    return cells;
}

// Names the thread blocks of streaming that compute tiles of queries, or on the CPU the items of its launch.
std::string words_of_blocks(const Result& result, const Drawn& drawn, Range tiles) {
    const bool several = tiles.count() > 1;
    if (result.backend == Backend::cuda)
        return fmt::format("thread block{} ({}, {})", several ? "s" : "", tiles.first, drawn.head_index) +
               (several ? fmt::format(" to ({}, {})", tiles.last - 1, drawn.head_index) : "");
    const int64_t first = drawn.head_index * drawn.query_tiles() + tiles.first;
    return fmt::format("work item{} {}", several ? "s" : "", first) +
           (several ? fmt::format(" to {}", first + tiles.count() - 1) : "");
}

// Makes the map. A cell with near and far tiles counts as mixed, so that the edge of the window stays
// visible.
KindMap map_of(const Result& result, const Drawn& drawn, const View& view) {
    const int64_t rows = drawn.query_tiles();
    const Range seen = visible_range(view, "key", drawn.length);
    const Range columns = {seen.first / drawn.block_n, ceil_divide(seen.last, drawn.block_n)};
    const auto row_cells = cells_of({0, rows}, most_cells), column_cells = cells_of(columns, most_cells);
    KindMap map;
    map.label = "tile";
    map.kinds = tile_kinds();
    map.x_low = static_cast<double>(columns.first * drawn.block_n) - 0.5;
    map.x_high = static_cast<double>(columns.last * drawn.block_n) - 0.5;
    map.y_low = static_cast<double>(drawn.first_query) - 0.5;
    map.y_high = static_cast<double>(drawn.first_query + rows * drawn.block_m) - 0.5;
    for (const Range& tiles : column_cells)
        map.column_names.push_back(
            words_of_tiles("keys", positions_of(tiles, drawn.block_n, drawn.length), tiles));
    for (const Range& tiles : row_cells) {
        const Range queries = drawn.queries(tiles);
        map.row_names.push_back(words_of_tiles("queries", queries, tiles) + ", " +
                                words_of_blocks(result, drawn, tiles));
        for (const Range& column : column_cells)
            map.cells.push_back(static_cast<int>(
                kind_of(drawn.mask, queries, positions_of(column, drawn.block_n, drawn.length))));
    }
    return map;
}

std::string caption_of(const TileCounts& counts) {
    if (counts.far + counts.mixed == 0)
        return "The window covers every pair: streaming never multiplies q2 k2.";
    return fmt::format(
        "In streaming, only mixed tiles compute both encodings, which saves {:.0f} % of the score products.",
        100 * counts.saved());
}

}  // namespace

double TileCounts::saved() const {
    return computed() == 0 ? 0 : static_cast<double>(near + far) / (2 * static_cast<double>(computed()));
}

TileCounts count_tiles(const Parameters& parameters) {
    const Drawn drawn(parameters);
    const int64_t columns = drawn.key_tiles(), window = drawn.mask.window;
    TileCounts counts;
    for (int64_t row = 0; row < drawn.query_tiles(); ++row) {
        const Range queries = drawn.queries({row, row + 1});
        // Returns the first tile of keys for which a condition holds that holds for all later ones too.
        const auto first = [&](auto&& holds) {
            int64_t low = 0, high = columns;
            while (low < high) {
                const int64_t middle = (low + high) / 2;
                if (holds(drawn.keys(middle)))
                    high = middle;
                else
                    low = middle + 1;
            }
            return low;
        };
        const int64_t shown =
            drawn.mask.causal ? first([&](Range keys) { return keys.first >= queries.last; }) : columns;
        const int64_t near_from = first([&](Range keys) { return queries.last - 1 - keys.first < window; });
        const int64_t far_before = first([&](Range keys) { return queries.first - keys.last + 1 < window; });
        int64_t near_to = shown, far_from = shown;
        if (!drawn.mask.causal) {
            near_to = first([&](Range keys) { return keys.last - 1 - queries.first >= window; });
            far_from = first([&](Range keys) { return keys.first - queries.last + 1 >= window; });
        }
        const int64_t near = std::max<int64_t>(near_to - near_from, 0), touched = far_from - far_before;
        counts.skipped += columns - shown;
        counts.near += near;
        counts.mixed += touched - near;
        counts.far += shown - touched;
    }
    return counts;
}

Figure tile_map_figure(const Result& result, const View& view) {
    const Drawn drawn(result.parameters);
    const TileCounts counts = count_tiles(result.parameters);
    Figure figure = new_figure(
        "tile-map", Place::views,
        fmt::format("Tiles: {} near, {} far, {} mixed, {} skipped", with_thousands(counts.near),
                    with_thousands(counts.far), with_thousands(counts.mixed), with_thousands(counts.skipped)),
        caption_of(counts), key_axis(drawn.length),
        {.label = "query",
         .minimum = static_cast<double>(drawn.first_query) - 0.5,
         .maximum = static_cast<double>(drawn.length) - 0.5});
    KindMap map = map_of(result, drawn, view);
    const int64_t per_row = drawn.query_tiles() / most_cells;
    if (per_row > 1) figure.caption += fmt::format(" A cell shows about {0} x {0} tiles.", per_row);
    figure.marks.push_back(std::move(map));
    if (drawn.mask.window < drawn.length && drawn.key_tiles() <= most_with_edge)
        for (Line& line : edges_of_window(drawn, {drawn.first_query, drawn.length}))
            figure.marks.push_back(std::move(line));
    return figure;
}

}  // namespace sawtooth::attention
