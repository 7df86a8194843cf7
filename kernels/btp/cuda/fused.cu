// x_i = v_i + (a_0 … a_i) c in one launch. A warp goes through segments of a stretch; it multiplies their
// blocks with the transfer matrices on tensor cores and adds the carries. With order two a warp needs only
// the last value of the block before its own: the warp next to it hands it on through shared memory. Where
// the block belongs to another thread block, the warp computes it again rather than wait. Order full chains
// the carries by decoupled look-back, with one segment per warp.
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

// Warps go side by side, so that they read whole lines at about the same time. With BL = 64 a segment is
// whole lines, and few warps fit on an SM: there every warp goes through neighbouring segments by itself, and
// computes the block before them again. This takes less time than to wait for the others in every step.
constexpr bool side_by_side = BLOCK < 64;
constexpr bool repeats = ADDS_CARRIES && order == Order::two;
constexpr bool hands_on = repeats && side_by_side;
constexpr bool chains = ADDS_CARRIES && order == Order::full;

// The results of a segment that do not depend on the carry into it.
struct Local {
    Sums sums[blocks];      // v, then x before it is rounded
    float last[blocks][2];  // the last v of every block, for the lane's two channels

    // Computes v = Lmat u for every block. The last v of a block is position 3 of quad 3 of its last tile,
    // whose lane hands it to the other three lanes of the channel.
    template <bool careful>
    __device__ void solve(const Arguments& given, const Place& place, const Gates& a, float& strange) {
        Values values;
        load(values, given.u, place);
        const BlockProducts<CONSTRUCTION, careful> products(a, given.a, place, strange);
#pragma unroll
        for (int b = 0; b < blocks; ++b) {
            products.forward(b, {values, given.u}, sums[b]);
            last_of(sums[b], last[b]);
        }
    }

    static __device__ void last_of(const Sums& v, float (&last)[2]) {
#pragma unroll
        for (int half = 0; half < 2; ++half) last[half] = of_quad(at(v[tiles_of_block - 1], half, 3), 3);
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
    if constexpr (ADDS_CARRIES) {
        float carry[blocks][2];
#pragma unroll
        for (int b = 0; b < blocks; ++b) {
            if constexpr (order != Order::one) local.add_carry(b, decays, into);
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                carry[b][half] = into[half];
                if constexpr (order == Order::two) into[half] = local.last[b][half];
                if constexpr (order == Order::full)
                    into[half] = fmaf(decays.block[b], into[half], local.last[b][half]);
            }
        }
        store_carries(given.carry, place, 0, carry);
    } else {
        // The slot of a block holds the last v of the block before it, which second_pass.cu reads.
        if (place.first == 0) store_carries<1>(given.carry, place, 0, {{into[0], into[1]}});
        store_carries(given.carry, place, 1, local.last);
    }
    ValuesOf<OutStorage> x;
#pragma unroll
    for (int b = 0; b < blocks; ++b) local.narrow(b, x);
    store(x, given.x, place);
}

// Hands the last v of every segment of a step on to the warp of the next segment. `into` becomes the carry
// into the warp's own segment; for warp 0 it comes from the step before, and find_carry finds the first one.
// All threads must call this.
//
//   step         0               1
//   warp     0  1  2  3      0  1  2  3
//   last     a  b  c  d      e  f  g  h
//   into     ?  a  b  c      d  e  f  g
//
// Two slots take turns, as warp 0 still reads that of the step before while others store theirs.
__device__ void hand_on(int step, const float (&last)[2], float (&into)[2]) {
    __shared__ float handed[2][warps][16];
    const int warp = device::uniform_warp_of_thread(), own = step % 2;
    const auto take = [&](int slot, int from) {
#pragma unroll
        for (int half = 0; half < 2; ++half) into[half] = handed[slot][from][channel_of_lane() + 8 * half];
    };
    if (warp == 0 && step > 0) take(1 - own, warps - 1);
    if (quad_of_lane() == 0)
#pragma unroll
        for (int half = 0; half < 2; ++half) handed[own][warp][channel_of_lane() + 8 * half] = last[half];
    device::sync_threads<1, THREADS>();  // all have handed on, and warp 0 has read the other slot
    if (warp > 0) take(own, warp - 1);
}

// Computes the last v of the block before a segment, as the carry into it.
template <bool careful>
__device__ void find_carry(const Arguments& given, Place place, float (&carry)[2], float& strange) {
    place.first -= BLOCK;
    Gates a;
    Values u;
    Sums v;
    load_gates(a, given.a, place);
    load(u, given.u, place);
    BlockProducts<CONSTRUCTION, careful>(a, given.a, place, strange).forward(0, {u, given.u}, v);
    Local::last_of(v, carry);
}

// Computes the segment of a step; `into` is the carry into it, then the one after it.
template <bool careful>
__device__ void solve(const Given& given, const Stretch& stretch, int step, const Place& place,
                      float (&into)[2], float& strange) {
    Gates a;
    load_gates(a, given.a, place);
    Local local;
    local.solve<careful>(given, place, a, strange);
    const Decays decays(a);
    if constexpr (chains) {
        Link link[2];
        link_of(local, decays, link);
        const int channel = place.channel + device::lane_of_thread() % 16;
        FromBlocksBefore<16> from(given.chain, stretch, stretch.row, false,
                                  first_link(given, place.head, channel));
        chain_carries<false>(link, from, into);
    } else {
        if constexpr (hands_on) hand_on(step, local.last[blocks - 1], into);
        load_first_carry(given, place, into);
    }
    finish(given, place, decays, local, into);
}

// Goes through the segments of a warp: first those that lie inside the arrays, then the others. Returns true
// if a sum was not finite; if warps hand on carries, for all of them. Order full is always careful, as its
// warps wait for those of other thread blocks.
template <bool careful>
__device__ bool walk(Given given) {
    const int run = static_cast<int>(given.run), positions = warps * run * segment;
    const int warp = device::uniform_warp_of_thread();
    const int stretches = (static_cast<int>(given.all.length) + positions - 1) / positions;
    const Stretch stretch =
        chains ? Stretch::by_ticket(given.chain, stretches, false) : Stretch::by_block(stretches);
    const auto heads = static_cast<int>(given.all.heads);
    find_gates(given, stretch.row % heads);
    Place place{given.all, stretch.row % heads, stretch.row / heads * 16,
                stretch.index * positions + warp * (side_by_side ? 1 : run) * segment};
    constexpr int stride = (side_by_side ? warps : 1) * segment;

    float strange = 0;
    float into[2] = {0, 0};  // the carry into the segment
    if (repeats && (warp == 0 || !hands_on) && place.first > 0)
        find_carry<careful>(given, place, into, strange);
    const int inside = careful ? 0 : place.whole_segments(run, stride);
    int step = 0;
    place.is_whole = true;
#pragma unroll 1
    for (; step < inside; ++step, place.first += stride)
        solve<careful>(given, stretch, step, place, into, strange);
    place.is_whole = false;
#pragma unroll 1
    for (; step < run; ++step, place.first += stride)
        solve<careful>(given, stretch, step, place, into, strange);
    return hands_on ? device::any_of_block(strange != 0) : __any_sync(device::whole_warp, strange != 0);
}

// A call keeps this rare path out of the registers of the kernel.
__device__ __noinline__ void walk_carefully(const Given& given) { walk<true>(given); }

// Grid: ceil(L / (warps * run * segment)) * B H * ceil(DH / 16). A thread block owns one stretch of a row, of
// run * warps segments s; with 4 warps:
//
//   warp         0 1 2 3 0 1 2 3 … | 0 1 2 3 0 1 2 3 …
//   order one    s s s s s s s s … | s s s s s s s s …   every warp by itself
//   order two    s>s>s>s>s>s>s>s … S|s>s>s>s>s>s>s>s …   > by shared memory; the last block of S is
//                                                        computed again
//   order full   s s s s | s s s s | …                   run = 1; links join over warps and thread blocks
//
// With BL = 64 the order of warps is 0 0 … 1 1 … instead; with order two each computes the block before its
// own ones again, and there are no barriers.
// Without ADDS_CARRIES every warp works by itself, whatever the order. A row is 16 channels of a head,
// row = channel / 16 * B H + head.
//   reads a [B H, L] (SHARED_GATES: [H, L]), u [B H, DH, L], CARRY0: carry0 [B H, DH]
//   writes x [B H, DH, L], carry [B H, blocks, DH]
// Otherwise order two has a barrier in every step (hand_on) and one at the end; order full has one for the
// ticket, and those of chain_carries.
extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS) fused(Given given) {
    const bool is_strange = walk<chains>(given);
    if (chains || !is_strange) return;
    const Given copy = given;
    walk_carefully(copy);
}
