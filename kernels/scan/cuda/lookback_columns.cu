// y_t = x_0 o x_1 o … o x_t along L of [B, L, D], for D > 1 or complex numbers: one pass with decoupled
// look-back.
//
// A thread block draws a ticket for a tile of BLOCK_SIZE steps and UNITS * VECTOR channels (columns.cuh),
// reads and keeps it, publishes its totals, looks back for its prefix (lookback.cuh) and writes y: memory is
// read once and written once. A sequence is a strip of channels of one batch item. Tickets go through all
// sequences before any sequence gets its next tile, so the sequences advance together and few tiles lie
// between a tile and the nearest published prefix.
//
// A block that waits for its ticket reads nothing yet. Blocks mostly start in the order of blockIdx, so
// meanwhile the tile of that number is brought into L2. In any order all tiles are: a block with another
// ticket finds its tile brought by another block, or reads it itself.
//
// Defines: OP, X (storage of the inputs), Y (of y), BLOCK_SIZE, VECTOR, UNITS, WARPS, SHARED_ROWS, AHEAD,
// MIN_BLOCKS, FLIPPED, THREADS, SHARED_BYTES (of the rows in shared memory).

#include "kernels/cuda/device/lookback.cuh"
#include "kernels/cuda/device/sync.cuh"
#include "kernels/scan/cuda/columns.cuh"

using namespace sawtooth;
using namespace sawtooth::scan;

using State = OP::State;
using Tile = Columns<OP, device::X, BLOCK_SIZE, VECTOR, UNITS, WARPS, SHARED_ROWS>;
// A warp looks back for 32 channels, one per lane, at AHEAD tiles at once (more if channels are fewer).
constexpr int lookers = Tile::width < 32 ? Tile::width : 32;
using Board = device::Lookback<State, lookers, AHEAD>;

constexpr int line_bytes = 128;  // of the L2 cache
// With rows in shared memory it is no gain: up to 3 % slower on an H200.
constexpr bool prefetches =
    SHARED_ROWS == 0 && Tile::width * Tile::parts * sizeof(device::X::Word) == line_bytes;

// The tile of a ticket: its place in its sequence, and the sequence.
struct Turn {
    int tile, batch, strip;
};
__device__ Turn turn_of(uint32_t number, int64_t batches, int strips) {
    const auto sequences = static_cast<uint32_t>(batches * strips);
    const uint32_t sequence = number % sequences;
    return {static_cast<int>(number / sequences), static_cast<int>(sequence / strips),
            static_cast<int>(sequence % strips)};
}

// Starts to bring a tile into L2, a line per row and plane.
__device__ void prefetch(const Inputs& from, Geometry<FLIPPED> geometry, const Turn& turn) {
    const int64_t first = int64_t{turn.tile} * BLOCK_SIZE;
    for (int64_t step = first + threadIdx.x; step < first + BLOCK_SIZE && step < geometry.length;
         step += THREADS)
#pragma unroll
        for (int p = 0; p < Tile::planes_in; ++p) {
            const auto* const row =
                static_cast<const device::X::Word*>(from.plane[p]) +
                geometry.at(turn.batch, step, int64_t{turn.strip} * Tile::width) * Tile::parts;
            asm volatile("prefetch.global.L2 [%0];" ::"l"(row));
        }
}

static_assert(THREADS == 32 * WARPS && SHARED_BYTES == Tile::shared_row_bytes);

// Grid: tiles * B * ceil(D / (UNITS * VECTOR)). The ticket of a block selects its tile.
extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS) lookback(Given<LookbackBoard> given) {
    __shared__ device::Ticket shared_ticket;
    __shared__ Tile::Shared shared;

    const auto strips = static_cast<int>((given.channels + Tile::width - 1) / Tile::width);
    const Geometry<FLIPPED> geometry{given.length, given.channels};
    if constexpr (prefetches) prefetch(given.in, geometry, turn_of(blockIdx.x, given.batch, strips));
    if (threadIdx.x == 0) shared_ticket = device::draw_ticket(given.counter, gridDim.x);
    device::sync_block();  // the ticket is visible
    const device::Ticket ticket = shared_ticket;
    const Turn turn = turn_of(ticket.number, given.batch, strips);
    const int64_t first = int64_t{turn.tile} * BLOCK_SIZE;
    const int64_t column = int64_t{turn.strip} * Tile::width + Tile::unit() * VECTOR;

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
                            tiles, ticket.run);
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
