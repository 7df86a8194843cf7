// x_i = v_i + (a_0 … a_i) c in one launch. A warp goes through neighbouring segments; it multiplies their
// blocks with the transfer matrices on tensor cores and adds the carries, which stay in registers. With order
// two a warp needs only the last value of the block before its first one: rather than wait for it, the warp
// computes the segment before its own again. Order full chains the carries by decoupled look-back, with one
// segment per warp.
//
// Gates 1/2 and u = 1, with BL = 2 for short:
//
//   v                      1   1.5 |    1     1.5 |      1       1.5
//   carry, order two             0 |          1.5 |              1.5     the last v of the block before
//   x = v + (a_0 … a_i) c  1   1.5 | 1.75   1.875 |   1.75     1.875
//   carry, order full            0 |          1.5 |            1.875     the last x: the exact recurrence
//   x                      1   1.5 | 1.75   1.875 | 1.9375   1.96875
//
// Defines: STORAGE, OUT_STORAGE, BLOCK, ALIGNED (segment.cuh), CONSTRUCTION (transfer.cuh), ORDER, CARRY0,
// SHARED_GATES, THREADS (carries.cuh), MIN_BLOCKS (per SM), ADDS_CARRIES (false: the first pass of two
// launches, where x is v, for orders two and full).

#include "kernels/btp/cuda/carries.cuh"
#include "kernels/btp/cuda/transfer.cuh"

using namespace sawtooth;
using namespace sawtooth::btp;

constexpr bool repeats = ADDS_CARRIES && order == Order::two;
constexpr bool chains = ADDS_CARRIES && order == Order::full;

// The results of a segment that do not depend on the carry into it.
struct Local {
    Sums sums[blocks];      // v, then x before it is rounded
    float last[blocks][2];  // the last v of every block, for the lane's two channels

    // Computes v = Lmat u for every block. The last v of a block is position 3 of quad 3 of its last tile,
    // whose lane hands it to the other three lanes of the channel.
    __device__ void solve(const Arguments& given, const Place& place, const Gates& a) {
        Values values;
        load(values, given.u, place);
        const BlockProducts<CONSTRUCTION> products(values, a, {given.u, given.a, place});
#pragma unroll
        for (int b = 0; b < blocks; ++b) {
            products.of_block(b, sums[b]);
#pragma unroll
            for (int half = 0; half < 2; ++half)
                last[b][half] = of_quad(at(sums[b][tiles_of_block - 1], half, 3), 3);
        }
    }

    __device__ void add_carry(int block, const Decays& decays, const float (&carry)[2]) {
#pragma unroll
        for (int s = 0; s < tiles_of_block; ++s)
#pragma unroll
            for (int half = 0; half < 2; ++half)
#pragma unroll
                for (int k = 0; k < 4; ++k) {
                    float& sum = sums[block][s][k / 2][2 * half + k % 2];
                    sum = fmaf(decays.upto[block * tiles_of_block + s][k], carry[half], sum);
                }
    }

    __device__ void narrow(int block, ValuesOf<OutStorage>& x) const {
#pragma unroll
        for (int s = 0; s < tiles_of_block; ++s)
#pragma unroll
            for (int half = 0; half < 2; ++half)
                x[block * tiles_of_block + s][half] = narrowed<OutStorage>(sums[block][s], half);
    }
};

// Joins the links (a_0 … a_last, last v) of the blocks of a segment, for the lane's two channels.
__device__ void link_of(const Local& local, const Decays& decays, Link (&link)[2]) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        link[half] = {1, 0};
#pragma unroll
        for (int b = 0; b < blocks; ++b)
            link[half] = join(link[half], {decays.block[b], local.last[b][half]});
    }
}

// Adds the carry into every block and stores it; `into` becomes the carry after the segment.
__device__ void finish(const Arguments& given, const Place& place, const Decays& decays, Local& local,
                       float (&into)[2]) {
    ValuesOf<OutStorage> x;
#pragma unroll
    for (int b = 0; b < blocks; ++b) {
        if constexpr (ADDS_CARRIES) {
            store_carry(given.carry, place, b, into);
            if constexpr (order != Order::one) local.add_carry(b, decays, into);
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                if constexpr (order == Order::two) into[half] = local.last[b][half];
                if constexpr (order == Order::full)
                    into[half] = fmaf(decays.block[b], into[half], local.last[b][half]);
            }
        } else {
            // The slot of a block holds the last v of the block before it, which second_pass.cu reads.
            if (place.first == 0 && b == 0) store_carry(given.carry, place, 0, into);
            store_carry(given.carry, place, b + 1, local.last[b]);
        }
        local.narrow(b, x);
    }
    store(x, given.x, place);
}

// Grid: ceil(L / (warps * run * segment)) * B H * ceil(DH / 16). A thread block owns one stretch of a row:
//
//                | warp 0  | warp 1  | … | warp 0  | …    stretches side by side along L; s: a segment
//   order one    | s s s s | s s s s | … | s s s s | …    every warp by itself, here with run = 4
//   order two    | s s s S | s s s s | … | s s s s | …    warp 1 computes S again: its last v is the carry
//   order full   |    s    |    s    | … |    s    | …    run = 1; links join over warps and thread blocks
//
// Without ADDS_CARRIES every warp works by itself, whatever the order. A row is 16 channels of a head,
// row = channel / 16 * B H + head.
//   reads a [B H, L] (SHARED_GATES: [H, L]), u [B H, DH, L], CARRY0: carry0 [B H, DH]
//   writes x [B H, DH, L], carry [B H, blocks, DH]
// Only order full has barriers, where it chains: one for the ticket, and those of chain_carries.
extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS) fused(Given given) {
    const int run = static_cast<int>(given.run), positions = warps * run * segment;
    const auto stretches = static_cast<int>((given.all.length + positions - 1) / positions);
    const Stretch stretch =
        chains ? Stretch::by_ticket(given.chain, stretches, false) : Stretch::by_block(stretches);
    const auto heads = static_cast<int>(given.all.heads);
    find_gates(given, stretch.row % heads);
    Place place{given.all, stretch.row % heads, stretch.row / heads * 16,
                stretch.index * positions + device::uniform_warp_of_thread() * run * segment};

    float into[2] = {0, 0};  // the carry into the segment
    place.first -= repeats * segment;
#pragma unroll 1
    for (int step = repeats ? -1 : 0; step < run; ++step, place.first += segment) {
        Gates a;
        load_gates(a, given.a, place);
        Local local;
        local.solve(given, place, a);
        if (step < 0) {
            into[0] = local.last[blocks - 1][0];
            into[1] = local.last[blocks - 1][1];
            continue;
        }
        const Decays decays(a);
        if constexpr (chains) {
            Link link[2];
            link_of(local, decays, link);
            const int channel = place.channel + device::lane_of_thread() % 16;
            FromBlocksBefore<16> from(given.chain, stretch, stretch.row, false,
                                      first_link(given, place.head, channel));
            chain_carries<false>(link, from, into);
        } else {
            load_first_carry(given, place, into);
        }
        finish(given, place, decays, local, into);
    }
}
