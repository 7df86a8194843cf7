#include "kernels/memory/cpu/chain.h"

#include <algorithm>
#include <cmath>

#include "kernels/cpu/plan_builder.h"
#include "kernels/cpu/vectors.h"

namespace sawtooth::memory {
namespace {

constexpr int64_t block_rows = 16;  // tokens of a tile read together

}  // namespace

TiledChain::TiledChain(const CpuJob& all, const StripChain& tiled, Range longest, int64_t tile, Room& room)
    : job(all),
      chain(tiled),
      tiling(longest, all.chunk, tile),
      sources(padded(tiling.tile() + chain.window - 1)) {
    const auto take = [&](const char* name, Shape shape) {
        shape.insert(shape.begin(), {chain.batch, tiles()});
        return room.take(name, std::move(shape));
    };
    keys = take("keys", {chain.columns, sources});
    values = take("values", {sources, padded(chain.rows)});
    coefficients = take("coefficients", {2 * sources + lanes});
    errors = take("errors", {chain.strips(), sources, lanes});
    const Shape state = {chain.strips(), chain.columns, lanes};
    states_m = take("m of tiles", state);
    if (chain.rule->has_momentum) states_s = take("s of tiles", state);
}

TiledChain TiledChain::in(Range tokens) const {
    TiledChain ranged = *this;
    ranged.tiling = TiledRange(tokens, job.chunk, tiling.tile());
    static_cast<TileArrays&>(ranged) = first_of(*this, ranged.tiles(), ranged.tiles());
    return ranged;
}

TiledChain tile_matrix(const CpuJob& job, Range longest, int64_t tile, Room& room) {
    TiledChain tiled(job, job.memory, longest, tile, room);
    tiled.given_keys = job.k;
    tiled.given_values = job.v;
    tiled.load_keys = [&job](int64_t sequence, Range tokens, float* to) {
        job.load_keys(job.k, sequence, tokens, to);
    };
    tiled.load_values = [&job](int64_t sequence, Range tokens, float* space, float* to) {
        job.load_values(sequence, tokens, space, to);
    };
    tiled.room_of_values = job.room_of_values();
    return tiled;
}

TileCoefficients::TileCoefficients(const StripChain& chain, int64_t sequence, Range sources, float* w,
                                   float* h)
    : chain_(chain), sequence_(sequence), sources_(sources), rows_{w, h} {
    std::fill_n(w, padded(sources.count()), 0.0f);
    std::fill_n(h, padded(sources.count()), 0.0f);
}

void TileCoefficients::advance(int64_t token) {
    const TokenGate gate = chain_.gate(sequence_, token);
    kept *= gate.keep;
    a *= gate.decay;
    b = gate.decay * b + kept;
    memory::advance(rows_, gate.decay, gate.keep, gate.step,
                    chain_.first_of_window(sequence_, token) - sources_.first, token + 1 - sources_.first);
}

void prepare_tile(const TiledChain& tiled, int64_t sequence, int64_t tile, const PrepareRooms& rooms) {
    const StripChain& chain = tiled.chain;
    const Range tokens = tiled.tiling.at(tile), sources = tiled.sources_of(tokens);
    const int64_t slot = tiled.slot(sequence, tile), key_row = padded(chain.columns);
    tiled.load_keys(sequence, sources, rooms.keys);
    cpu::transpose(rooms.keys, key_row, sources.count(), chain.columns, tiled.keys_of(slot), tiled.sources);
    tiled.load_values(sequence, sources, rooms.values, tiled.values_of(slot));
    float* const ends = tiled.ends_of(slot);
    TileCoefficients coefficients(chain, sequence, sources, ends, ends + tiled.sources);
    for (int64_t token = tokens.first; token < tokens.last; ++token) coefficients.advance(token);
    float* const scalars = ends + 2 * tiled.sources;
    scalars[0] = coefficients.a;
    scalars[1] = coefficients.b;
    scalars[2] = coefficients.kept;
}

void make_errors(const TiledChain& tiled, int64_t item, int64_t tile, const float* boundary) {
    const StripChain& chain = tiled.chain;
    const int64_t slot = tiled.slot(item / chain.strips(), tile), strip = item % chain.strips();
    const int64_t count = tiled.sources_of(tiled.tiling.at(tile)).count(), row = padded(chain.rows);
    float* const errors = tiled.errors_of(tiled.strip_slot(item, tile));
    if (chain.rule->reads_memory) {
        const cpu::Left keys = tiled.solved ? cpu::Left{tiled.solved_of(slot), padded(chain.columns), 1}
                                            : cpu::Left{tiled.keys_of(slot), 1, tiled.sources};
        cpu::multiply(
            {.left = keys, .right = {boundary}, .target = {errors}, .rows = count, .inner = chain.columns});
    } else {
        std::fill_n(errors, count * lanes, 0.0f);
    }
    cpu::subtract_rows(errors, tiled.values_of(slot) + strip * lanes, row, count);
}

void subtract_outer_products(const TiledChain& tiled, int64_t item, int64_t tile, const float* factors,
                             const OuterProductRooms& rooms, float* to) {
    const StripChain& chain = tiled.chain;
    const int64_t count = tiled.sources_of(tiled.tiling.at(tile)).count();
    cpu::scale_rows(rooms.weighted, tiled.errors_of(tiled.strip_slot(item, tile)), factors, count);
    cpu::multiply({.left = {tiled.keys_of(tiled.slot(item / chain.strips(), tile)), tiled.sources, 1},
                   .right = {rooms.weighted},
                   .target = {to},
                   .rows = chain.columns,
                   .inner = count,
                   .into = cpu::Into::subtract});
}

namespace {

// Advances one strip of the state over a tile.
void advance_state(const TiledChain& tiled, int64_t item, int64_t tile, const OuterProductRooms& rooms,
                   float* m, float* s) {
    const int64_t size = tiled.chain.strip_size();
    const float* const w = tiled.ends_of(tiled.slot(item / tiled.chain.strips(), tile));
    const float *const h = w + tiled.sources, *const scalars = h + tiled.sources;
    if (s)
        cpu::combine(m, scalars[0], m, scalars[1], s, size);
    else
        cpu::scale(m, scalars[0], size);
    subtract_outer_products(tiled, item, tile, w, rooms, m);
    if (!s) return;
    cpu::scale(s, scalars[2], size);
    subtract_outer_products(tiled, item, tile, h, rooms, s);
}

// Gives every row of a strip a norm of sqrt(columns), but rows of zeros.
void rescale(float* strip, int64_t columns) {
    for (int64_t row = 0; row < lanes; ++row) {
        double square = 0;  // may leave the range of f32
        for (int64_t column = 0; column < columns; ++column) {
            const double value = strip[column * lanes + row];
            square += value * value;
        }
        const double wanted = std::sqrt(static_cast<double>(columns));
        const auto factor = static_cast<float>(wanted / std::max(std::sqrt(square), 1e-12));
        for (int64_t column = 0; column < columns; ++column) strip[column * lanes + row] *= factor;
    }
}

void walk_strip(const TiledChain& tiled, const cpu::Item& item) {
    const StripChain& chain = tiled.chain;
    const int64_t at = item.index;
    const auto rooms = cpu::take_rooms<OuterProductRooms>(item.scratch, tiled);
    float *const m = chain.m_of(at), *const s = chain.s_of(at);
    walk_tiles(tiled, item, [&](int64_t tile) {
        const int64_t slot = tiled.strip_slot(at, tile);
        // Solved errors are exact, and use the memory before the tile.
        const int64_t errors_from = tiled.solved ? tile : tiled.tiling.opening(tile);
        if (tiled.rescales && tiled.tiling.at(tile).first == 0) rescale(m, chain.columns);
        std::copy_n(m, chain.strip_size(), chain.strip_of(tiled.states_m, slot));
        if (s) std::copy_n(s, chain.strip_size(), chain.strip_of(tiled.states_s, slot));
        make_errors(tiled, at, tile, chain.strip_of(tiled.states_m, tiled.strip_slot(at, errors_from)));
        advance_state(tiled, at, tile, rooms, m, s);
        if (tiled.rescales && tiled.tiling.closes_chunk(tile)) rescale(m, chain.columns);
        item.tally.combines += tiled.tiling.at(tile).count();
    });
}

struct ReadRooms {
    float *w, *h;                                  // coefficients of a tile's sources
    float *queries, *scaled, *weights, *products;  // arrays of a block; weights holds its rows of w
    float* y;

    ReadRooms(cpu::Scratch& scratch, const TiledChain& tiled)
        : w(scratch.take<float>(tiled.sources)),
          h(scratch.take<float>(tiled.sources)),
          queries(scratch.take<float>(block_rows * padded(tiled.chain.columns))),
          scaled(scratch.take<float>(block_rows * padded(tiled.chain.columns))),
          weights(scratch.take<float>(block_rows * tiled.sources)),
          products(scratch.take<float>(block_rows * tiled.sources)),
          y(scratch.take<float>(block_rows * padded(tiled.chain.rows))) {}
};

// Tokens first … first + count - 1 of a tile, with their coefficients a and b.
struct Block {
    int64_t sequence, tile, first, count;
    float a[block_rows], b[block_rows];
};

// Computes y = a M q + b S q - sum of w e (k . q) for the block's queries into rooms.y [count, padded(rows)].
void read_evolving(const TiledChain& tiled, const Block& block, const ReadRooms& rooms) {
    const StripChain& chain = tiled.chain;
    const int64_t slot = tiled.slot(block.sequence, block.tile), row = padded(chain.rows);
    const int64_t key_row = padded(chain.columns), strip_slot = slot * chain.strips();
    const Range tokens = tiled.tiling.at(block.tile);
    const int64_t before = tokens.first - tiled.sources_of(tokens).first;
    const int64_t reach = before + block.first + block.count;  // sources visible to the block
    const auto add_states = [&](const Buffer& states, const float* factors, cpu::Into into) {
        for (int64_t r = 0; r < block.count; ++r)
            for (int64_t c = 0; c < chain.columns; ++c)
                rooms.scaled[r * key_row + c] = factors[r] * rooms.queries[r * key_row + c];
        cpu::multiply({.left = {rooms.scaled, key_row, 1},
                       .right = {chain.strip_of(states, strip_slot), lanes, chain.strip_size()},
                       .target = {rooms.y, row, lanes},
                       .rows = block.count,
                       .inner = chain.columns,
                       .blocks = chain.strips(),
                       .into = into});
    };
    add_states(tiled.states_m, block.a, cpu::Into::set);
    if (tiled.states_s) add_states(tiled.states_s, block.b, cpu::Into::add);
    cpu::multiply({.left = {rooms.queries, key_row, 1},
                   .right = {tiled.keys_of(slot), tiled.sources, lanes},
                   .target = {rooms.products, tiled.sources, lanes},
                   .rows = block.count,
                   .inner = chain.columns,
                   .blocks = strips_of(reach)});
    for (int64_t r = 0; r < block.count; ++r)
        cpu::multiply_elements(rooms.products + r * tiled.sources, rooms.weights + r * tiled.sources,
                               padded(reach));
    cpu::multiply_lower({.left = {rooms.products, tiled.sources, 1},
                         .right = {tiled.errors_of(strip_slot), lanes, tiled.sources * lanes},
                         .target = {rooms.y, row, lanes},
                         .rows = block.count,
                         .inner = reach,
                         .blocks = chain.strips(),
                         .into = cpu::Into::subtract},
                        before + block.first + 1);
}

void read_at_boundary(const TiledChain& tiled, const Block& block, const ReadRooms& rooms) {
    const StripChain& chain = tiled.chain;
    const int64_t opening = tiled.slot(block.sequence, tiled.tiling.opening(block.tile));
    cpu::multiply(
        {.left = {rooms.queries, padded(chain.columns), 1},
         .right = {chain.strip_of(tiled.states_m, opening * chain.strips()), lanes, chain.strip_size()},
         .target = {rooms.y, padded(chain.rows), lanes},
         .rows = block.count,
         .inner = chain.columns,
         .blocks = chain.strips()});
}

void read_tile(const TiledChain& tiled, const Reader& reader, const cpu::Item& item) {
    const int64_t sequence = item.index / tiled.tiles(), tile = item.index % tiled.tiles();
    const Range tokens = tiled.tiling.at(tile), sources = tiled.sources_of(tokens);
    const auto rooms = cpu::take_rooms<ReadRooms>(item.scratch, tiled);
    TileCoefficients coefficients(tiled.chain, sequence, sources, rooms.w, rooms.h);
    Block block{sequence, tile, 0, 0, {}, {}};
    for (; block.first < tokens.count() && !item.stop.stop_requested(); block.first += block_rows) {
        block.count = std::min(block_rows, tokens.count() - block.first);
        const Range read{tokens.first + block.first, tokens.first + block.first + block.count};
        reader.load(sequence, read, rooms.queries);
        if (reader.words.at_boundary) {
            read_at_boundary(tiled, block, rooms);
        } else {
            for (int64_t r = 0; r < block.count; ++r) {
                coefficients.advance(read.first + r);
                std::copy_n(rooms.w, padded(sources.count()), rooms.weights + r * tiled.sources);
                block.a[r] = coefficients.a;
                block.b[r] = coefficients.b;
            }
            read_evolving(tiled, block, rooms);
        }
        reader.put(sequence, read, rooms.y);
    }
}

}  // namespace

void add_prepare(cpu::PlanBuilder& builder, const TiledChain& tiled) {
    builder.launch(with_scratch(launches::prepare(tiled.chain, tiled.tiling, tiled),
                                cpu::scratch_bytes<PrepareRooms>(tiled)),
                   tiled.sides(), [&tiled](const cpu::Item& item) {
                       prepare_tile(tiled, item.index / tiled.tiles(), item.index % tiled.tiles(),
                                    cpu::take_rooms<PrepareRooms>(item.scratch, tiled));
                   });
}

void add_walk(cpu::PlanBuilder& builder, const TiledChain& tiled) {
    builder.launch(with_scratch(launches::walk(tiled.chain, tiled.tiling, tiled),
                                cpu::scratch_bytes<OuterProductRooms>(tiled)),
                   tiled.chain.sides(), [&tiled](const cpu::Item& item) { walk_strip(tiled, item); });
}

void add_read(cpu::PlanBuilder& builder, const TiledChain& tiled, const Reader& reader) {
    builder.launch(with_scratch(launches::read(tiled.chain, tiled.tiling, tiled, reader.words),
                                cpu::scratch_bytes<ReadRooms>(tiled)),
                   tiled.sides(),
                   [&tiled, reader](const cpu::Item& item) { read_tile(tiled, reader, item); });
}

Reader reader_of_y(const CpuJob& job) {
    return {
        {job.q, job.y, job.reads_boundary},
        [&job](int64_t sequence, Range tokens, float* to) { job.load_keys(job.q, sequence, tokens, to); },
        [&job](int64_t sequence, Range tokens, const float* rows) { job.put_rows(sequence, tokens, rows); }};
}

}  // namespace sawtooth::memory
