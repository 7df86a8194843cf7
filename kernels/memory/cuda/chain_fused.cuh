// What the warps of chain_fused.cu share, and the weighers. The macros are those of that file.
#pragma once

#include "kernels/cuda/device/tiles.cuh"
#include "kernels/cuda/device/warpgroup.cuh"
#include "kernels/memory/cuda/gates.cuh"

namespace sawtooth::memory {

using device::Tile;

using P = device::Products<device::Precision::bf16>;
using Element = P::Element;
using Swizzled = device::Swizzled<128>;
template <int columns>
using Step = device::WarpgroupStep<device::Precision::bf16, columns / 8>;

constexpr int d = COLUMNS, tile_tokens = 64, strip = 64;  // strip: rows of M of a thread block
constexpr int box = 64, boxes = d / box;                  // a matrix is [boxes][rows][box], as it is copied
constexpr int box_elements = tile_tokens * box, box_bytes = 2 * box_elements;
constexpr int group_threads = 128;
static_assert(THREADS == 3 * group_threads && d % box == 0);

struct Stage {
    Element solved[tile_tokens * d], keys[tile_tokens * d], queries[tile_tokens * d];
    Element values[tile_tokens * strip];  // U, the rows of the block
};

// What is made of the gates and norms of a tile.
struct Coefficients {
    alignas(16) float of_tokens[tile_tokens];  // a_t, times the scale of q_t
    float of_sources[tile_tokens];             // -w_s after the last token, times the scale of k_s
    float key_scales[tile_tokens], query_scales[tile_tokens];
    float a;
};

struct Shared {
    alignas(1024) Stage stages[STAGES];
    Element weights[2][tile_tokens * tile_tokens];  // W, a row for each token that reads
    Element y[2][tile_tokens * strip];
    Element errors[strip * tile_tokens];  // those that are not finite
    Coefficients coefficients[2];
    device::RingBarriers<STAGES> ring;
    device::RingBarriers<2> weight_ring;
};
static_assert(sizeof(Shared) == SHARED_BYTES, "the host counts the same bytes");

// Two neighbouring elements, `column` (even) and the next one, of a row of a matrix as it is copied.
__device__ inline uint32_t& pair_at(Element* matrix, int row, int column) {
    return *reinterpret_cast<uint32_t*>(reinterpret_cast<unsigned char*>(matrix) +
                                        Swizzled::offset(row, 2 * column));
}

using Place = device::RingPlace<STAGES>;
using Slot = device::RingPlace<2>;

// Four warps that make a and W, one tile ahead of the walkers. Warp w owns the tokens 16 w … 16 w + 15.
struct Weighers {
    const ChainFusedArguments& given;
    Shared& shared;
    const int lane = device::lane_of_thread(), warp = device::warp_of_thread() % 4;
    // alpha and theta of tokens 2 lane and 2 lane + 1; every warp has all. They are loaded a tile ahead.
    float alpha[2], theta[2];

    // Loads the gates of a tile; without effect after the last token.
    __device__ void load_gates(int tile) {
        const TilingArguments& tiling = given.chain.tiling;
        const Gates& gates = given.chain.gates;
        const int64_t first = tiling.first + int64_t{tile} * tile_tokens + 2 * lane;
#pragma unroll
        for (int k = 0; k < 2; ++k) {
            const bool exists = first + k < tiling.last;
            const int64_t at = blockIdx.y * given.chain.length + first + k;
            alpha[k] = exists && gates.alpha ? gates.alpha[at] : 0;
            theta[k] = exists ? gates.theta ? gates.theta[at] : 1 : 0;
        }
    }

    __device__ Gate gate(int k) const {
        const Gates& gates = given.chain.gates;
        return {1 - alpha[k] - gates.lambda * theta[k], 0, theta[k] * gates.share};
    }

    // Adds the squares of eight numbers.
    template <class Sum>
    static __device__ Sum plus_squares(Sum sum, const uint4& eight) {
        for (const uint32_t two : {eight.x, eight.y, eight.z, eight.w})
            for (const uint32_t bits : {two << 16, two & 0xffff0000u}) {
                const auto number = static_cast<Sum>(__uint_as_float(bits));
                sum += number * number;
            }
        return sum;
    }

    // The unit of 16 bytes that the lane has of a row; units are permuted in a row, but all are there. Row
    // 4 k + lane / 8 of the warp's rows of keys, or for k from 4 on of queries.
    __device__ uint4& unit(Stage& stage, int k, int b) const {
        const int row = 16 * warp + k % 4 * 4 + lane / 8;
        return reinterpret_cast<uint4*>(
            k < 4 ? stage.keys : stage.queries)[b * (box_elements / 8) + row * (box / 8) + lane % 8];
    }

    // Computes the factors that scale the warp's 16 rows of keys and queries to norm 1.
    __device__ void scale(Stage& stage, Coefficients& to) const {
        float squares[8];
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            squares[k] = 0;
#pragma unroll
            for (int b = 0; b < boxes; ++b) squares[k] = plus_squares(squares[k], unit(stage, k, b));
        }
        const float square = device::sum_of_own_number<1>(squares);  // of row lane % 8
        const int k = lane % 8;
        float* const scales = k < 4 ? to.key_scales : to.query_scales;
        scales[16 * warp + k % 4 * 4 + lane / 8] = rsqrtf(square);
        if (!__all_sync(device::whole_warp, device::is_plain_square(square))) scale_in_place(stage, to);
    }
    // Scales the rows themselves: products of rows that are not scaled yet may leave the range of f32.
    __device__ void scale_in_place(Stage& stage, Coefficients& to) const {
        device::sync_warp();  // the factors are stored
#pragma unroll 1
        for (int k = 0; k < 8; ++k) {
            double square = 0;
            for (int b = 0; b < boxes; ++b) square = plus_squares(square, unit(stage, k, b));
            const double norm = sqrt(device::sum_of_lanes<8>(square));
            const auto factor = static_cast<float>(1 / (norm < 1e-12 ? 1e-12 : norm));
            for (int b = 0; b < boxes; ++b) {
                uint4& eight = unit(stage, k, b);
                for (uint32_t* const two : {&eight.x, &eight.y, &eight.z, &eight.w})
                    *two = P::pair(factor * __uint_as_float(*two << 16),
                                   factor * __uint_as_float(*two & 0xffff0000u));
            }
            (k < 4 ? to.key_scales : to.query_scales)[16 * warp + k % 4 * 4 + lane / 8] = 1;
        }
    }

    // Multiplies scores q_t . k_s by -w_ts and the scales, and stores a_t and the coefficients after the last
    // token. w_ts is the step of s times the decays after s up to t, in groups of 8 tokens, which a quad of
    // lanes has the gates of:
    //   tokens   s . . . | . . . . | . . t .        step of s, decays after s in its group; of whole groups
    //            from s                 upto t      between; from the first of t's group up to t
    __device__ void weigh(Tile (&scores)[8], const Gate (&gates)[2], Coefficients& to) const {
        const unsigned all = device::whole_warp;
        const int quad = lane % 4, row = device::row_of_lane(), column = device::column_of_lane();
        const float decay[2] = {gates[0].decay, gates[1].decay}, both = decay[0] * decay[1];
        float before = 1, after = 1;
#pragma unroll
        for (int step = 1; step < 4; ++step) {
            const float lower = __shfl_up_sync(all, both, step, 4),
                        upper = __shfl_down_sync(all, both, step, 4);
            if (quad >= step) before *= lower;
            if (quad + step < 4) after *= upper;
        }
        const float group_decay = before * both * after;
        const float from[2] = {gates[0].step * decay[1] * after, gates[1].step * after};
        const float upto[2] = {before * decay[0], before * both};

        float a[2];          // decays of the tokens before group n + 1 or up to the lane's token
        float within[2][2];  // w_ts in the group of t
        float query_scale[2];
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int first = 4 * (2 * warp + half);  // the first lane with gates of the group
            const float even = __shfl_sync(all, upto[0], first + row / 2),
                        odd = __shfl_sync(all, upto[1], first + row / 2);
            a[half] = row % 2 == 0 ? even : odd;
            float w[2] = {__shfl_sync(all, gates[0].step, first + quad),
                          __shfl_sync(all, gates[1].step, first + quad)};
#pragma unroll
            for (int t = 1; t < 8; ++t) {
                const float of_t = __shfl_sync(all, decay[t % 2], first + t / 2);
#pragma unroll
                for (int k = 0; k < 2; ++k)
                    if (t > column + k && t <= row) w[k] *= of_t;
            }
#pragma unroll
            for (int k = 0; k < 2; ++k) within[half][k] = w[k];
            query_scale[half] = NORMALISE ? to.query_scales[16 * warp + 8 * half + row] : 1;
        }
#pragma unroll
        for (int n = 7; n >= 0; --n) {
            const float of_group = __shfl_sync(all, group_decay, 4 * n);
            const float w_from[2] = {__shfl_sync(all, from[0], 4 * n + quad),
                                     __shfl_sync(all, from[1], 4 * n + quad)};
            float key_scale[2] = {1, 1};
            if (NORMALISE) {
                const auto two = *reinterpret_cast<const float2*>(&to.key_scales[8 * n + column]);
                key_scale[0] = two.x, key_scale[1] = two.y;
            }
#pragma unroll
            for (int half = 0; half < 2; ++half) {
                const int group = 2 * warp + half;
#pragma unroll
                for (int k = 0; k < 2; ++k) {
                    float& score = scores[n][2 * half + k];
                    const float w = -key_scale[k] * (n == group ? within[half][k] : w_from[k] * a[half]);
                    if (warp == 3 && half == 1 && row == 7) to.of_sources[8 * n + column + k] = w;
                    // Not a product with zero, which may give NaN.
                    score = n > group || (n == group && column + k > row) ? 0 : score * query_scale[half] * w;
                }
                if (n < group) a[half] *= of_group;
            }
        }
        if (quad > 0) return;
#pragma unroll
        for (int half = 0; half < 2; ++half)
            to.of_tokens[16 * warp + 8 * half + row] = a[half] * query_scale[half];
        if (warp == 3 && row == 7) to.a = a[1];
    }

    __device__ void run() {
        const int tiles = given.chain.tiling.tiles;
        Place place;
        Slot slot;
        load_gates(0);
        for (int tile = 0; tile < tiles; ++tile, place.advance(), slot.advance()) {
            Stage& stage = shared.stages[place.slot];
            Coefficients& to = shared.coefficients[slot.slot];
            const Gate gates[2] = {gate(0), gate(1)};
            load_gates(tile + 1);
            shared.ring.wait_until_full(place);
            device::Barrier& full = shared.weight_ring.begin_to_fill(slot);
            if (NORMALISE) {
                scale(stage, to);
                device::make_stores_visible_to_products();
                device::sync_group();  // the scales of all rows are visible
            }
            Tile scores[8];
            device::keep_in_place(scores);
            device::begin_products();
#pragma unroll
            for (int k = 0; k < d / 16; ++k) {
                const int bytes = k / 4 * box_bytes + k % 4 * 32;
                Step<tile_tokens>::add<false>(scores, Swizzled::rows(stage.queries, bytes),
                                              Swizzled::rows(stage.keys, bytes), k > 0);
            }
            device::end_products();
            device::wait_for_products<0>();
            device::keep_in_place(scores);
            shared.ring.leave(place.slot);
            weigh(scores, gates, to);
#pragma unroll
            for (int n = 0; n < 8; ++n)
#pragma unroll
                for (int half = 0; half < 2; ++half)
                    pair_at(shared.weights[slot.slot], 16 * warp + 8 * half + device::row_of_lane(),
                            8 * n + device::column_of_lane()) =
                        P::pair(scores[n][2 * half], scores[n][2 * half + 1]);
            device::make_stores_visible_to_products();
            full.arrive();
        }
    }
};

}  // namespace sawtooth::memory
