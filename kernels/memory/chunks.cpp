#include "kernels/memory/chunks.h"

#include <algorithm>

#include "kernels/memory/launches.h"
#include "kernels/memory/scratch.h"

namespace sawtooth::memory {
namespace {

constexpr int64_t block_rows = 16;  // tokens of a tile that are read at once

struct Scratch {
    std::vector<float> rows, weighted, weights, products, queries, outputs, coefficients;
};
thread_local Scratch scratch;

}  // namespace

TiledChain::TiledChain(const Chain& of, Tiling tiles_of, size_t reader_count, bool does_solve, Pieces& room)
    : chain(of), tiling(tiles_of), solves(does_solve) {
    sources = padded(tiling.tile() + std::min(chain.window - 1, tiling.tokens().last));
    const int64_t slots = chain.batch * tiles(), strip_slots = slots * chain.strips();
    const int64_t key_row = padded(chain.columns);
    keys = room.take(slots * chain.columns * sources);
    values = room.take(slots * sources * padded(chain.rows));
    queries = room.take(static_cast<int64_t>(reader_count) * slots * tiling.tile() * key_row);
    ends = room.take(slots * (2 * sources + lanes));
    errors = room.take(strip_slots * sources * lanes);
    states_m = room.take(strip_slots * chain.strip_size());
    if (chain.has_momentum) states_s = room.take(strip_slots * chain.strip_size());
    if (solves) solved = room.take(slots * tiling.tile() * key_row);
}

TileCoefficients::TileCoefficients(const Chain& chain, int64_t batch, Range sources, float* w, float* h)
    : chain_(chain), batch_(batch), sources_(sources), rows_{w, h} {
    std::fill_n(w, padded(sources.count()), 0.0f);
    std::fill_n(h, padded(sources.count()), 0.0f);
}

void TileCoefficients::advance(int64_t token) {
    const Gate gate = chain_.gates.at(batch_, token);
    kept *= gate.keep;
    of_memory *= gate.decay;
    of_momentum = gate.decay * of_momentum + kept;
    memory::advance(rows_, gate.decay, gate.keep, gate.step, chain_.first_source(token) - sources_.first,
                    token + 1 - sources_.first);
}

namespace {

void prepare_tile(const TiledChain& tiled, int64_t batch, int64_t tile) {
    const Chain& chain = tiled.chain;
    const Range tokens = tiled.tiling.at(tile), sources = tiled.sources_of(tokens);
    const int64_t slot = tiled.slot(batch, tile), key_row = padded(chain.columns);
    float* const rows = at_least(scratch.rows, sources.count() * key_row);
    tiled.load_keys(batch, sources, rows);
    transpose(rows, key_row, sources.count(), chain.columns, tiled.keys_of(slot), tiled.sources);
    tiled.load_values(batch, sources, tiled.values_of(slot));
    for (size_t reader = 0; reader < tiled.readers.size(); ++reader)
        tiled.readers[reader].load(batch, tokens, tiled.queries_of(reader, slot));
    float* const ends = tiled.ends_of(slot);
    TileCoefficients coefficients(chain, batch, sources, ends, ends + tiled.sources);
    for (int64_t token = tokens.first; token < tokens.last; ++token) coefficients.advance(token);
    float* const scalars = ends + 2 * tiled.sources;
    scalars[0] = coefficients.of_memory;
    scalars[1] = coefficients.of_momentum;
    scalars[2] = coefficients.kept;
}

}  // namespace

void make_errors(const TiledChain& tiled, int64_t item, int64_t tile, const float* boundary) {
    const Chain& chain = tiled.chain;
    const int64_t slot = tiled.slot(item / chain.strips(), tile), strip = item % chain.strips();
    const int64_t count = tiled.sources_of(tiled.tiling.at(tile)).count(), row = padded(chain.rows);
    float* const errors = tiled.errors_of(tiled.strip_slot(item, tile));
    const float* const values = tiled.values_of(slot) + strip * lanes;
    if (chain.reads_memory) {
        const Left keys = tiled.solves ? Left{tiled.solved_of(slot), padded(chain.columns), 1}
                                       : Left{tiled.keys_of(slot), 1, tiled.sources};
        multiply(
            {.left = keys, .right = {boundary}, .target = {errors}, .rows = count, .inner = chain.columns});
    } else {
        std::fill_n(errors, count * lanes, 0.0f);
    }
    subtract_rows(errors, values, row, count);
}

void subtract_outer_products(const TiledChain& tiled, int64_t item, int64_t tile, const float* factors,
                             float* to) {
    const Chain& chain = tiled.chain;
    const int64_t count = tiled.sources_of(tiled.tiling.at(tile)).count();
    float* const weighted = at_least(scratch.weighted, count * lanes);
    scale_rows(weighted, tiled.errors_of(tiled.strip_slot(item, tile)), factors, count);
    multiply({.left = {tiled.keys_of(tiled.slot(item / chain.strips(), tile)), tiled.sources, 1},
              .right = {weighted},
              .target = {to},
              .rows = chain.columns,
              .inner = count,
              .into = Into::subtract});
}

void advance_state(const TiledChain& tiled, int64_t item, int64_t tile, float* m, float* s) {
    const Chain& chain = tiled.chain;
    const float* const w = tiled.ends_of(tiled.slot(item / chain.strips(), tile));
    const float *const h = w + tiled.sources, *const scalars = h + tiled.sources;
    if (s)
        combine(m, scalars[0], m, scalars[1], s, chain.strip_size());
    else
        scale(m, scalars[0], chain.strip_size());
    subtract_outer_products(tiled, item, tile, w, m);
    if (!s) return;
    scale(s, scalars[2], chain.strip_size());
    subtract_outer_products(tiled, item, tile, h, s);
}

namespace {

void walk_item(const TiledChain& tiled, const cpu::Item& item) {
    const Chain& chain = tiled.chain;
    const Tiling& tiling = tiled.tiling;
    const int64_t at = item.index;
    if (tiling.tokens().first == 0) chain.load_initial(at);
    float* const m = chain.strip_of(chain.m, at);
    float* const s = chain.s ? chain.strip_of(chain.s, at) : nullptr;
    for (int64_t tile = 0; tile < tiled.tiles() && !item.stop.stop_requested(); ++tile) {
        const Range tokens = tiling.at(tile);
        const int64_t slot = tiled.strip_slot(at, tile);
        if (tiling.opening(tile) == tile) chain.put_boundary(at, tokens.first, m);
        std::copy_n(m, chain.strip_size(), tiled.state_of(tiled.states_m, slot));
        if (s) std::copy_n(s, chain.strip_size(), tiled.state_of(tiled.states_s, slot));
        make_errors(tiled, at, tile,
                    tiled.state_of(tiled.states_m, tiled.strip_slot(at, tiling.opening(tile))));
        advance_state(tiled, at, tile, m, s);
        item.tally.combines += tokens.count();
    }
    if (tiling.tokens().last == chain.length) chain.put_final(at);
}

// A block of a tile's tokens, rows first … first + count - 1 of it.
struct Block {
    int64_t batch, tile, first, count;
};

// The coefficients of a block's tokens: a row of w each, and a, b.
struct BlockCoefficients {
    float *w, *of_memory, *of_momentum;
};

// y = a M q + b S q - sum of w e (k . q), for the block's queries into `y` [count, padded(rows)].
void read_evolving(const TiledChain& tiled, const Block& block, const BlockCoefficients& given,
                   const float* queries, float* y) {
    const Chain& chain = tiled.chain;
    const int64_t slot = tiled.slot(block.batch, block.tile), row = padded(chain.rows);
    const int64_t key_row = padded(chain.columns), strip_slot = slot * chain.strips();
    const Range tokens = tiled.tiling.at(block.tile);
    const int64_t before = tokens.first - tiled.sources_of(tokens).first;
    const int64_t reach = before + block.first + block.count;  // sources that the block looks at
    const auto add_states = [&](const float* states, const float* factors, Into into) {
        float* const scaled = at_least(scratch.queries, block.count * key_row);
        for (int64_t r = 0; r < block.count; ++r)
            for (int64_t c = 0; c < chain.columns; ++c)
                scaled[r * key_row + c] = factors[r] * queries[r * key_row + c];
        multiply({.left = {scaled, key_row, 1},
                  .right = {states + strip_slot * chain.strip_size(), lanes, chain.strip_size()},
                  .target = {y, row, lanes},
                  .rows = block.count,
                  .inner = chain.columns,
                  .blocks = chain.strips(),
                  .into = into});
    };
    add_states(tiled.states_m, given.of_memory, Into::set);
    if (chain.has_momentum) add_states(tiled.states_s, given.of_momentum, Into::add);
    float* const products = at_least(scratch.products, block.count * tiled.sources);
    multiply({.left = {queries, key_row, 1},
              .right = {tiled.keys_of(slot), tiled.sources, lanes},
              .target = {products, tiled.sources, lanes},
              .rows = block.count,
              .inner = chain.columns,
              .blocks = strips_of(reach)});
    for (int64_t r = 0; r < block.count; ++r)
        multiply_elements(products + r * tiled.sources, given.w + r * tiled.sources, padded(reach));
    multiply_lower({.left = {products, tiled.sources, 1},
                    .right = {tiled.errors_of(strip_slot), lanes, tiled.sources * lanes},
                    .target = {y, row, lanes},
                    .rows = block.count,
                    .inner = reach,
                    .blocks = chain.strips(),
                    .into = Into::subtract},
                   before + block.first + 1);
}

void read_at_boundary(const TiledChain& tiled, const Block& block, const float* queries, float* y) {
    const Chain& chain = tiled.chain;
    const int64_t opening = tiled.slot(block.batch, tiled.tiling.opening(block.tile));
    multiply(
        {.left = {queries, padded(chain.columns), 1},
         .right = {tiled.states_m + opening * chain.strips() * chain.strip_size(), lanes, chain.strip_size()},
         .target = {y, padded(chain.rows), lanes},
         .rows = block.count,
         .inner = chain.columns,
         .blocks = chain.strips()});
}

void read_tile(const TiledChain& tiled, int64_t batch, int64_t tile, const std::stop_token& stop) {
    const Chain& chain = tiled.chain;
    const Range tokens = tiled.tiling.at(tile), sources = tiled.sources_of(tokens);
    const int64_t slot = tiled.slot(batch, tile);
    float* const w = at_least(scratch.coefficients, 2 * tiled.sources);
    TileCoefficients coefficients(chain, batch, sources, w, w + tiled.sources);
    float of_memory[block_rows], of_momentum[block_rows];
    const BlockCoefficients given{at_least(scratch.weights, block_rows * tiled.sources), of_memory,
                                  of_momentum};
    float* const y = at_least(scratch.outputs, block_rows * padded(chain.rows));
    for (int64_t first = 0; first < tokens.count() && !stop.stop_requested(); first += block_rows) {
        const Block block{batch, tile, first, std::min(block_rows, tokens.count() - first)};
        for (int64_t r = 0; r < block.count; ++r) {
            coefficients.advance(tokens.first + first + r);
            std::copy_n(w, padded(sources.count()), given.w + r * tiled.sources);
            of_memory[r] = coefficients.of_memory;
            of_momentum[r] = coefficients.of_momentum;
        }
        const Range read{tokens.first + first, tokens.first + first + block.count};
        for (size_t r = 0; r < tiled.readers.size(); ++r) {
            const Reader& reader = tiled.readers[r];
            const float* const queries = tiled.queries_of(r, slot) + first * padded(chain.columns);
            if (reader.at_boundary)
                read_at_boundary(tiled, block, queries, y);
            else
                read_evolving(tiled, block, given, queries, y);
            reader.put(batch, read, y);
        }
    }
}

Shape sequence_of(const Chain& chain, const Tiling& tiling, int64_t width) {
    return {chain.batch, tiling.tokens().count(), width};
}

ArrayUse errors_use(const TiledChain& tiled) {
    return {"errors", sequence_of(tiled.chain, tiled.tiling, tiled.chain.rows)};
}
ArrayUse states_use(const TiledChain& tiled) {
    return {"states of tiles", {tiled.chain.batch, tiled.tiles(), tiled.chain.rows, tiled.chain.columns}};
}

}  // namespace

void add_prepare(Plan& plan, const SharedChain& tiled, const std::string& name, const std::string& meaning) {
    const Chain& chain = tiled->chain;
    const Shape keys = sequence_of(chain, tiled->tiling, chain.columns);
    add_launch(plan,
               describe(name, meaning, chain.batch * tiled->tiles(), "B * tiles",
                        {{"keys", keys}, {"values", errors_use(*tiled).shape}, {"queries", keys}},
                        {{"keys, transposed", keys}, {"values", errors_use(*tiled).shape}, {"queries", keys}},
                        prepare_work(*tiled)),
               [tiled](const cpu::Item& item) {
                   const int64_t batch = item.index / tiled->tiles(), tile = item.index % tiled->tiles();
                   prepare_tile(*tiled, batch, tile);
                   if (tiled->solves) solve_tile(*tiled, batch, tile, item.stop);
               });
}

void add_walk(Plan& plan, const SharedChain& tiled, const std::string& name) {
    const Chain& chain = tiled->chain;
    const Shape keys = sequence_of(chain, tiled->tiling, chain.columns);
    add_launch(plan,
               describe(name, "From boundary to boundary: errors and states, strips of rows for themselves.",
                        chain.items(), "B * ceil(rows / 16)",
                        {{"keys, transposed", keys}, {"values", errors_use(*tiled).shape}},
                        {errors_use(*tiled), states_use(*tiled)}, walk_work(*tiled)),
               [tiled](const cpu::Item& item) { walk_item(*tiled, item); });
}

void add_read(Plan& plan, const SharedChain& tiled, const std::string& name) {
    const Chain& chain = tiled->chain;
    const Shape keys = sequence_of(chain, tiled->tiling, chain.columns);
    add_launch(
        plan,
        describe(name, "All tokens of all tiles read their memory.", chain.batch * tiled->tiles(),
                 "B * tiles",
                 {{"keys, transposed", keys}, {"queries", keys}, errors_use(*tiled), states_use(*tiled)},
                 {{"y", errors_use(*tiled).shape}}, read_work(*tiled)),
        [tiled](const cpu::Item& item) {
            read_tile(*tiled, item.index / tiled->tiles(), item.index % tiled->tiles(), item.stop);
        });
}

}  // namespace sawtooth::memory
