// Phase one of the three-phase scan for D > 1 or complex numbers (three_phase.cu has the others): every
// thread block scans a tile of BLOCK_SIZE steps and UNITS * VECTOR channels by itself (columns.cuh) and keeps
// its totals.
//
// local: states [B, L, D], one array per plane; may be y if there is one plane. totals: [B, blocks, D].
//
// Defines: OP, X (storage of the inputs), BLOCK_SIZE, VECTOR, UNITS, WARPS, SHARED_ROWS, MIN_BLOCKS,
// FLIPPED, THREADS, SHARED_BYTES (of the rows in shared memory).

#include "kernels/cuda/device/sync.cuh"
#include "kernels/scan/cuda/columns.cuh"

using namespace sawtooth;
using namespace sawtooth::scan;

using Tile = Columns<OP, device::X, BLOCK_SIZE, VECTOR, UNITS, WARPS, SHARED_ROWS>;

static_assert(THREADS == 32 * WARPS && SHARED_BYTES == Tile::shared_row_bytes);

// Grid: B * blocks, ceil(D / (UNITS * VECTOR)). Block (x, y) owns tile x % blocks of sequence x / blocks.
extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS) block_scan(Given<Phases> given) {
    __shared__ Tile::Shared shared;
    const auto tiles = static_cast<uint32_t>(given.blocks);
    const int64_t batch = blockIdx.x / tiles, tile = blockIdx.x % tiles;
    const int64_t first = tile * BLOCK_SIZE;
    const int64_t strip_column = int64_t{blockIdx.y} * Tile::width;
    const int64_t column = strip_column + Tile::unit() * VECTOR;
    const Geometry<FLIPPED> geometry{given.length, given.channels};

    Tile::Kept kept;
    Tile::load(given.in, geometry, batch, first, column, kept);
    const Tile::States inclusive = Tile::fold(kept, shared);
    device::sync_block();  // the warps' totals are visible

    const int channel = static_cast<int>(threadIdx.x);
    if (channel < Tile::width && strip_column + channel < given.channels)
        store_states(given.totals, (batch * tiles + tile) * given.channels + strip_column + channel,
                     {Tile::total_of_warps(shared, channel, WARPS)});

    Tile::States state = Tile::before_in_tile(inclusive, shared);
    Tile::for_each_row(kept, geometry, batch, first, column,
                       [&](int row, int64_t at, const Tile::Input(&in)[VECTOR]) {
                           const bool is_start = row == 0 && Tile::is_first();
#pragma unroll
                           for (int v = 0; v < VECTOR; ++v) {
                               const OP::State here = OP::lift(in[v]);
                               state.channel[v] = is_start ? here : OP::join(state.channel[v], here);
                           }
                           store_states(given.local, at, state.channel);
                       });
}
