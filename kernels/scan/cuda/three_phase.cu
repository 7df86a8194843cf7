// Scan in three phases along L of [B, L, D]:
//   1  scan every block of BLOCK_SIZE steps by itself and keep its total (three_phase_columns.cu and
//      three_phase_rows.cu)
//   2  replace the totals by the prefix of every block
//   3  join the prefix to every position of the block
//
//   x        1  2 | 3  4 | 5        blocks of 2
//   1        1  3 | 3  7 | 5        totals   3  7  5
//   2                               before   start  3  10
//   3        1  3 | 6 10 | 15
//
// local: states [B, L, D] in the order of positions, one array per plane. totals: [B, blocks, D] in the order
// of the scan.
//
// Defines: OP, Y (storage of y), BLOCK_SIZE, LANES (of phase 3), UNITS (of phase 2), FLIPPED, THREADS.

#include "kernels/cuda/device/sync.cuh"
#include "kernels/scan/cuda/columns.cuh"
#include "kernels/scan/cuda/strips.cuh"

using namespace sawtooth;
using namespace sawtooth::scan;

using State = OP::State;
constexpr int total_warps = THREADS / 32;  // in phase 2
constexpr int total_rows = 8;              // per thread
using Totals =
    Columns<OnStates<OP>, device::f32, total_rows * total_warps * 32 / UNITS, 1, UNITS, total_warps>;

// One thread block per batch item and strip of UNITS channels walks the blocks, one tile of them at a time,
// and replaces every total by the prefix of its block.
// Grid: B, ceil(D / UNITS).
extern "C" __global__ void __launch_bounds__(THREADS) scan_of_block_sums(Given<Phases> given) {
    __shared__ Totals::Shared shared;
    constexpr int64_t tile = int64_t{total_rows} * total_warps * Totals::groups;
    const int64_t batch = blockIdx.x;
    const int64_t column = int64_t{blockIdx.y} * UNITS + Totals::unit();
    const Geometry<false> geometry{given.blocks, given.channels};
    const Inputs totals = {given.totals.plane[0], given.totals.plane[1]};
    State before_tile =
        start_state<OP>(column < given.channels ? given.initial : nullptr, batch * given.channels + column);
    for (int64_t first = 0; first < given.blocks; first += tile) {
        Totals::Kept kept;
        Totals::load(totals, geometry, batch, first, column, kept);
        const Totals::States inclusive = Totals::fold(kept, shared);
        device::sync_block();  // the warps' totals are visible
        Totals::States state = Totals::before_in_tile(inclusive, shared);
        state.channel[0] = Totals::is_first() ? before_tile : OP::join(before_tile, state.channel[0]);
        Totals::for_each_row(kept, geometry, batch, first, column,
                             [&](int, int64_t at, const State(&total)[1]) {
                                 store_states(given.totals, at, state.channel);
                                 state.channel[0] = OP::join(state.channel[0], total[0]);
                             });
        before_tile = OP::join(before_tile, Totals::total_of_warps(shared, Totals::unit(), total_warps));
        device::sync_block();  // all reads of the warps' totals are done
    }
}

// Grid: B * ceil(L / BLOCK_SIZE), ceil(D / LANES). A thread owns the positions that strips.cuh assigns.
extern "C" __global__ void __launch_bounds__(THREADS) add_block_prefixes(Given<Phases> given) {
    const Geometry<FLIPPED> geometry{given.length, given.channels};
    // Computed from the length as in for_each_position, so the compiler sees that both agree.
    const int64_t blocks = (given.length + BLOCK_SIZE - 1) / BLOCK_SIZE;
    const int64_t block = blockIdx.x % static_cast<uint32_t>(blocks);
    for_each_position<BLOCK_SIZE, LANES>(
        given.length, given.channels,
        [&](int64_t batch, int64_t step, int64_t column) {
            State before[1], local[1];
            load_states(given.totals, (batch * blocks + block) * given.channels + column, before);
            load_states(given.local, geometry.at(batch, step, column), local);
            return OP::finish(OP::join(before[0], local[0]));
        },
        [&](int64_t batch, int64_t step, int64_t column, OP::Output value) {
            store_y<device::Y>(given.y, geometry.at(batch, step, column), {value});
        });
}
