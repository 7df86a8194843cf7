// The forward pass for blocks of any length, on CUDA cores (plain.cuh). The first pass of two_pass leaves v
// in x, and the last v of every block in the slot of the next block among the carries; fused also adds the
// carries. With order two the first block of a tile is the one before the thread block's own, computed again
// for its last v; order full chains the carries by decoupled look-back. fused.cu and second_pass.cu have
// examples.
//
// Defines: those of plain.cuh; CONSTRUCTION (how Lmat is built), ADDS_CARRIES (false: the first pass of two
// launches, for orders two and full).

#include "kernels/btp/cuda/plain.cuh"

using namespace sawtooth;
using namespace sawtooth::btp;

constexpr int repeats = ADDS_CARRIES && order == Order::two ? 1 : 0;
constexpr bool chains = ADDS_CARRIES && order == Order::full;

// Returns the carry into the thread's block. `v` is stored in `values`, which other threads have read.
__device__ Channels find_carry(const MoreArguments& given, const Stretch& stretch, const Place& place,
                               Thread own, const Channels& v, const float* gates, float* numbers,
                               Channels* values) {
    Channels carry = {};
    if constexpr (ADDS_CARRIES && order != Order::one) {
        device::sync_block();  // all threads have multiplied
        values[own.index] = v;
        if constexpr (chains) {
            numbers[own.index] = Decays(gates, own).upto;
            const int channel = place.channel + own.index % channels;
            FromBlocksBefore<channels> from(given.chain, stretch, stretch.row, false,
                                            first_link(given, place.head, channel));
            return chain<false>(numbers, values, own, from);
        } else {
            device::sync_block();  // the last v of the block before is visible
            if (own.block > 0) carry = values[own.start - 1];
        }
    }
    if (CARRY0 && place.first + own.start == 0) carry = load_first_carry(given.carry0, place);
    return carry;
}

// Grid: ceil(L / ((BLOCKS - repeats) BLOCK)) * B H * ceil(DH / 8). A row is 8 channels of a head,
// row = channel / 8 * B H + head; a thread block owns a tile of it.
//   reads a [B H, L] (SHARED_GATES: [H, L]), u [B H, DH, L], CARRY0: carry0 [B H, DH]
//   writes x [B H, DH, L], carry [B H, blocks, DH]
extern "C" __global__ void __launch_bounds__(THREADS) forward(MoreArguments given) {
    __shared__ float gates[THREADS], numbers[THREADS];
    __shared__ Channels values[THREADS];
    constexpr int64_t step = (BLOCKS - repeats) * BLOCK;
    const auto stretches = static_cast<int>((given.all.length + step - 1) / step);
    const Stretch stretch =
        chains ? Stretch::by_ticket(given.chain, stretches, false) : Stretch::by_block(stretches);
    const auto heads = static_cast<int>(given.all.heads);
    const Place place{given.all, stretch.row % heads, stretch.row / heads * channels,
                      stretch.index * step - repeats * BLOCK};
    const Thread own{};
    gates[own.index] = load_gate(given, place, own);
    values[own.index] = load<Storage>(given.u, place, own);
    device::sync_block();  // the gates and inputs of the tile are visible
    numbers[own.index] = CONSTRUCTION::shared_number(gates, own);
    device::sync_block();  // so are the numbers of its rows
    Channels x = multiply<CONSTRUCTION>(numbers, values, own);
    const Channels carry = find_carry(given, stretch, place, own, x, gates, numbers, values);
    if (own.block < repeats) return;
    if constexpr (ADDS_CARRIES) {
        if (own.is_first()) store_carry(carry, given.carry, place, own.block);
        if constexpr (order != Order::one) x.add(Decays(gates, own).upto, carry);
    } else {
        if (own.is_last()) store_carry(x, given.carry, place, own.block + 1);
        if (place.first + own.index == 0) store_carry(carry, given.carry, place, 0);
    }
    store<OutStorage>(x, given.x, place, own);
}
