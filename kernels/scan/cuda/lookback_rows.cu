// y_t = x_0 o x_1 o … o x_t along L of [B, L, 1]: one pass with decoupled look-back on two levels.
//
// A warp scans TILES neighbouring tiles of BLOCK_SIZE steps (rows.cuh) as one. A thread block owns a chunk,
// the tiles of its WARPS warps, which exchange their totals in shared memory. Chunks look back (lookback.cuh)
// at the totals A of those before them in their group of 32, and the groups at each other:
//
//   group       0                      1
//   chunk       0   1   …  30  31      32  33  34 (looks)
//   published   A0  A1  …  A30         A32 A33            every chunk but the last of its group
//               T0 = A0 o … o A31, P0                     the last one: total, then prefix of the group
//
//   prefix before chunk 34 = P0 o (A32 o A33)             P_g = P_(g-1) o T_g
//
// So the chunks in flight, several hundred, are two looks away from a prefix. Tickets go through all rows
// before any row gets its next chunk.
//
// Defines: OP, X (storage of the inputs), Y (of y), BLOCK_SIZE, TILES, VECTOR, WARPS, FLIPPED, THREADS,
// SHARED_BYTES (of the values; 0 if they are in registers).

#include "kernels/cuda/device/either.cuh"
#include "kernels/cuda/device/lookback.cuh"
#include "kernels/cuda/device/sync.cuh"
#include "kernels/scan/cuda/rows.cuh"

using namespace sawtooth;
using namespace sawtooth::scan;

using State = OP::State;
using Tile = Rows<OP, TILES * BLOCK_SIZE, VECTOR>;
using InShared = Tile::InShared<device::X, FLIPPED, THREADS>;
using InRegisters = Tile::InRegisters<device::X, FLIPPED>;
using Values = device::Either<(SHARED_BYTES > 0), InShared, InRegisters>::Type;
using Board = device::Lookback<State, 1, 1>;
constexpr int64_t chunk = int64_t{WARPS} * TILES * BLOCK_SIZE;

// The total of warps 0 … count - 1, count > 0.
__device__ State total_of_warps(const State (&totals)[WARPS], int count) {
    State total = totals[0];
    for (int warp = 1; warp < count; ++warp) total = OP::join(total, totals[warp]);
    return total;
}

static_assert(THREADS == 32 * WARPS && (SHARED_BYTES == 0 || SHARED_BYTES == InShared::bytes));

// Publishes the total of chunk `index` of a row and returns the prefix before it. For a whole warp.
__device__ State look_back(const Given<LookbackBoard>& given, int batch, int index, uint32_t run,
                           const State& total) {
    const auto chunks = static_cast<int>((given.length + chunk - 1) / chunk);
    const int groups = (chunks + chunks_of_group - 1) / chunks_of_group;
    const int group = index / chunks_of_group, place = index % chunks_of_group;
    auto* const parts = static_cast<Board::Part*>(given.board);
    const Board of_chunks(parts, batch, chunks, run);
    const Board of_groups(parts + given.batch * chunks * Board::parts, batch, groups, run);

    const bool is_last = place + 1 == chunks_of_group;
    if (!is_last) of_chunks.publish_total(index, total);
    const State within = place > 0 ? of_chunks.total_of(index - place, place, OP::join) : OP::identity();
    const State of_group = place > 0 ? OP::join(within, total) : total;
    if (is_last) of_groups.publish_total(group, of_group);
    const State before = of_groups.prefix_before(group, start_state<OP>(given.initial, batch), OP::join);
    if (is_last) of_groups.publish_prefix(group, OP::join(before, of_group));
    return place > 0 ? OP::join(before, within) : before;
}

// Grid: ceil(L / (WARPS * TILES * BLOCK_SIZE)) * B. The ticket of a block selects its chunk.
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
    const int64_t first = index * chunk + warp * TILES * BLOCK_SIZE;
    const Geometry<FLIPPED> geometry{given.length, 1};

    Values values;
    State inclusive[Tile::passes];
    values.load(given.in, geometry, batch, first);
    Tile::fold(values, inclusive);
    const State mine = Tile::total(inclusive);
    if (device::lane_of_thread() == 0) warp_total[warp] = mine;
    device::sync_block();  // the warps' totals are visible

    State before = OP::identity();
    if (warp > 0) {
        before = total_of_warps(warp_total, warp);
    } else {
        const State total = total_of_warps(warp_total, WARPS);
        const State prefix = look_back(given, batch, index, ticket.run, total);
        if (device::lane_of_thread() == 0) before_chunk = prefix;
    }
    device::sync_block();  // the prefix of the chunk is visible
    const State carry = warp > 0 ? OP::join(before_chunk, before) : before_chunk;
    Tile::advance_and_store<device::Y>(carry, values, inclusive, geometry, batch, first, given.y);
}
