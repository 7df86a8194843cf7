// Steps 2 and 3 in f32 with the warpgroup products and tensor copies of Hopper (compare project_wgmma.cu).
// Every factor is `high` plus `rest`, two tf32 numbers (split_products.cuh): the weights as split_weights.cu
// has stored them, x and the hidden units in registers, as left factors.
//
//   ring        x of tile 0, x of tile 1, high and rest of [W1; U; V]  |  the next 32 channels  | …
//   a group     x -> registers, split                                  |  …
//               step = rest high^T + high rest^T + high high^T         |  …
//               sums += step, rounded as usual                         |  …
//               hidden = relu(sums + b1), split -> hidden W2^T, the same way -> gates
//
// Tensor cores round towards zero, so their sums are short: 32 terms.
//
// The order of terms is free, so a lane takes neighbours, which lie together: x by 8 bytes without bank
// conflicts, and hidden units as the first product leaves them. split_weights.cu orders the weights likewise.
//
//   column of a step of 8     0 1 2 3 | 4 5 6 7             the left factor of lane (g, q): columns q, q + 4
//   step s of x: channel      c + 0, 2, 16, 18 | c + 1, 3, 17, 19 for c = 4 s
//   hidden units: unit        0, 2, 4, 6 | 1, 3, 5, 7
//
// Numbers that are not finite are computed again, because split factors may be why.
//
// Defines: THREADS, SHARED_BYTES, STORAGE (f32), ALIGNED, ALIGNED_CHANNELS (both true), HARD (false), GUMBEL,
// BACKWARD (false), HIDDEN, RANK, STAGES.

#include "kernels/ar_ssm/cuda/project_group.cuh"
#include "kernels/cuda/device/tensor_copy.cuh"

using namespace sawtooth;
using namespace sawtooth::ar_ssm;

template <int columns>
using Step = device::WarpgroupStep<device::Precision::tf32, columns / 8>;
using Swizzled = device::Swizzled<128>;
using Left = Factors::Left;

constexpr int depth = 32;         // channels of a stage, and terms of a sum of tensor cores
constexpr int steps = depth / 8;  // of such a sum
static_assert(THREADS == 128 * (groups + 1) && splits && !BACKWARD && !HARD);

struct Stage {
    float x[groups][rows * depth];
    float weights[2][weight_rows * depth];  // high, rest
};

struct Shared {
    alignas(1024) Stage stages[STAGES];
    float gate_w2[2][RANK * HIDDEN];  // high, rest; each [HIDDEN / 32][RANK][32], as it is copied
    device::RingBarriers<STAGES> ring;
    device::Barrier gates;
    float totals[groups][4][RANK];  // sums of u over the rows of a warp
};
static_assert(sizeof(Shared) == SHARED_BYTES, "the host counts the same bytes");

// Copies everything, in one thread.
__device__ void produce(const SplitProjectArguments& given, Shared& shared) {
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
        for (int part = 0; part < 2; ++part)
            device::copy_box(given.weights, stage.weights[part], full, k, 0, part);
    }
    shared.gates.arrive_and_expect(static_cast<int>(sizeof shared.gate_w2));
    for (int part = 0; part < 2; ++part)
#pragma unroll
        for (int k = 0; k < HIDDEN; k += depth)
            device::copy_box(given.gate_w2, shared.gate_w2[part] + RANK * k, shared.gates, k, 0, part);
}

// The product of x of a token with a row of the stacked weights, computed in double precision by the whole
// warp.
static __device__ __noinline__ float settled_projection(const Layer& layer, int64_t token, int64_t row) {
    double value[1];
    exact_products(
        layer, token, [&](int) { return weights_row(layer, row); }, value);
    return static_cast<float>(value[0]);
}

// A group of four warps at work on its tile.
struct Group : TileOfGroup {
    Shared& shared;
    Tile hidden[HIDDEN / 8];

    __device__ Group(const Layer& given, Shared& all) : TileOfGroup(given), shared(all) {}

    // sums += the product of `steps` left factors with two parts of right ones.
    template <int tiles>
    static __device__ void add(Tile (&sums)[tiles], const Left (&left)[steps], const float* high,
                               const float* rest) {
        Tile step[tiles];
        device::keep_in_place(step);
        device::begin_products();
#pragma unroll
        for (int part = 0; part < 3; ++part)
#pragma unroll
            for (int s = 0; s < steps; ++s)
                Step<8 * tiles>::add(step, part == 0 ? left[s].rest : left[s].high,
                                     Swizzled::rows(part == 1 ? rest : high, 32 * s), part > 0 || s > 0);
        device::end_products();
        device::wait_for_products<0>();
        device::keep_in_place(step);
#pragma unroll
        for (int n = 0; n < tiles; ++n)
#pragma unroll
            for (int e = 0; e < 4; ++e) sums[n][e] += step[n][e];
    }

    // Loads x of a stage as left factors.
    __device__ void load(const float* x, Left (&left)[steps]) const {
        const int q = device::lane_of_thread() % 4;
#pragma unroll
        for (int s = 0; s < steps; ++s)
#pragma unroll
            for (int lower = 0; lower < 2; ++lower) {
                const int bytes = 16 * s + q / 2 * 64 + q % 2 * 8;
                const auto pair = *reinterpret_cast<const float2*>(reinterpret_cast<const char*>(x) +
                                                                   Swizzled::offset(row(2 * lower), bytes));
                left[s].set(lower, pair.x);
                left[s].set(2 + lower, pair.y);
            }
    }

    __device__ void project() {
        device::clear(hidden);
        device::clear(projected);
        device::RingPlace<STAGES> place;
#pragma unroll 1
        for (int k = 0; k < static_cast<int>(layer.width); k += depth, place.advance()) {
            const Stage& stage = shared.stages[place.slot];
            shared.ring.wait_until_full(place);
            Left x[steps];
            load(stage.x[number], x);
            add(hidden, x, stage.weights[0], stage.weights[1]);
            add(projected, x, stage.weights[0] + HIDDEN * depth, stage.weights[1] + HIDDEN * depth);
            shared.ring.leave(place.slot);
        }
    }

    // Computes numbers that are not finite again: exact(row, column).
    template <int tiles, class Exact>
    __device__ void settle(Tile (&sums)[tiles], Exact exact) {
        settle_elements<4 * tiles>(
            [&](int number) -> float& { return sums[number / 4][number % 4]; },
            [&](int number) { return row(number % 4); },
            [&](int number) { return column(number / 4, number % 4); },
            [&](float value, int row, int) { return !(fabsf(value) <= 3.402823466e38f) && row < at.count; },
            exact);
    }

    // Computes the logits.
    __device__ void multiply_hidden() {
#pragma unroll
        for (int n = 0; n < HIDDEN / 8; ++n)
#pragma unroll
            for (int e = 0; e < 4; ++e) hidden[n][e] += element(layer.gate_b1, column(n, e));
        settle(hidden, [&](int row, int column) { return settled_unit(layer, at.token + row, column); });
        device::clear(gates);
        shared.gates.wait(0);
#pragma unroll
        for (int k = 0; k < HIDDEN; k += depth) {
            Left units[steps];
#pragma unroll
            for (int s = 0; s < steps; ++s)
#pragma unroll
                for (int e = 0; e < 4; ++e) units[s].set(e % 2 * 2 + e / 2, relu(hidden[k / 8 + s][e]));
            add(gates, units, shared.gate_w2[0] + RANK * k, shared.gate_w2[1] + RANK * k);
        }
#pragma unroll
        for (int n = 0; n < RANK / 8; ++n)
#pragma unroll
            for (int e = 0; e < 4; ++e) gates[n][e] += element(layer.gate_b2, column(n, e));
        settle(gates, [&](int row, int column) { return settled_logit(layer, at.token + row, column); });
    }

    __device__ void run() {
        project();
        settle(projected, [&](int row, int column) {
            return settled_projection(layer, at.token + row, HIDDEN + column);
        });
        multiply_hidden();
        store_gates();
        store_projections(shared.totals[number]);
    }
};

// Grid: ceil(tiles / 2), of all sequences. Warp w of a block owns rows 16 (w % 4) … + 15 of tile w / 4.
//   reads    x [B, L, width], and high and rest of [W1; U; V] [2, HIDDEN + 2 RANK, width] and of W2 [2, RANK,
//            HIDDEN], as boxes of 32 columns; biases, gate_noise
//   writes   gates, projected_u, projected_v [B, L, RANK], effective_rank [B, L], totals [B, tiles, RANK]
extern "C" __global__ void __launch_bounds__(THREADS, 1)
    project(const __grid_constant__ SplitProjectArguments given) {
    extern __shared__ __align__(1024) unsigned char bytes[];
    Shared& shared = *reinterpret_cast<Shared*>(bytes);
    run_groups<Group>(given.layer, shared, [&] { produce(given, shared); });
}
