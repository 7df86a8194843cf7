// y_t = x_0 o x_1 o … o x_t along L of [B, L, 1]: one pass with decoupled look-back.
//
// A warp scans a tile of BLOCK_SIZE neighbouring steps (rows.cuh). The WARPS tiles of a thread block are
// adjacent and exchange their totals in shared memory; the look-back (lookback.cuh) goes from block to block,
// over chunks of WARPS * BLOCK_SIZE steps. Tickets go through all rows before any row gets its next chunk.
//
// Defines: OP, X (storage of the inputs), Y (of y), BLOCK_SIZE, VECTOR, WARPS, FLIPPED, THREADS.

#include "kernels/cuda/device/lookback.cuh"
#include "kernels/cuda/device/sync.cuh"
#include "kernels/scan/cuda/rows.cuh"

using namespace sawtooth;
using namespace sawtooth::scan;

using State = OP::State;
using Tile = Rows<OP, BLOCK_SIZE, VECTOR>;
constexpr int ahead = 2;  // times 32 chunks per look-back
using Board = device::Lookback<State, 1, ahead>;
constexpr int64_t chunk = int64_t{WARPS} * BLOCK_SIZE;

// The total of warps 0 … count - 1, count > 0.
__device__ State total_of_warps(const State (&totals)[WARPS], int count) {
    State total = totals[0];
    for (int warp = 1; warp < count; ++warp) total = OP::join(total, totals[warp]);
    return total;
}

static_assert(THREADS == 32 * WARPS);

// Grid: ceil(L / (WARPS * BLOCK_SIZE)) * B. The ticket of a block selects its chunk.
extern "C" __global__ void __launch_bounds__(THREADS) lookback(Given<LookbackBoard> given) {
    __shared__ device::Ticket shared_ticket;
    __shared__ State warp_total[WARPS];
    __shared__ State before_chunk;

    if (threadIdx.x == 0) shared_ticket = device::draw_ticket(given.counter, gridDim.x);
    device::sync_block();  // the ticket is visible
    const auto batches = static_cast<uint32_t>(given.batch);
    const device::Ticket ticket = shared_ticket;
    const auto batch = static_cast<int>(ticket.number % batches);
    const auto index = static_cast<int>(ticket.number / batches);
    const int warp = device::warp_of_thread();
    const int64_t first = index * chunk + warp * BLOCK_SIZE;
    const Geometry<FLIPPED> geometry{given.length, 1};

    OP::Input in[Tile::passes][VECTOR];
    State inclusive[Tile::passes];
    Tile::load<device::X>(given.in, geometry, batch, first, in);
    Tile::fold(in, inclusive);
    const State mine = Tile::total(inclusive);
    if (device::lane_of_thread() == 0) warp_total[warp] = mine;
    device::sync_block();  // the warps' totals are visible

    State before = OP::identity();
    if (warp > 0) {
        before = total_of_warps(warp_total, warp);
    } else {
        const auto chunks = static_cast<int>((given.length + chunk - 1) / chunk);
        const Board entries(static_cast<Board::Part*>(given.board), batch, chunks, ticket.run);
        const State total = total_of_warps(warp_total, WARPS);
        const bool is_last = index + 1 == chunks;  // no chunk looks back at it
        if (index > 0 && !is_last) entries.publish_total(index, total);
        const State prefix = entries.prefix_before(index, start_state<OP>(given.initial, batch), OP::join);
        if (!is_last) entries.publish_prefix(index, OP::join(prefix, total));
        if (device::lane_of_thread() == 0) before_chunk = prefix;
    }
    device::sync_block();  // the prefix of the chunk is visible
    const State carry = warp > 0 ? OP::join(before_chunk, before) : before_chunk;
    Tile::advance_and_store<device::Y>(carry, in, inclusive, geometry, batch, first, given.y);
}
