// What the launches of a chain in matrix form must do and move.

#include "kernels/memory/chunks.h"

namespace sawtooth::memory {
namespace {

struct Sums {
    double tokens = 0, sources = 0, pairs = 0;  // of all tiles of all sequences; pairs of reader and source
};

Sums sums_of(const TiledChain& tiled) {
    Sums sums;
    for (int64_t tile = 0; tile < tiled.tiles(); ++tile) {
        const Range tokens = tiled.tiling.at(tile);
        const auto count = static_cast<double>(tokens.count());
        const auto sources = static_cast<double>(tiled.sources_of(tokens).count());
        sums.tokens += count;
        sums.sources += sources;
        sums.pairs += count * (count + 1) / 2 + count * (sources - count);
    }
    const auto batch = static_cast<double>(tiled.chain.batch);
    return {sums.tokens * batch, sums.sources * batch, sums.pairs * batch};
}

}  // namespace

Work prepare_work(const TiledChain& tiled) {
    const Sums sums = sums_of(tiled);
    const auto rows = static_cast<double>(tiled.chain.rows),
               columns = static_cast<double>(tiled.chain.columns);
    const auto readers = static_cast<double>(tiled.readers.size());
    Work work;
    work.bytes = 8 * (sums.sources * (columns + rows) + sums.tokens * readers * columns);
    work.operations = 3 * columns * (sums.sources + readers * sums.tokens) + 5 * sums.pairs;
    // k . k of every pair, then the solve for keys and values.
    if (tiled.solves) work.operations += sums.pairs * (2 * columns + 2 * (columns + rows));
    return work;
}

Work walk_work(const TiledChain& tiled) {
    const Sums sums = sums_of(tiled);
    const auto rows = static_cast<double>(tiled.chain.rows),
               columns = static_cast<double>(tiled.chain.columns);
    const double products = (tiled.chain.reads_memory ? 1 : 0) + (tiled.chain.has_momentum ? 2 : 1);
    const double states = static_cast<double>(tiled.chain.batch * tiled.tiles()) * rows * columns *
                          (tiled.chain.has_momentum ? 2 : 1);
    return {4 * (sums.sources * (columns + 2 * rows) + states),
            2 * products * sums.sources * rows * columns + 3 * states};
}

Work read_work(const TiledChain& tiled) {
    const Sums sums = sums_of(tiled);
    const auto rows = static_cast<double>(tiled.chain.rows),
               columns = static_cast<double>(tiled.chain.columns);
    const double states = tiled.chain.has_momentum ? 2 : 1;
    Work work;
    for (const Reader& reader : tiled.readers) {
        const double memories = reader.at_boundary ? 1 : states;
        work.operations += 2 * memories * sums.tokens * rows * columns;
        if (!reader.at_boundary) work.operations += 2 * sums.pairs * (rows + columns);
        work.bytes +=
            4 * (sums.tokens * (rows + columns) + (reader.at_boundary ? 0 : sums.sources * rows) +
                 memories * static_cast<double>(tiled.chain.batch * tiled.tiles()) * rows * columns);
    }
    work.bytes += 4 * sums.sources * columns;
    return work;
}

}  // namespace sawtooth::memory
