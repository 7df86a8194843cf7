// Phase one of the three-phase scan for D = 1 (three_phase.cu has the others): every warp scans a tile of
// BLOCK_SIZE neighbouring steps by itself (rows.cuh) and keeps its total.
//
// local: states [B, L], one array per plane; may be y if there is one plane. totals: [B, blocks].
//
// Defines: OP, X (storage of the inputs), BLOCK_SIZE, VECTOR, WARPS, FLIPPED, THREADS.

#include "kernels/scan/cuda/rows.cuh"

using namespace sawtooth;
using namespace sawtooth::scan;

using State = OP::State;
using Tile = Rows<OP, BLOCK_SIZE, VECTOR>;

static_assert(THREADS == 32 * WARPS);

// Grid: ceil(B * blocks / WARPS). Warp w of the grid owns tile w % blocks of row w / blocks.
extern "C" __global__ void __launch_bounds__(THREADS) block_scan(Given<Phases> given) {
    const int64_t index = int64_t{blockIdx.x} * WARPS + device::warp_of_thread();  // [batch, tile]
    if (index >= given.batch * given.blocks) return;
    const int64_t batch = index / given.blocks, first = index % given.blocks * BLOCK_SIZE;
    const Geometry<FLIPPED> geometry{given.length, 1};

    Tile::InRegisters<device::X, FLIPPED> values;
    State inclusive[Tile::passes];
    values.load(given.in, geometry, batch, first);
    Tile::fold(values, inclusive);
    const State total = Tile::total(inclusive);
    if (device::lane_of_thread() == 0) store_states(given.totals, index, {total});

    Tile::for_each_pass(OP::identity(), inclusive, [&](int pass, State state) {
        const bool is_start = pass == 0 && device::lane_of_thread() == 0;
        State out[VECTOR];
#pragma unroll
        for (int v = 0; v < VECTOR; ++v) {
            const State here = OP::lift(values.at[pass][v]);
            state = is_start && v == 0 ? here : OP::join(state, here);
            out[Tile::index<FLIPPED>(v)] = state;
        }
        const int64_t step = Tile::step_of_lane(first, pass);
        if (step < given.length) store_states(given.local, Tile::place(geometry, batch, step), out);
    });
}
