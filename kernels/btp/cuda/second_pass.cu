// The second of two launches: x_i += (a_0 … a_i) c, a rank-1 update of every block. The first launch left v
// in x, and the last v of every block in the slot of the next block among the carries. For order two that is
// the carry. For order full a thread block walks along its row, chains the carries and stores them: in the
// example of fused.cu the slots 0, 1.5, 1.5 become 0, 1.5, 1.875 = 1.5 + (1/2)^2 1.5.
//
// Defines: STORAGE, OUT_STORAGE, BLOCK, ALIGNED (segment.cuh), ORDER, CARRY0, SHARED_GATES, THREADS
// (carries.cuh).

#include "kernels/btp/cuda/carries.cuh"

using namespace sawtooth;
using namespace sawtooth::btp;

constexpr bool walks = order == Order::full;

// Computes x_i += (a_0 … a_i) c in one block of the segment. `upto` depends only on the position, the carry
// only on the channel.
__device__ void update(const Arguments& given, const Place& place, const Decays& decays, int block,
                       const float (&carry)[2], ValuesOf<OutStorage>& x) {
#pragma unroll
    for (int s = block * tiles_of_block; s < (block + 1) * tiles_of_block; ++s)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            float sum[4];
#pragma unroll
            for (int k = 0; k < 4; ++k) sum[k] = fmaf(decays.upto[s][k], carry[half], x[s][half].get(k));
#pragma unroll
            for (int k = 0; k < 4; k += 2) x[s][half].set(k, sum[k], sum[k + 1]);
        }
}

// Grid: ceil(L / (warps * run * segment)) * B H * ceil(DH / 16); to walk, B H * ceil(DH / 16). A row is 16
// channels of a head, s a segment of a warp:
//
//                | warp 0  | warp 1  | … | warp 0  | warp 1  | …
//   order two    | s s s s | s s s s | … |                         a thread block owns a stretch
//   order full   |    s    |    s    | … |    s    |    s    | …   it owns a row: a stretch in every step
//
//   reads and writes   x [B H, DH, L]; with order full also carry [B H, blocks, DH]
//   reads              a [B H, L] (SHARED_GATES: [H, L]); with order two also carry
// Order two has no barriers. With order full a warp reads the slot after its last block, which belongs to the
// next warp: the barriers of chain_carries lie between that and the store of the next warp.
extern "C" __global__ void __launch_bounds__(THREADS) second_pass(Given given) {
    const int run = walks ? 1 : static_cast<int>(given.run), positions = warps * run * segment;
    const int stretches = (static_cast<int>(given.all.length) + positions - 1) / positions;
    const Stretch stretch = Stretch::by_block(walks ? 1 : stretches);
    const int steps = walks ? stretches : run, stride = walks ? positions : segment;
    const auto heads = static_cast<int>(given.all.heads);
    find_gates(given, stretch.row % heads);
    Place place{given.all, stretch.row % heads, stretch.row / heads * 16,
                stretch.index * positions + device::uniform_warp_of_thread() * run * segment};
    FromStepBefore from{first_link(given, place.head, place.channel + device::lane_of_thread() % 16)};
#pragma unroll 1
    for (int step = 0; step < steps; ++step, place.first += stride) {
        Gates a;
        ValuesOf<OutStorage> x;
        load_gates(a, given.a, place);
        load(x, given.x, place);
        const Decays decays(a);
        float into[2];
        if constexpr (walks) {
            float last[blocks][2];
            Link link[2] = {{1, 0}, {1, 0}};
#pragma unroll
            for (int b = 0; b < blocks; ++b) {
                load_carry(given.carry, place, b + 1, last[b]);
#pragma unroll
                for (int half = 0; half < 2; ++half)
                    link[half] = join(link[half], {decays.block[b], last[b][half]});
            }
            chain_carries<false>(link, from, into);
            float carry[blocks][2];
#pragma unroll
            for (int b = 0; b < blocks; ++b) {
                update(given, place, decays, b, into, x);
#pragma unroll
                for (int half = 0; half < 2; ++half) {
                    carry[b][half] = into[half];
                    into[half] = fmaf(decays.block[b], into[half], last[b][half]);
                }
            }
            store_carries(given.carry, place, 0, carry);
        } else {
#pragma unroll
            for (int b = 0; b < blocks; ++b) {
                load_carry(given.carry, place, b, into);
                update(given, place, decays, b, into, x);
            }
        }
        store(x, given.x, place);
    }
}
