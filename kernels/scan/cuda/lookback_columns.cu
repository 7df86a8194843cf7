// y_t = x_0 o x_1 o … o x_t along L of [B, L, D], for D > 1 or complex numbers: one pass with decoupled
// look-back.
//
// A thread block draws a ticket for a tile of BLOCK_SIZE steps and UNITS * VECTOR channels (columns.cuh),
// reads and keeps it, publishes its totals, looks back for its prefix (lookback.cuh) and writes y: memory is
// read once and written once. A sequence is a strip of channels of one batch item. Tickets go through all
// sequences before any sequence gets its next tile, so the sequences advance together and few tiles lie
// between a tile and the nearest published prefix.
//
// Defines: OP, X (storage of the inputs), Y (of y), BLOCK_SIZE, VECTOR, UNITS, WARPS, SHARED_ROWS,
// MIN_BLOCKS, FLIPPED, THREADS, SHARED_BYTES (of the rows in shared memory).

#include "kernels/cuda/device/lookback.cuh"
#include "kernels/cuda/device/sync.cuh"
#include "kernels/scan/cuda/columns.cuh"

using namespace sawtooth;
using namespace sawtooth::scan;

using State = OP::State;
using Tile = Columns<OP, device::X, BLOCK_SIZE, VECTOR, UNITS, WARPS, SHARED_ROWS>;
// A warp looks back for 32 channels, one per lane, at `ahead` tiles at once (more if channels are fewer).
constexpr int ahead = 4;
constexpr int lookers = Tile::width < 32 ? Tile::width : 32;
using Board = device::Lookback<State, lookers, ahead>;

struct Turn {
    uint32_t run;
    int tile, batch, strip;
};

static_assert(THREADS == 32 * WARPS && SHARED_BYTES == Tile::shared_row_bytes);

// Grid: tiles * B * ceil(D / (UNITS * VECTOR)). The ticket of a block selects its tile.
extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS) lookback(Given<LookbackBoard> given) {
    __shared__ Turn shared_turn;
    __shared__ Tile::Shared shared;

    const auto strips = static_cast<int>((given.channels + Tile::width - 1) / Tile::width);
    if (threadIdx.x == 0) {
        const device::Ticket ticket = device::draw_ticket(given.counter, gridDim.x);
        const auto sequences = static_cast<uint32_t>(given.batch * strips);
        const uint32_t sequence = ticket.number % sequences;
        shared_turn = {ticket.run, static_cast<int>(ticket.number / sequences),
                       static_cast<int>(sequence / strips), static_cast<int>(sequence % strips)};
    }
    device::sync_block();  // the ticket is visible
    const Turn turn = shared_turn;
    const int64_t first = int64_t{turn.tile} * BLOCK_SIZE;
    const int64_t column = int64_t{turn.strip} * Tile::width + Tile::unit() * VECTOR;
    const Geometry<FLIPPED> geometry{given.length, given.channels};

    Tile::Kept kept;
    Tile::load(given.in, geometry, turn.batch, first, column, kept);
    const Tile::States inclusive = Tile::fold(kept, shared);
    device::sync_block();  // the warps' totals are visible

    const Tile::States before = Tile::before_in_tile(inclusive, shared);
    constexpr int looking_warps = Tile::width / lookers;
    static_assert(looking_warps <= WARPS);
    if (device::warp_of_thread() < looking_warps) {
        const auto tiles = static_cast<int>((given.length + BLOCK_SIZE - 1) / BLOCK_SIZE);
        const int channel = (device::warp_of_thread() * 32 + device::lane_of_thread()) % Tile::width;
        const int64_t column = int64_t{turn.strip} * Tile::width + channel;
        const int64_t sequence = (int64_t{turn.batch} * strips + turn.strip) * looking_warps;
        const Board entries(static_cast<Board::Part*>(given.board), sequence + device::warp_of_thread(),
                            tiles, turn.run);
        const State total = Tile::total_of_warps(shared, channel, WARPS);
        const bool is_last = turn.tile + 1 == tiles;  // no tile looks back at it
        if (turn.tile > 0 && !is_last) entries.publish_total(turn.tile, total);
        const State start = start_state<OP>(column < given.channels ? given.initial : nullptr,
                                            int64_t{turn.batch} * given.channels + column);
        const State prefix = entries.prefix_before(turn.tile, start, OP::join);
        if (!is_last) entries.publish_prefix(turn.tile, OP::join(prefix, total));
        shared.before_tile[channel] = prefix;  // every lane of the channel writes the same value
    }
    device::sync_block();  // the prefix of the tile is visible

    Tile::States state = Tile::carry(before, shared);
    Tile::for_each_row(kept, geometry, turn.batch, first, column,
                       [&](int, int64_t at, const Tile::Input(&in)[VECTOR]) {
                           OP::Output out[VECTOR];
#pragma unroll
                           for (int v = 0; v < VECTOR; ++v) {
                               state.channel[v] = OP::advance(state.channel[v], in[v]);
                               out[v] = OP::finish(state.channel[v]);
                           }
                           store_y<device::Y>(given.y, at, out);
                       });
}
