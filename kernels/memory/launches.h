#pragma once

// The launches of all variants: what they mean, read, write and compute, on both backends.

#include "kernels/core/launch.h"
#include "kernels/memory/tensors.h"

namespace sawtooth::memory::launches {

inline double number(int64_t count) { return static_cast<double>(count); }

inline Buffers gates(const Tensors& t, int64_t tokens) {
    return {first_of(t.alpha, tokens), first_of(t.eta, tokens), first_of(t.theta, tokens),
            first_of(t.omega_windows, tokens)};
}

inline Buffers inputs(const Tensors& t, int64_t tokens) {
    return Buffers{first_of(t.k, tokens), first_of(t.v, tokens), first_of(t.q, tokens),
                   first_of(t.x, tokens)} +
           gates(t, tokens) + Buffers{t.w_omega};
}

// Adds the states that a launch over `tokens` reads and writes, and the boundaries that it stores.
inline void pass_states(LaunchInfo& info, const Tensors& t, Range tokens) {
    const bool is_last = tokens.last == t.length;
    for (const PassedBuffers* state : {&t.m, &t.s}) {
        info.reads.push_back(tokens.first > 0 ? state->live : state->from);
        if (!is_last || t.works_in_live) info.writes.push_back(state->live);
        if (is_last) info.writes.push_back(state->to);
    }
    info.writes.push_back(first_of(t.boundaries, ceil_divide(tokens.count(), t.chunk) + is_last));
}

// A launch that walks `tokens` tokens one by one; the caller adds the states and the operations.
inline LaunchInfo walk_tokens(const Tensors& t, int64_t tokens) {
    return {.name = tokens == 1 ? "token" : "tokens",
            .meaning = tokens == 1 ? "One token updates the memory and reads it."
                                   : "Each token in turn updates the memory and reads it.",
            .reads = inputs(t, tokens),
            .writes = {first_of(t.y, tokens)}};
}

inline LaunchInfo tokens(const Tensors& t, Range range) {
    LaunchInfo info = walk_tokens(t, range.count());
    info.work.operations = t.operations_of(range);
    pass_states(info, t, range);
    return info;
}

// The launch of one token. All tokens share this description, although only the first launch reads the given
// state and only the last one writes the final state and a second boundary: the bytes are those of a token in
// between, and the operations those of a token on average.
inline LaunchInfo token(const Tensors& t) {
    LaunchInfo info = walk_tokens(t, 1);
    info.work.operations = t.operations_of({0, t.length}) / number(t.length);
    for (const Buffers& arrays : {info.reads, info.writes, Buffers{t.m.live, t.m.live, t.s.live, t.s.live}})
        for (const Buffer& array : arrays)
            if (array) info.work.bytes += array.bytes();
    info.reads = info.reads + Buffers{t.m.from, t.m.live, t.s.from, t.s.live};
    info.writes = info.writes + Buffers{t.m.live, t.m.to, t.s.live, t.s.to, first_of(t.boundaries, 2)};
    return info;
}

// Totals over all tiles of all sequences. `sources` counts the tokens inside the windows of each tile,
// `pairs` the pairs of a token that reads and a source that it reads.
struct Counts {
    double tokens = 0, sources = 0, pairs = 0;
    double size = 0, width = 0;  // rows * columns and rows + columns of a matrix
    double matrices = 1;         // 1 for M, 2 for M and S
    double states = 0;           // numbers in the states of all tiles
};

inline Counts counts_of(const Chain& chain, const TiledRange& tiling) {
    const int64_t all = tiling.tokens().count(), chunk = tiling.chunk();
    const double batch = number(chain.batch), halo = number(chain.window - 1);
    // The sum of the squared tile sizes when `tokens` tokens of a chunk are cut into tiles.
    const auto squares = [tile = tiling.tile()](int64_t tokens) {
        return number(tokens / tile) * number(tile * tile) + number((tokens % tile) * (tokens % tile));
    };
    const double all_squares = number(all / chunk) * squares(chunk) + squares(all % chunk);
    Counts counts;
    counts.tokens = batch * number(all);
    counts.sources = batch * (number(all) + number(tiling.count()) * halo);
    counts.pairs = batch * ((all_squares + number(all)) / 2 + number(all) * halo);
    for (int64_t i = 0; i < tiling.count() && tiling.at(i).first < chain.window - 1; ++i) {
        const double missing = halo - number(tiling.at(i).first);  // before the sequence
        counts.sources -= batch * missing;
        counts.pairs -= batch * missing * number(tiling.at(i).count());
    }
    counts.size = number(chain.rows * chain.columns);
    counts.width = number(chain.rows + chain.columns);
    counts.matrices = chain.rule->has_momentum ? 2 : 1;
    counts.states = counts.matrices * counts.size * number(chain.batch * tiling.count());
    return counts;
}

// Prepares the keys, values and coefficients of every tile of a range.
inline LaunchInfo prepare(const Chain& chain, const TiledRange& tiling, const TileArrays& a) {
    const Counts counts = counts_of(chain, tiling);
    const int64_t tokens = tiling.tokens().count();
    const double products = chain.w_omega ? 4 * counts.size * counts.sources : 0;
    return {.name = "prepare" + chain.suffix,
            .meaning =
                chain.w_omega
                    ? "Computes all w = W silu([k; v]), normalises keys and accumulates gates, tile by tile."
                    : "Normalises keys and accumulates gates, tile by tile.",
            .reads = Buffers{first_of(a.given_keys, tokens), first_of(a.given_values, tokens)} +
                     gates(chain, tokens) + Buffers{chain.w_omega},
            .writes = {a.keys, a.values, a.coefficients},
            .work = {.operations = 3 * counts.width * counts.sources + 5 * counts.pairs + products}};
}

// Takes the place of prepare in exact_chunk: also multiplies the keys of every pair and solves for keys and
// values.
inline LaunchInfo solve(const Chain& chain, const TiledRange& tiling, const TileArrays& a) {
    const Counts counts = counts_of(chain, tiling);
    LaunchInfo info = prepare(chain, tiling, a);
    info.name = "solve";
    info.meaning = "Solves the triangular system of every tile for its keys and values (WY form).";
    info.writes.push_back(a.solved);
    info.work.operations += 2 * counts.pairs * (number(chain.columns) + counts.width);
    return info;
}

inline LaunchInfo walk(const Chain& chain, const TiledRange& tiling, const TileArrays& a) {
    const Counts counts = counts_of(chain, tiling);
    const double products = (chain.rule->reads_memory ? 1 : 0) + counts.matrices;
    LaunchInfo info = {
        .name = "walk" + chain.suffix,
        .meaning = "Walks from boundary to boundary: errors and states, strips of rows independently.",
        .reads = {a.keys, a.values, a.coefficients, a.solved},
        .writes = {a.errors, a.states_m, a.states_s},
        .work = {.operations = 2 * products * counts.sources * counts.size + 3 * counts.states}};
    pass_states(info, chain, tiling.tokens());
    return info;
}

// sum_tiles and scan_tiles take the place of the walk if no error reads the memory: one sums every tile, the
// other turns the sums into states.
inline LaunchInfo sum_tiles(const Chain& chain, const TiledRange& tiling, const TileArrays& a) {
    const Counts counts = counts_of(chain, tiling);
    return {.name = "sum_tiles",
            .meaning = "Sums the updates of every tile to memory and momentum, in parallel.",
            .reads = {a.keys, a.values, a.coefficients},
            .writes = {a.errors, a.sums_m, a.sums_s},
            .work = {.operations = 2 * counts.matrices * counts.size * counts.sources}};
}

inline LaunchInfo scan_tiles(const Chain& chain, const TiledRange& tiling, const TileArrays& a) {
    LaunchInfo info = {.name = "scan_tiles",
                       .meaning = "Scans the sums of the tiles, memory and momentum together.",
                       .reads = {a.sums_m, a.sums_s, a.coefficients},
                       .writes = {a.states_m, a.states_s},
                       .work = {.operations = 2 * counts_of(chain, tiling).states}};
    pass_states(info, chain, tiling.tokens());
    return info;
}

// How tokens read the chain: from its evolving memory, or from the memory at the boundary of their chunk.
struct Reading {
    Buffer queries, result;
    bool at_boundary = false;
    std::string suffix = {};  // suffix of the launch's name
};
inline LaunchInfo read(const Chain& chain, const TiledRange& tiling, const TileArrays& a,
                       const Reading& reading) {
    const Counts counts = counts_of(chain, tiling);
    const int64_t tokens = tiling.tokens().count();
    const Buffer queries = first_of(reading.queries, tokens), result = first_of(reading.result, tokens);
    if (reading.at_boundary)
        return {.name = "read" + reading.suffix,
                .meaning = "All tokens read the memory at the boundary of their chunk.",
                .reads = {queries, a.states_m},
                .writes = {result},
                .work = {.operations = 2 * counts.tokens * counts.size}};
    return {.name = "read" + reading.suffix,
            .meaning = "All tokens read their own memory state.",
            .reads = Buffers{queries, a.states_m, a.states_s, a.keys, a.errors} + gates(chain, tokens),
            .writes = {result},
            .work = {.operations = 2 * counts.matrices * counts.tokens * counts.size +
                                   2 * counts.pairs * counts.width}};
}

// Takes the place of walk and read after the solve.
inline LaunchInfo walk_and_read(const Chain& chain, const TiledRange& tiling, const TileArrays& a,
                                const Reading& reading) {
    const int64_t tokens = tiling.tokens().count();
    LaunchInfo info = walk(chain, tiling, a);
    const LaunchInfo of_read = read(chain, tiling, a, reading);
    info.name = "walk_and_read";
    info.meaning = "Walks from tile to tile and reads the memory on the way, strips of rows independently.";
    info.reads = info.reads + of_read.reads + Buffers{first_of(a.given_keys, tokens)};
    info.writes = of_read.writes + info.writes;
    info.work.operations += of_read.work.operations;
    return info;
}

// `reads` are the inputs, or the arrays that an earlier launch made of them.
inline LaunchInfo tree(const Tensors& t, Range range, Buffers reads) {
    const double matrices = t.rule->has_momentum ? 2 : 1;
    const double others = t.tokens_of_windows(range) - number(range.count());  // each adds an outer product
    LaunchInfo info = {
        .name = "tree",
        .meaning = "In every tile, totals go up a tree and states come down; then tokens read.",
        .reads = std::move(reads),
        .writes = {first_of(t.y, range.count())},
        .work = {.operations = ((8 * matrices + 6) * number(range.count()) + 2 * others) *
                               number(t.batch * t.d * t.d)}};
    pass_states(info, t, range);
    return info;
}

// The local memories of a shard of tnt. `sums` receives the sum of y over each of them.
inline LaunchInfo locals(const Tensors& t, Range shard, const Buffer& sums) {
    return {.name = "locals",
            .meaning = "Local memories run over their tokens, all of a shard in parallel.",
            .reads = Buffers{shard.first > 0 ? t.m.live : t.m.from} + inputs(t, shard.count()),
            .writes = {first_of(t.y, shard.count()), sums},
            .work = {.operations = t.operations_of(shard)}};
}

inline LaunchInfo global_step(const Tensors& t, Range shard, const Buffer& sums) {
    LaunchInfo info = {.name = "global_step",
                       .meaning = "Updates the global memory with the means of a shard.",
                       .reads = {sums, first_of(t.alpha, shard.count())},
                       .work = {.operations = 3 * number(t.batch * t.d * t.d)}};
    pass_states(info, t, shard);
    return info;
}

// The same for slots, which the last local memory passes on: from `before` the shard to `after` it.
inline LaunchInfo locals_with_slots(const Tensors& t, Range shard, const Buffers& before,
                                    const Buffers& after) {
    const bool is_last = shard.last == t.length;
    return {.name = "locals",
            .meaning =
                "Local memories run over their tokens, all of a shard in parallel; the last one passes "
                "its slots on.",
            .reads = (shard.first > 0 ? before : Buffers{t.m.from, t.s.from}) + inputs(t, shard.count()),
            .writes = Buffers{first_of(t.y, shard.count()), first_of(t.boundaries, 1 + is_last)} +
                      (is_last ? Buffers{t.m.to, t.s.to} : after),
            .work = {.operations = t.operations_of(shard)}};
}

// walk_slots and read_slots are for slots frozen at the boundaries of chunks. `slots` holds the slots at the
// start of every tile.
inline LaunchInfo walk_slots(const Tensors& t, const TiledRange& tiling, Buffers reads, const Buffer& slots) {
    LaunchInfo info = {
        .name = "walk_slots",
        .meaning = "Walks from boundary to boundary, every slot independently.",
        .reads = std::move(reads),
        .writes = {slots},
        .work = {.operations = 6 * number(tiling.tokens().count() * t.batch * t.slot_count * t.d)}};
    pass_states(info, t, tiling.tokens());
    return info;
}

inline LaunchInfo read_slots(const Tensors& t, const TiledRange& tiling, Buffers reads, const Buffer& slots) {
    const int64_t tokens = tiling.tokens().count();
    return {.name = "read_slots",
            .meaning = "All tokens read the slots.",
            .reads = std::move(reads) + Buffers{first_of(t.q, tokens), slots},
            .writes = {first_of(t.y, tokens)},
            .work = {.operations = 16 * number(tokens * t.batch * t.slot_count * t.d)}};
}

// `pulse` is the pulse of one level, [length].
inline LaunchInfo pulse(const Buffer& pulse) {
    return {.name = "pulse", .meaning = "Marks the tokens where a level fires.", .writes = {pulse}};
}

}  // namespace sawtooth::memory::launches
