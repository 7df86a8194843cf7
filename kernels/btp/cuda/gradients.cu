// Gradients of gates and inputs, from the end of every sequence. In a block, with z_i = (a_0 … a_i) c:
//
//   r = transpose of Lmat times dx             v = Lmat u
//   w_i = r_i + (a_last … a_(i+1)) dc of the next block        du = w
//   da_i = sum over channels of w_i v_(i-1) + r_i z_(i-1)      dc = a_0 r_0 = sum of (a_0 … a_i) dx_i
//
// For order full r is w. A warp goes through neighbouring segments from the last to the first. With order two
// it needs only dc of the block after them, which it computes again; order full chains dc by decoupled
// look-back, with one segment per warp. In two launches the first one computes dc from each block alone; for
// order full a thread block of the second one walks along a head and chains them.
//
// The last two blocks with gates 1/2 and dx = 1, with BL = 2 for short, order two:
//
//   r        1.5    1     | 1.5   1
//   dc                .75 |       0     what a block receives: a_0 r_0 of the block after it
//   w = du   1.875  1.75  | 1.5   1
//
// Defines: STORAGE, OUT_STORAGE, BLOCK, ALIGNED (segment.cuh), ORDER, CARRY0, SHARED_GATES, THREADS
// (carries.cuh), MIN_BLOCKS (per SM), READS_DC (the second of two launches).

#include "kernels/btp/cuda/carries.cuh"
#include "kernels/btp/cuda/transfer.cuh"
#include "kernels/cuda/device/reductions.cuh"

using namespace sawtooth;
using namespace sawtooth::btp;

constexpr bool looks_back = order == Order::full && !READS_DC;
constexpr bool walks = order == Order::full && READS_DC;

// Computes dc of every block from the block alone, in every lane for its two channels.
__device__ void local_gradients(const Values& dx, const Decays& decays, float (&dc)[blocks][2]) {
#pragma unroll
    for (int b = 0; b < blocks; ++b)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            float sum = 0;
#pragma unroll
            for (int s = b * tiles_of_block; s < (b + 1) * tiles_of_block; ++s)
#pragma unroll
                for (int k = 0; k < 4; ++k) sum = fmaf(decays.upto[s][k], dx[s][half].get(k), sum);
#pragma unroll
            for (int lane = 1; lane < 4; lane *= 2) sum += __shfl_xor_sync(device::whole_warp, sum, lane);
            dc[b][half] = sum;
        }
}

// Returns v_(i-1) for position i = k of the lane's quad of tile s. It is a number of the lane itself, or the
// last one of the quad before. The first position of a block has none, and its result has no meaning.
__device__ float value_before(const Sums& v, int s, int half, int k) {
    if (k > 0) return at(v[s], half, k - 1);
    float mine = at(v[s], half, 3);
    // The last quad hands its value of the tile before to the first quad.
    if (s > 0 && quad_of_lane() == 3) mine = at(v[s > 0 ? s - 1 : 0], half, 3);
    return __shfl_sync(device::whole_warp, mine, lane_of_quad((quad_of_lane() + 3) % 4));
}

// Computes a_0 r_0 of a block, in every lane for its two channels.
__device__ void gradient_of_carry(const Gates& a, const Sums& r, int block, float (&two)[2]) {
#pragma unroll
    for (int half = 0; half < 2; ++half)
        two[half] = of_quad(a[block * tiles_of_block][0] * at(r[0], half, 0), 0);
}

// Computes dc of the first block after the run of the warp, which ends before `place`. That block is the last
// one of the segment loaded here; the blocks before it are loaded again soon.
template <bool careful>
__device__ void gradient_of_first(const Arguments& given, Place place, float (&two)[2], float& strange) {
    place.first -= segment - BLOCK;
    Gates a;
    Values dx;
    Sums r;
    load_gates(a, given.a, place);
    load(dx, given.dx, place);
    BlockProducts<masked_cumprod, careful>(a, given.a, place, strange)
        .backward(blocks - 1, {dx, given.dx}, r);
    gradient_of_carry(a, r, blocks - 1, two);
}

// Chains dc: computes the dc that the segment receives, `after`, from what each block of all segments has
// alone.
template <class From>
__device__ void chain_gradients(const Decays& decays, const float (&dc)[blocks][2], From& from,
                                float (&after)[2]) {
    Link link[2] = {{1, 0}, {1, 0}};
#pragma unroll
    for (int b = blocks - 1; b >= 0; --b)
#pragma unroll
        for (int half = 0; half < 2; ++half) link[half] = join(link[half], {decays.block[b], dc[b][half]});
    chain_carries<true>(link, from, after);
}

// The work of a warp on one segment of 16 channels. `after` is dc of the block after the segment, then of its
// first block.
//
//   load a, u, dx -> chain dc (order full) -> for every block from the last one:
//     v = Lmat u,  r = Lmat^T dx    w = r + after dc -> du, da    dc = a_0 r_0 -> the block before
struct Task {
    const Arguments& given;
    const Stretch& stretch;
    const Place& place;

    template <bool careful>
    __device__ void solve(FromStepBefore& step_before, float (&after)[2], float& strange) const {
        Gates a;
        load_gates(a, given.a, place);
        Values u, dx;  // du takes the place of dx
        load(u, given.u, place);
        load(dx, given.dx, place);
        float c[blocks][2];  // the carries into the blocks
#pragma unroll
        for (int b = 0; b < blocks; ++b) load_carry(given.carry, place, b, c[b]);
        const Decays decays(a);
        if constexpr (looks_back || walks) {
            float dc[blocks][2];
            if constexpr (looks_back) {
                local_gradients(dx, decays, dc);
                const int rows_before = place.channel / 16 * static_cast<int>(given.all.heads);
                FromBlocksBefore<16> blocks_before(given.chain, stretch, rows_before + place.head, true,
                                                   {1, 0});
                chain_gradients(decays, dc, blocks_before, after);
            } else {
#pragma unroll
                for (int b = 0; b < blocks; ++b) load_carry(given.dc, place, b, dc[b]);
                chain_gradients(decays, dc, step_before, after);
            }
        }
        const BlockProducts<masked_cumprod, careful> products(a, given.a, place, strange);
        float da[tiles][4];  // what the lane's two channels contribute
#pragma unroll
        for (int b = blocks - 1; b >= 0; --b) {
            Sums v, r, w;
            products.both(b, {u, given.u}, v, {dx, given.dx}, r);
#pragma unroll
            for (int s = 0; s < tiles_of_block; ++s)
#pragma unroll
                for (int half = 0; half < 2; ++half) {
#pragma unroll
                    for (int k = 0; k < 4; ++k)
                        w[s][k / 2][2 * half + k % 2] =
                            fmaf(decays.after[b * tiles_of_block + s][k], after[half], at(r[s], half, k));
                    dx[b * tiles_of_block + s][half] = narrowed<Storage>(w[s], half);
                }
#pragma unroll
            for (int s = 0; s < tiles_of_block; ++s) {
                const int tile_of_segment = b * tiles_of_block + s;
                gate_gradients(s, decays.before[tile_of_segment], v, order == Order::full ? w : r, w, c[b],
                               da[tile_of_segment]);
            }
            // dc of this block is what the block before it receives.
            if constexpr (order == Order::two && READS_DC)
                load_carry(given.dc, place, b, after);
            else if constexpr (order != Order::one)
                gradient_of_carry(a, order == Order::full ? w : r, b, after);
        }
        store(dx, given.du, place);
        add_gate_gradients(da);
    }

    // Computes what the lane's two channels contribute to da at its positions of tile s of a block.
    static __device__ void gate_gradients(int s, const float (&before)[4], const Sums& v, const Sums& r,
                                          const Sums& w, const float (&c)[2], float (&da)[4]) {
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            float from_values = 0, from_carry = 0;
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                from_values = fmaf(at(w[s], half, k), value_before(v, s, half, k), from_values);
                from_carry = fmaf(at(r[s], half, k), c[half], from_carry);
            }
            if (s == 0 && k == 0 && quad_of_lane() == 0) from_values = 0;  // the first position of the block
            da[k] = order == Order::one ? from_values : fmaf(before[k], from_carry, from_values);
        }
    }

    // Adds what 16 channels contribute to da [B H, L]. Every lane stores one position of a pair of tiles.
    __device__ void add_gate_gradients(const float (&all)[tiles][4]) const {
#pragma unroll
        for (int s = 0; s < tiles; s += 2) {
            const int lane = device::lane_of_thread();
            float pair[8];  // of the two tiles; lane (g, t) sums number g over the channels
#pragma unroll
            for (int k = 0; k < 8; ++k) pair[k] = all[s + k / 4][k % 4];
            const float sum = device::sum_of_own_number<4>(pair);
            const int there = place.first + first_of_quad(s + lane / 16) + lane / 4 % 4;
            if (!place.has_position(there)) continue;
            float& da = given.da[place.at_gate(there)];
            da = place.channel == 0 ? sum : da + sum;  // this lane stored it before
        }
    }
};

// Goes through the channels of a warp's positions, and for every 16 of them through the segments from the
// last one: first those that do not lie inside the arrays, then the others. Returns true if a sum was not
// finite. Order full is always careful, as its warps wait for one another.
template <bool careful>
__device__ bool walk(Given given) {
    const int run = walks ? 1 : static_cast<int>(given.run), positions = warps * run * segment;
    const int stretches = (static_cast<int>(given.all.length) + positions - 1) / positions;
    const Stretch stretch = looks_back ? Stretch::by_ticket(given.chain, stretches, true)
                                       : Stretch::by_block(walks ? 1 : stretches);
    find_gates(given, stretch.row);
    const int steps = walks ? stretches : run, stride = walks ? positions : segment;
    const int first = stretch.index * positions + device::uniform_warp_of_thread() * run * segment;

    float strange = 0;
#pragma unroll 1
    for (int channel = 0; channel < given.all.width; channel += 16) {
        Place place{given.all, stretch.row, channel, first};
        const int inside = careful ? 0 : place.whole_segments(steps, stride);
        place.first += steps * stride;
        float after[2] = {0, 0};
        if constexpr (order == Order::two && !READS_DC)
            gradient_of_first<careful>(given, place, after, strange);
        if constexpr (order == Order::two && READS_DC) load_carry(given.dc, place, 0, after);
        FromStepBefore step_before;
        int step = steps;
#pragma unroll 1
        for (; step > inside; --step) {
            place.first -= stride;
            Task{given, stretch, place}.template solve<careful>(step_before, after, strange);
        }
        if constexpr (!careful) {
            place.is_whole = true;
#pragma unroll 1
            for (; step > 0; --step) {
                place.first -= stride;
                Task{given, stretch, place}.template solve<careful>(step_before, after, strange);
            }
            place.is_whole = false;
        }
        store_first_gradient(given, place, after);
    }
    return __any_sync(device::whole_warp, strange != 0);
}

// A call keeps this rare path out of the registers of the kernel.
__device__ __noinline__ void walk_carefully(const Given& given) { walk<true>(given); }

// Grid: ceil(L / (warps * run * segment)) * B H; to walk, B H. A thread block owns all channels of its
// positions, 16 at a time, so that da is summed without atomics and always in the same order:
//
//                        | warp 0: s s s s | warp 1: s s s s | …     one stretch, s a segment; right to left
//   channels  0 … 15     |  <-  <-  <-  <- |  <-  <-  <-  <- |       da = sum
//   channels 16 … 31     |  <-  <-  <-  <- |  <-  <-  <-  <- |       da += sum
//   …
//
//   order two    dc of the segment after the run is computed once more, or read from the first launch
//   order full   run = 1; dc comes by look-back from later stretches, or the thread block walks: its steps go
//                through the stretches of the head from the last one
//   reads    a [B H, L], u, dx [B H, DH, L], carry [B H, blocks, DH], READS_DC: dc, of the same shape
//   writes   du [B H, DH, L], da [B H, L], CARRY0: dcarry0 [B H, DH]
// Only order full has barriers: one for the ticket of the look-back, and those of chain_carries.
extern "C" __global__ void __launch_bounds__(THREADS, MIN_BLOCKS) gradients(Given given) {
    constexpr bool chains = looks_back || walks;
    const bool is_strange = walk<chains>(given);
    if (chains || !is_strange) return;
    const Given copy = given;
    walk_carefully(copy);
}

// The first of two launches computes dc from each block alone, for the second. A warp owns one segment of 16
// channels of a head and waits for no other. Grid: ceil(L / (warps * segment)) * B H * ceil(DH / 16).
//
//   dx [B H, DH, L], a [B H, L] -> dc [B H, blocks, DH]     dc = sum of (a_0 … a_i) dx_i
extern "C" __global__ void __launch_bounds__(THREADS) first_gradient_pass(Given given) {
    constexpr int positions = warps * segment;
    const Stretch stretch =
        Stretch::by_block((static_cast<int>(given.all.length) + positions - 1) / positions);
    const auto heads = static_cast<int>(given.all.heads);
    find_gates(given, stretch.row % heads);
    const Place place{given.all, stretch.row % heads, stretch.row / heads * 16,
                      stretch.index * positions + device::uniform_warp_of_thread() * segment};
    Gates a;
    Values dx;
    float dc[blocks][2];
    load_gates(a, given.a, place);
    load(dx, given.dx, place);
    local_gradients(dx, Decays(a), dc);
    store_carries(given.dc, place, 0, dc);
}
