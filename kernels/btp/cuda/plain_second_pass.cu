// The second of two launches for blocks of any length, on CUDA cores (plain.cuh): x_i += (a_0 … a_i) c. The
// first launch left v in x, and the last v of every block in the slot of the next block among the carries.
// For order two that is the carry. For order full a thread block walks along its row, chains the carries and
// stores them.
//
// Defines: those of plain.cuh.

#include "kernels/btp/cuda/plain.cuh"

using namespace sawtooth;
using namespace sawtooth::btp;

constexpr bool walks = order == Order::full;

// Grid: ceil(L / (BLOCKS BLOCK)) * B H * ceil(DH / 8); to walk, B H * ceil(DH / 8). A row is 8 channels of a
// head, a tile of which is a step of the walk.
//   reads and writes   x [B H, DH, L]; with order full also carry [B H, blocks, DH]
//   reads              a [B H, L] (SHARED_GATES: [H, L]); with order two also carry
// A thread reads the slot after a block before the barriers of chain(), and another one stores that slot
// after them, in this step or the next one.
extern "C" __global__ void __launch_bounds__(THREADS) second_pass(MoreArguments given) {
    __shared__ float gates[THREADS], decays[THREADS];
    __shared__ Channels values[THREADS];
    const auto stretches = static_cast<int>((given.all.length + positions - 1) / positions);
    const Stretch stretch = Stretch::by_block(walks ? 1 : stretches);
    const auto heads = static_cast<int>(given.all.heads);
    const Thread own{};
    Place place{given.all, stretch.row % heads, stretch.row / heads * channels,
                int64_t{stretch.index} * positions};
    FromStepBefore from{first_link(given, place.head, place.channel + own.index % channels)};
    for (int step = 0; step < (walks ? stretches : 1); ++step, place.first += positions) {
        device::sync_block();  // all threads have read the gates and carries of the step before
        gates[own.index] = load_gate(given, place, own);
        if (walks && own.is_last()) values[own.index] = load_carry(given.carry, place, own.block + 1);
        device::sync_block();  // the gates of the tile are visible
        const float upto = decays[own.index] = Decays(gates, own).upto;
        Channels carry;
        if constexpr (walks) {
            carry = chain<false>(decays, values, own, from);
            if (own.is_first()) store_carry(carry, given.carry, place, own.block);
        } else {
            carry = load_carry(given.carry, place, own.block);
        }
        Channels x = load<OutStorage>(given.x, place, own);
        x.add(upto, carry);
        store<OutStorage>(x, given.x, place, own);
    }
}
