#include "kernels/attention/chosen_rows.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

namespace sawtooth::attention {
namespace {

// The rows of a head, and those at which the window or the sequence begins or ends, which may lie outside.
// The first edge ends the window of position 0.
struct Rows {
    int64_t count;
    std::vector<int64_t> edges;
};

// Returns the rows at which a tile, the window or the sequence begins or ends, and their neighbours. The
// multiples of 16 up to 256 are borders of tiles of every size. The others are around the window and around
// the last tile, which may be short.
std::set<int64_t> borders_of(const Rows& rows) {
    constexpr int64_t smallest = 16, largest = 256;
    std::set<int64_t> borders;
    const auto add = [&](int64_t border) {
        for (int64_t i = border - 1; i <= border + 1; ++i)
            if (i >= 0 && i < rows.count) borders.insert(i);
    };
    for (int64_t tile = 0; tile <= largest; tile += smallest) add(tile);
    for (const int64_t edge : rows.edges) {
        add(edge);
        for (int64_t size = smallest; size <= largest; size *= 2) {
            add(edge / size * size);
            if (edge != rows.count - 1) add((edge / size + 1) * size);
        }
    }
    return borders;
}

// Chooses at least `count` rows of the first `heads` heads, or all rows if there are fewer: the borders,
// dealt to the heads in turn; the edges of the sequence and of the window in the first and in the last head;
// and at least `spread` rows spread evenly over heads and positions.
std::vector<int64_t> spread_rows(const Rows& rows, int64_t heads, int64_t count, int64_t spread) {
    const int64_t length = rows.count;
    std::set<int64_t> places;
    for (int64_t next = 0; const int64_t border : borders_of(rows))
        places.insert(next++ % heads * length + border);
    for (const int64_t head : {int64_t{0}, heads - 1}) {
        places.insert(head * length);
        const auto add = [&](int64_t i) {
            if (i >= 0 && i < length) places.insert(head * length + i);
        };
        add(rows.edges.front() - 1);
        for (const int64_t edge : rows.edges) add(edge);
    }
    // The fractional parts of the multiples of these two numbers cover the unit square evenly, however many
    // there are (M. Roberts, the R2 sequence).
    constexpr double across = 0.7548776662466927, along = 0.5698402909980532;
    const auto spread_index = [](int64_t multiple, double step, int64_t count) {
        const double turns = step * static_cast<double>(multiple);
        return static_cast<int64_t>((turns - std::floor(turns)) * static_cast<double>(count));
    };
    const auto wanted = static_cast<size_t>(std::min(count, heads * length));
    for (int64_t r = 0; r < spread || places.size() < wanted; ++r)
        places.insert(spread_index(r, across, heads) * length + spread_index(r, along, length));
    return {places.begin(), places.end()};
}

int64_t first_query(const Parameters& parameters) {
    return parameters.integer("N") - parameters.integer("N_q");
}

}  // namespace

Shape query_extents(const Parameters& parameters) {
    return {parameters.integer("Z"), parameters.integer("H"), parameters.integer("N_q")};
}
Shape key_extents(const Parameters& parameters) {
    return {parameters.integer("Z"), parameters.integer("H_kv"), parameters.integer("N")};
}

// Rows of queries are counted from the first query, which stands at a position of the keys.
std::shared_ptr<const ChosenRows> chosen_queries(const Parameters& parameters) {
    const int64_t first = first_query(parameters), length = parameters.integer("N"),
                  window = parameters.integer("window");
    const Shape extents = query_extents(parameters);
    const Rows rows{extents[2], {window - first, length - window - first, extents[2] - 1}};
    return std::make_shared<const ChosenRows>(
        ChosenRows{extents, spread_rows(rows, extents[0] * extents[1], 256, 128)});
}

std::shared_ptr<const ChosenRows> chosen_keys(const Parameters& parameters) {
    const int64_t first = first_query(parameters), length = parameters.integer("N"),
                  window = parameters.integer("window");
    Rows rows{length, {window, length - window, length - 1}};
    if (first > 0) rows.edges.insert(rows.edges.end(), {first, first - window});
    return std::make_shared<const ChosenRows>(
        ChosenRows{key_extents(parameters), spread_rows(rows, 1, 128, 64)});
}

}  // namespace sawtooth::attention
