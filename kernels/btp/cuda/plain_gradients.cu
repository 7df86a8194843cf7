// Gradients of gates and inputs for blocks of any length, on CUDA cores (plain.cuh), by the formulas of
// gradients.cu, which has an example. With order two the last block of a tile is the one after the thread
// block's own, computed again for its dc; order full chains dc by decoupled look-back. In two launches the
// first one computes dc from each block alone, and for order full a thread block of the second one walks
// along a head.
//
// Defines: those of plain.cuh; READS_DC (the second of two launches).

#include "kernels/btp/cuda/plain.cuh"

using namespace sawtooth;
using namespace sawtooth::btp;

constexpr int repeats = order == Order::two && !READS_DC ? 1 : 0;
constexpr bool looks_back = order == Order::full && !READS_DC;
constexpr bool walks = order == Order::full && READS_DC;
constexpr int64_t tile_step = (BLOCKS - repeats) * BLOCK;

// What the threads of a tile share.
struct Shared {
    float gates[THREADS], decays[THREADS];
    Channels values[THREADS];
};

// Returns dc of the block after the thread's one. `r` is that of the thread; other threads read `values`.
template <class FromEarlier>
__device__ Channels find_gradient(const MoreArguments& given, const Place& place, Thread own,
                                  const Channels& r, float upto, Shared& shared, FromEarlier& from) {
    if constexpr (order == Order::one) {
        return {};
    } else if constexpr (order == Order::two && READS_DC) {
        return load_carry(given.dc, place, own.block + 1);
    } else {
        device::sync_block();  // all threads have multiplied
        shared.decays[own.index] = upto;
        if (own.is_first())
            shared.values[own.end] =
                walks ? load_carry(given.dc, place, own.block) : r.times(shared.gates[own.index]);
        if constexpr (order == Order::full) return chain<true>(shared.decays, shared.values, own, from);
        device::sync_block();  // dc of all blocks are visible
        return own.block + 1 < BLOCKS ? shared.values[own.end + BLOCK] : Channels{};
    }
}

// Computes the gradients of 8 channels of a tile. All threads must call this.
template <class FromEarlier>
__device__ void differentiate(const MoreArguments& given, const Place& place, Shared& shared,
                              FromEarlier& from) {
    const Thread own{};
    device::sync_block();  // all threads have left the channels or the tile before
    shared.gates[own.index] = load_gate(given, place, own);
    shared.values[own.index] = load<Storage>(given.dx, place, own);
    device::sync_block();  // the tile is visible
    const Decays decays(shared.gates, own);
    Channels r = multiply_transposed(shared.gates, shared.values, own);
    const Channels dc = find_gradient(given, place, own, r, decays.upto, shared, from);
    Channels w = r;
    w.add(decays.after, dc);
    if constexpr (order == Order::full) r = w;
    device::sync_block();  // all threads have read dx and dc
    shared.values[own.index] = load<Storage>(given.u, place, own);
    device::sync_block();  // u is visible
    const Channels v = multiply<masked_cumprod>(shared.gates, shared.values, own);
    device::sync_block();  // all threads have multiplied
    shared.values[own.index] = v;
    device::sync_block();  // v is visible to the next position
    if (!place.has(own) || own.index >= tile_step) return;
    store<Storage>(w, given.du, place, own);
    const Channels c = load_carry(given.carry, place, own.block);
    float sum = 0;
#pragma unroll
    for (int k = 0; k < channels; ++k) {
        if (!place.has_channel(k)) continue;
        if (own.index > own.start) sum = fmaf(w.at[k], shared.values[own.index - 1].at[k], sum);
        if (order != Order::one) sum = fmaf(r.at[k], decays.before * c.at[k], sum);
        if (CARRY0 && place.first + own.index == 0)
            given.dcarry0[place.head * given.all.width + place.channel + k] =
                shared.gates[own.index] * r.at[k];
    }
    float& da = given.da[place.head * given.all.length + place.first + own.index];
    da = place.channel == 0 ? sum : da + sum;  // this thread stored it before
}

// Grid: ceil(L / tile_step) * B H; to walk, B H. A thread block owns all channels of its positions, 8 at a
// time, so that da is summed without atomics and always in the same order.
//   reads    a [B H, L] (SHARED_GATES: [H, L]), u, dx [B H, DH, L], carry [B H, blocks, DH], READS_DC: dc, of
//            the same shape
//   writes   du [B H, DH, L], da [B H, L], CARRY0: dcarry0 [B H, DH]
extern "C" __global__ void __launch_bounds__(THREADS) gradients(MoreArguments given) {
    __shared__ Shared shared;
    const auto stretches = static_cast<int>((given.all.length + tile_step - 1) / tile_step);
    const Stretch stretch = looks_back ? Stretch::by_ticket(given.chain, stretches, true)
                                       : Stretch::by_block(walks ? 1 : stretches);
    for (int channel = 0; channel < given.all.width; channel += channels) {
        Place place{given.all, stretch.row, channel, stretch.index * tile_step};
        if constexpr (looks_back) {
            const int row = channel / channels * static_cast<int>(given.all.heads) + stretch.row;
            FromBlocksBefore<channels> from(given.chain, stretch, row, true, {1, 0});
            differentiate(given, place, shared, from);
            continue;
        }
        FromStepBefore from;
        for (int step = walks ? stretches - 1 : 0; step >= 0; --step) {
            if (walks) place.first = step * tile_step;
            differentiate(given, place, shared, from);
        }
    }
}

// The first of two launches computes dc from each block alone, for the second. The first thread of a block
// does so. Grid: ceil(L / (BLOCKS BLOCK)) * B H * ceil(DH / 8).
//
//   dx [B H, DH, L], a [B H, L] -> dc [B H, blocks, DH]     dc = a_0 r_0
extern "C" __global__ void __launch_bounds__(THREADS) first_gradient_pass(MoreArguments given) {
    __shared__ float gates[THREADS];
    __shared__ Channels dx[THREADS];
    const Stretch stretch =
        Stretch::by_block(static_cast<int>((given.all.length + positions - 1) / positions));
    const auto heads = static_cast<int>(given.all.heads);
    const Place place{given.all, stretch.row % heads, stretch.row / heads * channels,
                      int64_t{stretch.index} * positions};
    const Thread own{};
    gates[own.index] = load_gate(given, place, own);
    dx[own.index] = load<Storage>(given.dx, place, own);
    device::sync_block();  // the tile is visible
    if (!own.is_first()) return;
    store_carry(multiply_transposed(gates, dx, own).times(gates[own.index]), given.dc, place, own.block);
}
