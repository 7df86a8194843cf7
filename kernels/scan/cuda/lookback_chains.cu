// y_t = x_0 o x_1 o … o x_t along L of [B, L, 1] for many rows: every warp walks its own row tile by tile and
// keeps in a register the prefix that other kernels must look back for. The chain of prefixes is that of
// lookback_rows.cu, P_k = P_(k-1) o A_k, walked by one warp: no warp waits for another, and there are enough
// rows to keep memory busy on every SM.
//
// Defines: OP, X (storage of the inputs), Y (of y), BLOCK_SIZE, VECTOR, WARPS, FLIPPED, THREADS.

#include "kernels/scan/cuda/rows.cuh"

using namespace sawtooth;
using namespace sawtooth::scan;

using Tile = Rows<OP, BLOCK_SIZE, VECTOR>;

static_assert(THREADS == 32 * WARPS);

// Grid: ceil(B / WARPS). Warp w of the grid owns row w.
extern "C" __global__ void __launch_bounds__(THREADS) lookback(Scan given) {
    const int64_t batch = int64_t{blockIdx.x} * WARPS + device::warp_of_thread();
    if (batch >= given.batch) return;
    const Geometry<FLIPPED> geometry{given.length, 1};
    OP::State carry = start_state<OP>(given.initial, batch);
    for (int64_t first = 0; first < given.length; first += BLOCK_SIZE) {
        Tile::InRegisters<device::X, FLIPPED> values;
        OP::State inclusive[Tile::passes];
        values.load(given.in, geometry, batch, first);
        Tile::fold(values, inclusive);
        carry = Tile::advance_and_store<device::Y>(carry, values, inclusive, geometry, batch, first, given.y);
    }
}
