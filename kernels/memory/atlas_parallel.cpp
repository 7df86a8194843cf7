// atlas_parallel: what atlas adds does not depend on its memory, so that all right-hand sides come at once,
// then what every tile adds, then a scan of these sums, first of the momentum and with it of the memory, then
// what tokens read. All but the scan are parallel over the whole sequence. The errors of atlas_omega do
// depend on the boundary's memory: it walks as chunkwise_gd does, and gives its numbers.

#include "kernels/memory/launches.h"
#include "kernels/memory/matrix_chain.h"
#include "kernels/memory/strategies.h"

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
void scan_item(const TiledChain& tiled, const cpu::Item& item) {
    const Chain& chain = tiled.chain;
    const int64_t at = item.index, size = chain.strip_size();
    if (tiled.tiling.tokens().first == 0) chain.load_initial(at);
    float *const m = chain.strip_of(chain.m, at), *const s = chain.strip_of(chain.s, at);
    for (int64_t tile = 0; tile < tiled.tiles() && !item.stop.stop_requested(); ++tile) {
        const int64_t slot = tiled.strip_slot(at, tile);
        const float* const scalars = tiled.ends_of(tiled.slot(at / chain.strips(), tile)) + 2 * tiled.sources;
        float* const sum_m = tiled.state_of(tiled.states_m, slot);
        float* const sum_s = tiled.state_of(tiled.states_s, slot);
        if (tiled.tiling.opening(tile) == tile) chain.put_boundary(at, tiled.tiling.at(tile).first, m);
        combine(sum_m, 1, sum_m, scalars[0], m, size);
        combine(sum_m, 1, sum_m, scalars[1], s, size);
        combine(sum_s, 1, sum_s, scalars[2], s, size);
        std::swap_ranges(m, m + size, sum_m);
        std::swap_ranges(s, s + size, sum_s);
        ++item.tally.combines;
    }
    if (tiled.tiling.tokens().last == chain.length) chain.put_final(at);
}

void add_sums(Plan& plan, const SharedChain& tiled) {
    const Chain& chain = tiled->chain;
    const Shape states = {chain.batch, tiled->tiles(), chain.rows, chain.columns};
    const auto tokens = static_cast<double>(chain.batch * tiled->tiling.tokens().count());
    const auto size = static_cast<double>(chain.rows * chain.columns);
    const auto state_bytes = 8 * static_cast<double>(count_of(states));
    add_launch(plan,
               describe("sum_tiles", "What every tile adds to momentum and memory, all at once.",
                        chain.items() * tiled->tiles(), "B * tiles * ceil(d / 16)",
                        {{"keys, transposed", {chain.batch, tiled->tiling.tokens().count(), chain.columns}}},
                        {{"sums of tiles", states}}, {state_bytes + 8 * tokens * 2, 4 * tokens * size}),
               [tiled](const cpu::Item& item) {
                   sum_tile(*tiled, item.index / tiled->tiles(), item.index % tiled->tiles());
               });
    add_launch(plan,
               describe("scan_tiles", "The sums of tiles are scanned, momentum and memory together.",
                        chain.items(), "B * ceil(d / 16)", {{"sums of tiles", states}},
                        {{"states of tiles", states}}, {2 * state_bytes, state_bytes}),
               [tiled](const cpu::Item& item) { scan_item(*tiled, item); });
}

}  // namespace

void forward::atlas_parallel(Plan& plan, const Job& state, Range tokens, Pulse pulse, float* room) {
    if (state.rule == UpdateRule::atlas_omega) return chunkwise_gd(plan, state, tokens, pulse, room);
    Pieces pieces(room);
    const SharedChain tiled =
        std::make_shared<const TiledChain>(tile_matrix(state, tokens, pulse, usual_tile, false, pieces));
    add_prepare(plan, tiled, "right_hand_sides", "All w = W silu([k; v]) at once, and the tiles' gates.");
    add_sums(plan, tiled);
    add_read(plan, tiled, "read");
}

int64_t room::atlas_parallel(const Job& job, Range tokens, Pulse pulse) {
    return chunkwise_gd(job, tokens, pulse);
}

}  // namespace sawtooth::memory
