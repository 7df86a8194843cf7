// Steps 2 and 3 with the warpgroup products and tensor copies of Hopper (compare project.cu). Each of two
// groups of four warps owns a tile of 64 positions, and a thread of a third one copies x and the stacked
// weights [W1; U; V] into a ring of stages in shared memory, 64 channels at a time:
//
//   ring        x of tile 0, x of tile 1, [W1; U; V]  |  the next 64 channels  | …
//   a group     sums += x [W1; U; V]^T                |  sums += …             | …
//               hidden = relu(sums + b1) -> the left factor of hidden W2^T, in registers -> gates
//
// Sums stay in registers: hidden units do not pass through memory. So this is only the forward pass, which
// does not need them afterwards.
//
// Defines: THREADS, SHARED_BYTES, STORAGE (bf16 or f16), ALIGNED, ALIGNED_CHANNELS (both true), HARD, GUMBEL,
// BACKWARD (false), HIDDEN, RANK, STAGES.

#include "kernels/ar_ssm/cuda/project_group.cuh"
#include "kernels/cuda/device/tensor_copy.cuh"

using namespace sawtooth;
using namespace sawtooth::ar_ssm;

template <int columns>
using Step = device::WarpgroupStep<precision, columns / 8>;
using Swizzled = device::Swizzled<128>;

constexpr int depth = 64;  // channels of a stage
static_assert(THREADS == 128 * (groups + 1) && !BACKWARD);

struct Stage {
    Element x[groups][rows * depth];
    Element weights[weight_rows * depth];
};

// Logits of a group that are computed again: their places, 64 RANK at most, and what they become.
struct Doubtful {
    int count;
    uint16_t places[HARD ? rows * RANK : 1];  // row RANK + rank
    float logits[HARD ? rows * RANK : 1];     // by place
    double quarters[4];                       // of one of them, by warp
};

struct Shared {
    alignas(1024) Stage stages[STAGES];
    Element gate_w2[RANK * HIDDEN];  // [HIDDEN / 64][RANK][64], as it is copied
    device::RingBarriers<STAGES> ring;
    device::Barrier gates;
    float totals[groups][4][RANK];  // sums of u over the rows of a warp
    Doubtful doubtful[groups];
};
static_assert(sizeof(Shared) == SHARED_BYTES, "the host counts the same bytes");

// Copies everything, in one thread.
__device__ void produce(const ProjectArguments& given, Shared& shared) {
    shared.gates.arrive_and_expect(RANK * HIDDEN * 2);
#pragma unroll
    for (int k = 0; k < HIDDEN; k += depth)
        device::copy_box(given.gate_w2, shared.gate_w2 + RANK * k, shared.gates, k, 0, 0);
    int first[groups], sequence[groups];
    for (int group = 0; group < groups; ++group) {
        int64_t tile;
        const Positions at = positions_of_group(given.layer, group, tile);
        first[group] = static_cast<int>(at.first), sequence[group] = static_cast<int>(at.sequence);
    }
    device::RingPlace<STAGES> place;
    for (int k = 0; k < static_cast<int>(given.layer.width); k += depth, place.advance()) {
        Stage& stage = shared.stages[place.slot];
        device::Barrier& full = shared.ring.begin_to_fill(place);
        full.arrive_and_expect(static_cast<int>(sizeof(Stage)));
        for (int group = 0; group < groups; ++group)
            device::copy_box(given.x, stage.x[group], full, k, first[group], sequence[group]);
        device::copy_box(given.gate_w1, stage.weights, full, k, 0, 0);
        device::copy_box(given.u_proj, stage.weights + HIDDEN * depth, full, k, 0, 0);
        device::copy_box(given.v_proj, stage.weights + (HIDDEN + RANK) * depth, full, k, 0, 0);
    }
}

// A group of four warps at work on its tile.
struct Group : TileOfGroup {
    Shared& shared;
    Tile hidden[HIDDEN / 8];

    __device__ Group(const Layer& given, Shared& all) : TileOfGroup(given), shared(all) {}

    __device__ void project() {
        const int steps = static_cast<int>(layer.width) / depth;
        device::RingPlace<STAGES> place;
        int before = 0;  // the slot of the step before
        for (int step = 0; step < steps; ++step, place.advance()) {
            const Stage& stage = shared.stages[place.slot];
            shared.ring.wait_until_full(place);
            device::begin_products();
#pragma unroll
            for (int k = 0; k < depth; k += 16) {
                const uint64_t x = Swizzled::rows(stage.x[number], 2 * k);
                Step<HIDDEN>::template add<false>(hidden, x, Swizzled::rows(stage.weights, 2 * k),
                                                  step > 0 || k > 0);
                Step<2 * RANK>::template add<false>(
                    projected, x, Swizzled::rows(stage.weights + HIDDEN * depth, 2 * k), step > 0 || k > 0);
            }
            device::end_products();
            if (step > 0) {
                device::wait_for_products<1>();
                shared.ring.leave(before);
            }
            before = place.slot;
        }
        device::wait_for_products<0>();
        device::keep_in_place(hidden);
        device::keep_in_place(projected);
    }

    // Computes the logits. Hard gates take the rounding errors of hidden units as a second left factor.
    __device__ void multiply_hidden() {
        constexpr int steps = HIDDEN / 16;
        Factors::Left units[steps], rests[HARD ? steps : 1];
#pragma unroll
        for (int k = 0; k < steps; ++k) {
            Tile* const two = &hidden[2 * k];
            Tile rest[2];
#pragma unroll
            for (int n = 0; n < 2; ++n)
#pragma unroll
                for (int e = 0; e < 4; ++e) {
                    two[n][e] = relu(two[n][e] + element(layer.gate_b1, column(2 * k + n, e)));
                    if constexpr (HARD) rest[n][e] = rest_of(two[n][e]);
                }
            units[k] = Factors::left(two[0], two[1]);
            if constexpr (HARD) rests[k] = Factors::left(rest[0], rest[1]);
        }
        device::clear(gates);
        shared.gates.wait(0);
        device::keep_in_place(gates);
        device::begin_products();
#pragma unroll
        for (int k = 0; k < steps; ++k) {
            const uint64_t w2 = Swizzled::rows(shared.gate_w2 + k / 4 * RANK * depth, 32 * (k % 4));
            Step<RANK>::template add<false>(gates, units[k], w2);
            if constexpr (HARD) Step<RANK>::template add<false>(gates, rests[k], w2);
        }
        device::end_products();
        device::wait_for_products<0>();
        device::keep_in_place(gates);
#pragma unroll
        for (int n = 0; n < RANK / 8; ++n)
#pragma unroll
            for (int e = 0; e < 4; ++e) gates[n][e] += element(layer.gate_b2, column(n, e));
    }

    // Calls visit(logit, place) for the lane's doubtful logits.
    template <class Visit>
    __device__ void for_each_doubtful(Visit visit) {
#pragma unroll
        for (int n = 0; n < RANK / 8; ++n)
#pragma unroll
            for (int e = 0; e < 4; ++e)
                if (row(e) < at.count && is_doubtful(gates[n][e]))
                    visit(gates[n][e], row(e) * RANK + column(n, e));
    }

    // Computes doubtful logits again. Every warp of the group adds its quarter of the units to each of them,
    // in f32, in any order, as only the sign counts; where that is still open, once more in double precision.
    __device__ void settle() {
        Doubtful& list = shared.doubtful[number];
        if (threadIdx.x % 128 == 0) list.count = 0;
        device::sync_group();  // the list is empty
        for_each_doubtful([&](float&, int place) {
            list.places[device::atomic_add(&list.count, 1)] = static_cast<uint16_t>(place);
            list.logits[place] = element(layer.gate_b2, place % RANK);
        });
        device::sync_group();  // the list is complete
        for (int i = 0; i < list.count; ++i) {
            const int place = list.places[i];
            const float terms = terms_of_warp<float, 16>(place);
            if (device::lane_of_thread() == 0) device::atomic_add(&list.logits[place], terms);
        }
        device::sync_group();  // all quarters are added
        for (int i = 0; i < list.count; ++i) {
            const int place = list.places[i];
            if (is_certain(list.logits[place])) continue;
            const double terms = terms_of_warp<double, 8>(place);
            if (device::lane_of_thread() == 0) list.quarters[warp] = terms;
            device::sync_group();  // the quarters are there
            if (threadIdx.x % 128 == 0) {
                double logit = element(layer.gate_b2, place % RANK);
                for (const double quarter : list.quarters) logit += quarter;
                list.logits[place] = rounded_with_sign(logit);
            }
            device::sync_group();  // the quarters are read
        }
        for_each_doubtful([&](float& logit, int place) { logit = list.logits[place]; });
    }

    // The terms of the logit at a place for the warp's quarter of the units.
    template <class Number, int together>
    __device__ Number terms_of_warp(int place) const {
        constexpr int quarter = HIDDEN / 4;
        return exact_terms<Number, together>(layer, at.token + place / RANK, place % RANK, quarter * warp,
                                             quarter * (warp + 1));
    }

    __device__ void run() {
        project();
        multiply_hidden();
        if constexpr (HARD) settle();
        store_gates();
        store_projections(shared.totals[number]);
    }
};

// Grid: ceil(tiles / 2), of all sequences. Warp w of a block owns rows 16 (w % 4) … + 15 of tile w / 4; a
// lane owns four elements of each 16 x 8 tile of sums (products.cuh).
//   reads    x [B, L, width], gate_w1 [HIDDEN, width], u_proj and v_proj [RANK, width],
//            gate_w2 [RANK, HIDDEN], all as boxes of 64 columns; biases, gate_noise
//   writes   gates, projected_u, projected_v [B, L, RANK], effective_rank [B, L], totals [B, tiles, RANK]
extern "C" __global__ void __launch_bounds__(THREADS, 1)
    project(const __grid_constant__ ProjectArguments given) {
    extern __shared__ __align__(1024) unsigned char bytes[];
    Shared& shared = *reinterpret_cast<Shared*>(bytes);
    run_groups<Group>(given.layer, shared, [&] { produce(given, shared); });
}
