// y_t = x_0 o x_1 o … o x_t along L of [B, L, 1] where rows are many: every warp walks a row of its own, tile
// after tile, and hands on in a register the prefix that others must look back for. The same chain of
// prefixes as in lookback_rows.cu, P_k = P_(k-1) o A_k, walked by one warp: nobody waits for anybody, and
// there are rows enough to keep all multiprocessors loading.
//
// Defines: OP, X (storage of the inputs), Y (of y), BLOCK_SIZE, VECTOR, WARPS, FLIPPED.

#include "kernels/scan/rows.cuh"

using namespace sawtooth;
using namespace sawtooth::scan;

using Tile = Rows<OP, BLOCK_SIZE, VECTOR>;

extern "C" __global__ void __launch_bounds__(32 * WARPS)
    lookback(const void* input_0, const void* input_1, const float* initial, void* y, int64_t length,
             int64_t batches) {
    const int64_t batch = int64_t{blockIdx.x} * WARPS + device::warp_of_thread();
    if (batch >= batches) return;
    const Geometry<FLIPPED> geometry{length, 1};
    OP::State carry = start_state<OP>(initial, batch);
    for (int64_t first = 0; first < length; first += BLOCK_SIZE) {
        OP::Input in[Tile::passes][VECTOR];
        OP::State inclusive[Tile::passes];
        Tile::load<device::X>(input_0, input_1, geometry, batch, first, in);
        Tile::fold(in, inclusive);
        carry = Tile::advance_and_store<device::Y>(carry, in, inclusive, geometry, batch, first, y);
    }
}
