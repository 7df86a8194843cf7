// The map of pairs: which bit of a pair gets the gradient, and which tiles are computed.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "kernels/core/table.h"
#include "kernels/lut_sequence/figures/lookups.h"

namespace sawtooth::lut_sequence {
namespace {

constexpr int64_t most_with_pairs = 128;     // positions; with more of them a cell is a tile
constexpr int64_t most_tiles_drawn = 256;    // per side; with more tiles a cell shows several
constexpr int64_t most_positions = 1 << 12;  // the pairs of more would keep the window waiting

enum PairKind { skipped, idle, query, key, positional, none, kinds };

std::vector<KindMap::Kind> pair_kinds() {
    using enum KindMap::Pattern;
    return {{"skipped tile", {Ink::Role::quiet}, hollow},
            {"no pair", {Ink::Role::quiet}, plain},
            {"later position (Q)", {Ink::Role::kind, 0}, plain},
            {"earlier position (K)", {Ink::Role::kind, 1}, striped},
            {"distance too (PE)", {Ink::Role::kind, 2}, crossed},
            {"no bit", {Ink::Role::reference}, hollow}};
}

PairKind kind_of(const Flips& flips) {
    if (flips.positional) return positional;
    return flips.query ? query : flips.key ? key : none;
}

struct PairCounts {
    std::array<int64_t, kinds> pairs{};
    int64_t query = 0, key = 0;  // pairs that flip Q or K, also those that flip PE too

    void add(const Flips& flips) {
        ++pairs[kind_of(flips)];
        query += flips.query;
        key += flips.key;
    }
    // The most frequent kind. The cell must have pairs.
    PairKind most_frequent() const {
        return static_cast<PairKind>(std::max_element(pairs.begin(), pairs.end()) - pairs.begin());
    }
};

// Divides the positions into bins of neighbours; a bin is one row and one column of the map.
struct Bins {
    Bins(const Drawn& drawn, int64_t length) : tile(drawn.tile), length(length) {
        const int64_t tiles = ceil_divide(length, tile);
        step = length <= most_with_pairs ? 1 : tile * ceil_divide(tiles, most_tiles_drawn);
        count = ceil_divide(length, step);
    }
    // "query 5: tile 0", "queries 16 to 31: tile 1"
    std::string words(const char* one, const char* several, int64_t bin) const {
        const Range at = tile_at(bin, step, length);
        const std::string positions = at.count() == 1
                                          ? fmt::format("{} {}", one, at.first)
                                          : fmt::format("{} {} to {}", several, at.first, at.last - 1);
        const int64_t first = at.first / tile, last = (at.last - 1) / tile;
        return positions + (first == last ? fmt::format(": tile {}", first)
                                          : fmt::format(": tiles {} to {}", first, last));
    }

    int64_t tile, length;
    int64_t step = 1, count = 0;
};

struct Counted {
    std::vector<PairCounts> cells;  // [bins, bins]
    PairCounts all;
};

Counted count_pairs(const Lookups& found, int64_t detector, const Bins& bins) {
    Counted counted{std::vector<PairCounts>(static_cast<size_t>(bins.count * bins.count)), {}};
    for (int64_t j = 0; j < bins.length; ++j)
        for (int64_t i = 0; i < j; ++i) {
            const Flips flips(found.position(j, detector), found.position(i, detector),
                              found.distance(j, i, detector));
            counted.cells[static_cast<size_t>(j / bins.step * bins.count + i / bins.step)].add(flips);
            counted.all.add(flips);
        }
    return counted;
}

KindMap map_of(const Counted& counted, const Bins& bins) {
    KindMap map;
    map.label = bins.step == 1 ? "pair" : "tile";
    map.kinds = pair_kinds();
    map.x_low = map.y_low = -0.5;
    map.x_high = map.y_high = static_cast<double>(bins.count * bins.step) - 0.5;
    for (int64_t bin = 0; bin < bins.count; ++bin) {
        map.row_names.push_back(bins.words("query", "queries", bin));
        map.column_names.push_back(bins.words("key", "keys", bin));
    }
    for (int64_t row = 0; row < bins.count; ++row)
        for (int64_t column = 0; column < bins.count; ++column) {
            const PairCounts& cell = counted.cells[static_cast<size_t>(row * bins.count + column)];
            const bool is_above = column * bins.step / bins.tile > row * bins.step / bins.tile;
            const PairKind most = cell.most_frequent();
            map.cells.push_back(is_above ? skipped : cell.pairs[most] == 0 ? idle : most);
        }
    if (counted.all.pairs[none] == 0) map.kinds.pop_back();
    return map;
}

// "Position 7 is closest to flipping (0.0031): it gets the gradient of 31 of its 31 pairs. "; "" if all are
// skipped.
std::string words_of_nearest(const Lookups& found, int64_t detector, int64_t length) {
    const auto bits = [&](int64_t at) { return found.position(at, detector); };
    int64_t nearest = 0;
    for (int64_t at = 1; at < length; ++at)
        if (bits(at).weakest >= 0 && bits(at).margin() < bits(nearest).margin()) nearest = at;
    if (bits(nearest).weakest < 0) return "";
    int64_t own = 0;
    for (int64_t at = 0; at < length; ++at) {
        if (at < nearest) own += Flips(bits(nearest), bits(at), found.distance(nearest, at, detector)).query;
        if (at > nearest) own += Flips(bits(at), bits(nearest), found.distance(at, nearest, detector)).key;
    }
    return fmt::format("Position {} is closest to flipping ({:.2g}): it gets the gradient of {} of its {}. ",
                       nearest, bits(nearest).margin(), with_thousands(own), count_words(length - 1, "pair"));
}

// "Of 496 pairs, 230 pass their gradient to the later position, 266 to the earlier one, and 40 also to the
// distance. "
std::string words_of_counts(const PairCounts& counts, int64_t pairs) {
    std::string words =
        fmt::format("Of {}, {} pass their gradient to the later position, {} to the earlier one",
                    count_words(pairs, "pair"), with_thousands(counts.query), with_thousands(counts.key));
    if (counts.pairs[positional] > 0)
        words += ", and " + with_thousands(counts.pairs[positional]) + " also to the distance";
    if (counts.pairs[none] > 0) words += "; " + with_thousands(counts.pairs[none]) + " have no bit to flip";
    return words + ". ";
}

void add_tile_borders(Figure& figure, const Bins& bins) {
    for (int64_t edge = bins.tile; edge < bins.length; edge += bins.tile)
        for (const Rule::Across across : {Rule::Across::x, Rule::Across::y})
            figure.marks.push_back(Rule{across, static_cast<double>(edge) - 0.5, "", {Ink::Role::quiet}});
}

}  // namespace

Figure pair_map_figure(const Result& result) {
    const Drawn drawn(result.parameters);
    const int64_t length = std::min(drawn.length, most_positions);
    const Bins bins(drawn, length);
    const double end = static_cast<double>(bins.count * bins.step) - 0.5;
    Figure figure =
        new_figure("pairs", Place::views, "Which bit gets the gradient of a pair, " + drawn.words(), "",
                   {.label = "key", .minimum = -0.5, .maximum = end},
                   {.label = "query", .minimum = -0.5, .maximum = end});
    figure.chosen_by = {"drawn_batch", "drawn_detector"};
    if (drawn.pairs() == 0) {
        leave_out(figure, "Set sequence_length to 2 or more: one position has no pairs.");
        return figure;
    }
    const Lookups found(result, drawn, {drawn.detector, drawn.detector + 1}, length);
    const Counted counted = count_pairs(found, drawn.detector, bins);
    const int64_t edge = ceil_divide(drawn.length, drawn.tile);
    figure.caption =
        words_of_counts(counted.all, length * (length - 1) / 2) +
        words_of_nearest(found, drawn.detector, length) +
        fmt::format("Computed tiles: {} of {}.", with_thousands(drawn.tiles()), with_thousands(edge * edge));
    if (length < drawn.length)
        figure.caption += fmt::format(" Only the first {}.", count_words(length, "position"));
    if (bins.step > 1) figure.caption += " A cell shows the most frequent bit.";
    figure.marks.push_back(map_of(counted, bins));
    if (bins.step == 1) add_tile_borders(figure, bins);
    return figure;
}

}  // namespace sawtooth::lut_sequence
