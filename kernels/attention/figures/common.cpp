// The parts of a result that figures show, and the list of all figures.

#include "kernels/attention/figures/common.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/attention/parts.h"

namespace sawtooth::attention {

Drawn::Drawn(const Parameters& p)
    : length(p.integer("N")),
      first_query(length - queries_of(p)),
      d(p.integer("D")),
      block_m(p.integer("BLOCK_M")),
      block_n(p.integer("BLOCK_N")),
      mask(mask_of(p)),
      batch(std::min(p.integer("drawn_batch"), p.integer("Z") - 1)),
      head(std::min(p.integer("drawn_head"), p.integer("H") - 1)),
      query(std::min(first_query + p.integer("drawn_query"), length - 1)),
      head_index(batch * p.integer("H") + head),
      key_head_index(head_index * key_heads_of(p) / p.integer("H")) {}

Axis key_axis(int64_t count) {
    return {.label = "key", .minimum = -0.5, .maximum = static_cast<double>(count) - 0.5, .shared = "key"};
}

const std::vector<KindMap::Kind>& tile_kinds() {
    using enum KindMap::Pattern;
    static const std::vector<KindMap::Kind> kinds = {{"skipped tile", {Ink::Role::quiet}, hollow},
                                                     {"near tile: q1 k1", {Ink::Role::kind, 0}, plain},
                                                     {"far tile: q2 k2", {Ink::Role::kind, 1}, striped},
                                                     {"mixed tile: both", {Ink::Role::kind, 2}, crossed}};
    return kinds;
}

std::string words_of_tiles(const std::string& what, Range positions, Range tiles) {
    const std::string name = tiles.count() == 1 ? fmt::format("tile {}", tiles.first)
                                                : fmt::format("tiles {} to {}", tiles.first, tiles.last - 1);
    return fmt::format("{} {} to {}: {}", what, positions.first, positions.last - 1, name);
}

std::vector<Line> edges_of_window(const Drawn& drawn, Range queries) {
    constexpr int64_t most_points = 512;  // as many as the cursor can tell apart
    const int64_t step = ceil_divide(queries.count(), most_points);
    const double reach = static_cast<double>(drawn.mask.window) - 0.5,
                 end = static_cast<double>(drawn.length);
    std::vector<Line> lines;
    for (const double shift : {-reach, reach}) {
        Line line{"edge of the window", {Ink::Role::accent}, {}, {}};
        for (int64_t i = queries.first; i < queries.last + step; i += step) {
            const double y = static_cast<double>(std::min(i, queries.last)) - 0.5, x = y + shift;
            if (x < -0.5 || x > end - 0.5) continue;
            line.x.push_back(x);
            line.y.push_back(y);
        }
        const bool is_masked = drawn.mask.causal && shift > 0;
        if (line.x.size() > 1 && !is_masked) lines.push_back(std::move(line));
    }
    return lines;
}

std::vector<Figure> figures(const Result& result, const View& view) {
    std::vector<Figure> all = {tile_map_figure(result, view), peak_figure(result)};
    const auto add = [&](std::vector<Figure> more) {
        std::move(more.begin(), more.end(), std::back_inserter(all));
    };
    add(score_figures(result, view));
    add(output_figures(result, view));
    add(flow_figures(result));
    return all;
}

}  // namespace sawtooth::attention
