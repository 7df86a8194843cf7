// Strategies that process a whole chunk against the memory at its boundary, in matrix products.
//   chunkwise_gd    prepare (parallel over tiles), walk (over strips of rows, or slots), read (over tiles)
//   atlas_parallel  the updates of atlas do not depend on its memory: compute all right-hand sides at once,
//                   sum every tile, scan these sums for the momentum and with it for the memory, then read.
//                   All but the scan are parallel over the whole sequence. The errors of atlas_omega do
//                   depend on the memory, so it walks like chunkwise_gd, with the same results
//   exact_chunk     solve instead of prepare. The errors of the delta rule in a chunk obey
//                   e_t = a_(t-1) M k_t - v_t - sum over s < t of w_(t-1)s (k_s . k_t) e_s,
//                   a triangular system (I + T) E = diag(a) K M - V (the WY form). M is not known yet when
//                   all chunks are solved at once, so the system is solved for K and V:
//                   (I + T) X = [diag(a) K, V], and the walk uses E = X_K M - X_V. Blocks of 16 tokens:
//                   products subtract the terms of earlier blocks, a product with the inverse of the block's
//                   own triangle does the rest

#include <algorithm>

#include "kernels/cpu/plan_builder.h"
#include "kernels/cpu/vectors.h"
#include "kernels/memory/cpu/chain.h"

namespace sawtooth::memory {
namespace {

// Computes the sums that a tile adds to M and to S, and stores them in place of its states.
void sum_tile(const TiledChain& tiled, int64_t item, int64_t tile, const OuterProductRooms& rooms) {
    const int64_t size = tiled.chain.strip_size(), slot = tiled.strip_slot(item, tile);
    const float* const w = tiled.ends_of(tiled.slot(item / tiled.chain.strips(), tile));
    make_errors(tiled, item, tile, nullptr);
    const auto add = [&](const Buffer& sums, const float* factors) {
        float* const to = tiled.chain.strip_of(sums, slot);
        std::fill_n(to, size, 0.0f);
        subtract_outer_products(tiled, item, tile, factors, rooms, to);
    };
    add(tiled.sums_m, w);
    add(tiled.sums_s, w + tiled.sources);
}

// Turns sums into the states before their tiles: S after a tile is h S + its sum, M is a M + b S + its sum.
void scan_sums(const TiledChain& tiled, const cpu::Item& item) {
    const StripChain& chain = tiled.chain;
    const int64_t at = item.index, size = chain.strip_size();
    float *const m = chain.m_of(at), *const s = chain.s_of(at);
    walk_tiles(tiled, item, [&](int64_t tile) {
        const int64_t slot = tiled.strip_slot(at, tile);
        const float* const scalars = tiled.ends_of(tiled.slot(at / chain.strips(), tile)) + 2 * tiled.sources;
        float* const sum_m = chain.strip_of(tiled.sums_m, slot);
        float* const sum_s = chain.strip_of(tiled.sums_s, slot);
        cpu::combine(sum_m, 1, sum_m, scalars[0], m, size);
        cpu::combine(sum_m, 1, sum_m, scalars[1], s, size);
        cpu::combine(sum_s, 1, sum_s, scalars[2], s, size);
        std::swap_ranges(m, m + size, sum_m);
        std::swap_ranges(s, s + size, sum_s);
        ++item.tally.combines;
    });
}

void add_sums(cpu::PlanBuilder& builder, const TiledChain& tiled) {
    builder.launch(with_scratch(launches::sum_tiles(tiled.chain, tiled.tiling, tiled),
                                cpu::scratch_bytes<OuterProductRooms>(tiled)),
                   tiled.chain.sides() * side("tiles", tiled.tiles()), [&tiled](const cpu::Item& item) {
                       sum_tile(tiled, item.index / tiled.tiles(), item.index % tiled.tiles(),
                                cpu::take_rooms<OuterProductRooms>(item.scratch, tiled));
                   });
    builder.launch(launches::scan_tiles(tiled.chain, tiled.tiling, tiled), tiled.chain.sides(),
                   [&tiled](const cpu::Item& item) { scan_sums(tiled, item); });
}

AddRange matrix_chunks(const CpuJob& job, Range longest, bool scans_sums, Room& room) {
    TiledChain all = tile_matrix(job, longest, usual_tile, room);
    if (scans_sums) {
        all.sums_m = all.states_m;
        all.sums_s = all.states_s;
        all.sums_m.name = "m added by tiles";
        all.sums_s.name = "s added by tiles";
    }
    return [all, scans_sums](cpu::PlanBuilder& builder, Range tokens) {
        const TiledChain& tiled = builder.keep(all.in(tokens));
        add_prepare(builder, tiled);
        if (scans_sums)
            add_sums(builder, tiled);
        else
            add_walk(builder, tiled);
        add_read(builder, tiled, reader_of_y(tiled.job));
    };
}

}  // namespace

AddRange on_cpu::chunkwise_gd(const CpuJob& job, Range longest, Room& room) {
    switch (job.rule->state) {
        case State::matrix:
            return matrix_chunks(job, longest, false, room);
        case State::slots:
            return lattice_chunks(job, longest, false, room);
        case State::trellis:
            return trellis_chunks(job, longest, false, room);
    }
    return {};
}

AddRange on_cpu::atlas_parallel(const CpuJob& job, Range longest, Room& room) {
    return matrix_chunks(job, longest, !job.rule->reads_memory, room);
}

namespace {

constexpr int64_t solved_rows = 16;

struct SolveRooms {
    PrepareRooms prepare;
    float *w, *h;        // coefficients of the tile's tokens
    float *weights, *t;  // rows of w and of T of a block
    float* before;       // the rows of a block before its own triangle is solved

    SolveRooms(cpu::Scratch& scratch, const TiledChain& tiled)
        : prepare(scratch, tiled),
          w(scratch.take<float>(tiled.sources)),
          h(scratch.take<float>(tiled.sources)),
          weights(scratch.take<float>(solved_rows * tiled.sources)),
          t(scratch.take<float>(solved_rows * tiled.sources)),
          before(scratch.take<float>(solved_rows * padded(tiled.job.d))) {}
};

// Writes the inverse of I + the triangle below the diagonal of `t` [count, stride] to `inverse` [16, 16].
void invert(const float* t, int64_t stride, int64_t count, float* inverse) {
    std::fill_n(inverse, solved_rows * lanes, 0.0f);
    for (int64_t r = 0; r < count; ++r) {
        inverse[r * lanes + r] = 1;
        cpu::multiply({.left = {t + r * stride},
                       .right = {inverse},
                       .target = {inverse + r * lanes},
                       .rows = 1,
                       .inner = r,
                       .into = cpu::Into::subtract});
    }
}

// Solves rows first … of a [tile, stride] matrix of right-hand sides in place: subtracts the terms of earlier
// rows, given by rooms.t [count, sources], then solves the block's own triangle.
void solve_rows(const SolveRooms& rooms, int64_t t_stride, const float* inverse, float* x, int64_t stride,
                int64_t first, int64_t count) {
    float* const here = x + first * stride;
    const auto product = [&](cpu::Left left, const float* right, int64_t inner, cpu::Into into) {
        return cpu::Product{left, {right, stride, lanes}, {here, stride, lanes}, count, inner, stride / lanes,
                            into};
    };
    cpu::multiply(product({rooms.t, t_stride, 1}, x, first, cpu::Into::subtract));
    std::copy_n(here, count * stride, rooms.before);
    cpu::multiply_lower(product({inverse, lanes, 1}, rooms.before, count, cpu::Into::set), 1);
}

// Turns the keys and values of a tile into those that give the exact errors with the boundary memory.
void solve_tile(const TiledChain& tiled, int64_t sequence, int64_t tile, const SolveRooms& rooms,
                const std::stop_token& stop) {
    const StripChain& chain = tiled.chain;
    const Range tokens = tiled.tiling.at(tile);
    const int64_t slot = tiled.slot(sequence, tile), stride = tiled.sources, key_row = padded(chain.columns);
    const float* const keys = tiled.keys_of(slot);
    float* const solved = tiled.solved_of(slot);
    float inverse[solved_rows * lanes];
    TileCoefficients coefficients(chain, sequence, tokens, rooms.w, rooms.h);
    for (int64_t first = 0; first < tokens.count() && !stop.stop_requested(); first += solved_rows) {
        const int64_t count = std::min(solved_rows, tokens.count() - first), reach = first + count;
        for (int64_t r = 0; r < count; ++r) {
            std::copy_n(rooms.w, padded(reach), rooms.weights + r * stride);
            float* const line = solved + (first + r) * key_row;
            for (int64_t c = 0; c < chain.columns; ++c)
                line[c] = coefficients.a * keys[c * stride + first + r];
            std::fill(line + chain.columns, line + key_row, 0.0f);
            coefficients.advance(tokens.first + first + r);
        }
        cpu::multiply({.left = {keys + first, 1, stride},
                       .right = {keys, stride, lanes},
                       .target = {rooms.t, stride, lanes},
                       .rows = count,
                       .inner = chain.columns,
                       .blocks = strips_of(reach)});
        for (int64_t r = 0; r < count; ++r)
            cpu::multiply_elements(rooms.t + r * stride, rooms.weights + r * stride, padded(reach));
        invert(rooms.t + first, stride, count, inverse);
        solve_rows(rooms, stride, inverse, solved, key_row, first, count);
        solve_rows(rooms, stride, inverse, tiled.values_of(slot), padded(chain.rows), first, count);
    }
}

}  // namespace

AddRange on_cpu::exact_chunk(const CpuJob& job, Range longest, Room& room) {
    TiledChain all = tile_matrix(job, longest, solved_tile, room);
    all.solved = room.take("solved keys", {job.batch, all.tiles(), all.tiling.tile(), padded(job.d)});
    return [all](cpu::PlanBuilder& builder, Range range) {
        const TiledChain& tiled = builder.keep(all.in(range));
        builder.launch(with_scratch(launches::solve(tiled.chain, tiled.tiling, tiled),
                                    cpu::scratch_bytes<SolveRooms>(tiled)),
                       tiled.sides(), [&tiled](const cpu::Item& item) {
                           const int64_t sequence = item.index / tiled.tiles(),
                                         tile = item.index % tiled.tiles();
                           const auto rooms = cpu::take_rooms<SolveRooms>(item.scratch, tiled);
                           prepare_tile(tiled, sequence, tile, rooms.prepare);
                           solve_tile(tiled, sequence, tile, rooms, item.stop);
                       });
        add_walk(builder, tiled);
        add_read(builder, tiled, reader_of_y(tiled.job));
    };
}

}  // namespace sawtooth::memory
