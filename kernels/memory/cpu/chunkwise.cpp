// Strategies with errors of a whole chunk against the memory at its boundary, everything else in matrix
// products.
//   chunkwise_gd    prepare (parallel over tiles), walk (over strips of rows, or slots), read (over tiles)
//   atlas_parallel  what atlas adds does not depend on its memory: all right-hand sides come at once, then
//                   what every tile adds, then a scan of these sums, first of the momentum and with it of the
//                   memory, then what tokens read. All but the scan are parallel over the whole sequence. The
//                   errors of atlas_omega do depend on it: it walks as chunkwise_gd does, and gives its
//                   numbers

#include <algorithm>

#include "kernels/cpu/vectors.h"
#include "kernels/memory/cpu/chain.h"
#include "kernels/memory/cpu/strategies.h"

namespace sawtooth::memory {
namespace {

// What a tile adds to M and to S, in the places of its states.
void sum_tile(const TiledChain& tiled, int64_t item, int64_t tile) {
    const int64_t size = tiled.chain.strip_size(), slot = tiled.strip_slot(item, tile);
    const float* const w = tiled.ends_of(tiled.slot(item / tiled.chain.strips(), tile));
    make_errors(tiled, item, tile, nullptr);
    const auto add = [&](float* states, const float* factors) {
        float* const to = tiled.state_of(states, slot);
        std::fill_n(to, size, 0.0f);
        subtract_outer_products(tiled, item, tile, factors, to);
    };
    add(tiled.states_m, w);
    add(tiled.states_s, w + tiled.sources);
}

// The sums become the states before them: S after a tile is h S + its sum, M is a M + b S + its sum.
void scan_strip(const TiledChain& tiled, const cpu::Item& item) {
    const StripChain& chain = tiled.chain;
    const int64_t at = item.index, size = chain.strip_size();
    if (tiled.tiling.tokens().first == 0) chain.load_initial(at);
    float *const m = chain.m_of(at), *const s = chain.s_of(at);
    for (int64_t tile = 0; tile < tiled.tiles() && !item.stop.stop_requested(); ++tile) {
        const int64_t slot = tiled.strip_slot(at, tile);
        const float* const scalars = tiled.ends_of(tiled.slot(at / chain.strips(), tile)) + 2 * tiled.sources;
        float* const sum_m = tiled.state_of(tiled.states_m, slot);
        float* const sum_s = tiled.state_of(tiled.states_s, slot);
        if (tiled.tiling.opening(tile) == tile) chain.put_boundary(at, tiled.tiling.at(tile).first, m);
        cpu::combine(sum_m, 1, sum_m, scalars[0], m, size);
        cpu::combine(sum_m, 1, sum_m, scalars[1], s, size);
        cpu::combine(sum_s, 1, sum_s, scalars[2], s, size);
        std::swap_ranges(m, m + size, sum_m);
        std::swap_ranges(s, s + size, sum_s);
        ++item.tally.combines;
    }
    if (tiled.tiling.tokens().last == chain.length) chain.put_final(at);
}

void add_sums(cpu::PlanBuilder& builder, const TiledChain& tiled) {
    builder.launch(describe::sum_tiles(tiled.words()), tiled.chain.sides() * side("tiles", tiled.tiles()),
                   [&tiled](const cpu::Item& item) {
                       sum_tile(tiled, item.index / tiled.tiles(), item.index % tiled.tiles());
                   });
    builder.launch(describe::scan_tiles(tiled.words()), tiled.chain.sides(),
                   [&tiled](const cpu::Item& item) { scan_strip(tiled, item); });
}

void add_matrix_chunks(cpu::PlanBuilder& builder, const CpuJob& job, Range tokens, bool scans_sums,
                       float* room) {
    Pieces pieces(room);
    const TiledChain& tiled = builder.keep(tile_matrix(job, tokens, usual_tile, pieces));
    add_prepare(builder, tiled);
    if (scans_sums)
        add_sums(builder, tiled);
    else
        add_walk(builder, tiled);
    add_read(builder, tiled);
}

}  // namespace

void forward::chunkwise_gd(cpu::PlanBuilder& builder, const CpuJob& job, Range tokens, float* room) {
    switch (job.rule->state) {
        case State::matrix:
            return add_matrix_chunks(builder, job, tokens, false, room);
        case State::slots:
            return add_lattice_chunks(builder, job, tokens, room);
        case State::trellis:
            return add_trellis_chunks(builder, job, tokens, room);
    }
}

int64_t room::chunkwise_gd(const CpuJob& job, Range tokens) {
    switch (job.rule->state) {
        case State::matrix:
            return matrix_room(job, tokens, usual_tile);
        case State::slots:
            return lattice_gla(job, tokens);
        case State::trellis:
            return room_of_trellis(job, tokens);
    }
    return 0;
}

void forward::atlas_parallel(cpu::PlanBuilder& builder, const CpuJob& job, Range tokens, float* room) {
    add_matrix_chunks(builder, job, tokens, !job.rule->reads_memory, room);
}

}  // namespace sawtooth::memory
