// Attention in one pass over the keys: o and lse of BLOCK_M queries of a head per thread block. A warp owns
// 16 or more queries: their sums and the running maximum of the softmax stay in registers. Tiles of BLOCK_N
// keys and values pass through shared memory, STAGES of them in flight:
//   global   K, V  ->  shared [STAGES][keys | far keys | values]  ->  registers, tensor cores  ->  sums of o
// The mask decides per tile which keys are loaded and multiplied:
//   near   all pairs within the window: q1 k1      far    all pairs beyond it: q2 k2
//   mixed  both, chosen per pair                   skipped tiles (all pairs after the query) are not visited
//
// Defines: THREADS, SHARED_BYTES, BLOCK_M, BLOCK_N, HEAD, STAGES, PRECISION (bf16 or f16), CAUSAL.

#include "kernels/attention/cuda/arguments.cuh"
#include "kernels/cuda/device/tiles.cuh"

using namespace sawtooth;
using device::Lies;
using device::Tile;

constexpr auto precision = device::Precision::PRECISION;
using P = device::Products<precision>;
using Element = P::Element;
using Storage = device::PRECISION;

constexpr int warps = THREADS / 32;
constexpr int padding = device::bank_padding<precision>, stride = HEAD + padding;
constexpr int working = BLOCK_M / 16 < warps ? BLOCK_M / 16 : warps;  // warps with queries; the others copy
constexpr int bands = BLOCK_M / (16 * working);                       // of 16 queries per warp
constexpr int together = bands % 2 == 0 ? 2 : 1;                      // bands that share a load of keys
constexpr int key_tiles = BLOCK_N / 8, head_tiles = HEAD / 8, steps = HEAD / 16;
static_assert(BLOCK_M % 16 == 0 && BLOCK_N % 16 == 0 && HEAD % 16 == 0, "whole steps of the tensor cores");

struct Stage {
    Element near_keys[BLOCK_N][stride];
    Element far_keys[BLOCK_N][stride];
    Element values[BLOCK_N][stride];
};

struct Shared {
    alignas(16) Element near_queries[BLOCK_M][stride];
    Element far_queries[BLOCK_M][stride];
    Stage stages[STAGES];
};
static_assert(sizeof(Shared) == SHARED_BYTES, "the host counts the same bytes");

enum class Kind { near, far, mixed };

struct Mask {
    int64_t length, window;

    // The key tiles that queries from `first` to last - 1 visit, from the first on.
    __device__ int tiles(int last) const {
        const int64_t keys = CAUSAL ? min(static_cast<int64_t>(last), length) : length;
        return static_cast<int>((keys + BLOCK_N - 1) / BLOCK_N);
    }
    __device__ Kind kind(int first, int last, int key) const {
        const int64_t queries_end = min(static_cast<int64_t>(last), length);
        const int64_t keys_end = min(static_cast<int64_t>(key) + BLOCK_N, length);
        const int64_t after = queries_end - 1 - key, before = keys_end - 1 - first;
        const int64_t farthest = CAUSAL ? after : max(after, before);
        const int64_t gap = max(first - (keys_end - 1), key - (queries_end - 1));
        if (farthest < window) return Kind::near;
        return gap >= window ? Kind::far : Kind::mixed;
    }
    __device__ bool allows(int query, int key) const { return key < length && (!CAUSAL || key <= query); }
    __device__ bool is_near(int query, int key) const { return abs(query - key) < window; }
};

__device__ float exp2_of(float value) {
    float power;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(value));
    return power;
}

constexpr float nothing = -1e30f;  // below every score; its differences are finite

// The queries of a warp: their sums of values, and the softmax so far of the two rows of every lane and band.
struct Rows {
    Tile sums[bands][head_tiles];
    float most[bands][2], total[bands][2];
};

// scores of `count` bands = queries * keys^T
template <int count>
__device__ void multiply_scores(const Element (*queries)[stride], const Element (*keys)[stride],
                                Tile (&scores)[count][key_tiles]) {
#pragma unroll
    for (int b = 0; b < count; ++b) device::clear(scores[b]);
#pragma unroll
    for (int k = 0; k < steps; ++k) {
        P::Left left[count];
#pragma unroll
        for (int b = 0; b < count; ++b) left[b] = P::left_in_rows(&queries[16 * b][16 * k], stride);
        if constexpr (count == 2)
            device::multiply_step<precision, Lies::in_columns>(left[0], left[1], &keys[0][16 * k], stride,
                                                               scores[0], scores[1]);
        else
            device::multiply_step<precision, Lies::in_columns>(left[0], &keys[0][16 * k], stride, scores[0]);
    }
}

template <class Act>
__device__ void for_each_pair(Tile (&scores)[key_tiles], int query, int key, Act act) {
#pragma unroll
    for (int n = 0; n < key_tiles; ++n)
#pragma unroll
        for (int at = 0; at < 4; ++at)
            act(scores[n][at], query + device::row_of_lane() + at / 2 * 8,
                key + 8 * n + device::column_of_lane() + at % 2, n, at);
}

// Turns the scores of a band into probabilities relative to the new maximum, and rescales its sums.
__device__ void soften(Tile (&scores)[key_tiles], float factor, Tile (&sums)[head_tiles], float (&most)[2],
                       float (&total)[2]) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
        float largest = nothing;
#pragma unroll
        for (int n = 0; n < key_tiles; ++n)
            largest = fmaxf(largest, fmaxf(scores[n][2 * half], scores[n][2 * half + 1]));
        largest = fmaxf(largest, __shfl_xor_sync(device::whole_warp, largest, 1));
        largest = fmaxf(largest, __shfl_xor_sync(device::whole_warp, largest, 2));
        const float now = fmaxf(most[half], largest * factor), kept = exp2_of(most[half] - now);
        most[half] = now;
        float sum = 0;
#pragma unroll
        for (int n = 0; n < key_tiles; ++n)
#pragma unroll
            for (int at = 2 * half; at < 2 * half + 2; ++at) {
                scores[n][at] = exp2_of(scores[n][at] * factor - now);
                sum += scores[n][at];
            }
        total[half] = total[half] * kept + sum;
        device::scale_row(sums, half, kept);
    }
}

template <Kind kind>
__device__ void visit(Shared& shared, const Stage& stage, const Mask& mask, int query, int row, int key,
                      float factor, bool masks, Rows& rows) {
    // Mixed tiles are few: one band at a time, so that two sets of scores fit in registers.
    constexpr int count = kind == Kind::mixed ? 1 : together;
#pragma unroll
    for (int first = 0; first < bands; first += count) {
        const int at = row + 16 * first;
        Tile scores[count][key_tiles];
        if constexpr (kind == Kind::far)
            multiply_scores(&shared.far_queries[at], stage.far_keys, scores);
        else
            multiply_scores(&shared.near_queries[at], stage.near_keys, scores);
        if constexpr (kind == Kind::mixed) {
            Tile far[1][key_tiles];
            multiply_scores(&shared.far_queries[at], stage.far_keys, far);
            for_each_pair(scores[0], query + at, key, [&](float& score, int i, int j, int n, int c) {
                if (!mask.is_near(i, j)) score = far[0][n][c];
            });
        }
#pragma unroll
        for (int b = 0; b < count; ++b) {
            if (masks)
                for_each_pair(scores[b], query + at + 16 * b, key, [&](float& score, int i, int j, int, int) {
                    if (!mask.allows(i, j)) score = __int_as_float(0xff800000);  // -infinity
                });
            soften(scores[b], factor, rows.sums[first + b], rows.most[first + b], rows.total[first + b]);
        }
        if constexpr (count == 2)
            device::multiply_both<precision, Lies::in_rows>(scores[0], scores[1], &stage.values[0][0], stride,
                                                            rows.sums[first], rows.sums[first + 1]);
        else
            device::multiply<precision, Lies::in_rows>(scores[0], &stage.values[0][0], stride,
                                                       rows.sums[first]);
    }
}

__device__ void copy_stage(Stage& stage, const attention::ForwardArguments& given, const Mask& mask,
                           int64_t head, Kind kind, int key) {
    const int64_t at = (head * mask.length + key) * HEAD;
    const int there = static_cast<int>(min(static_cast<int64_t>(BLOCK_N), mask.length - key));
    const auto copy = [&](Element(&to)[BLOCK_N][stride], const void* from) {
        device::copy_tile<BLOCK_N, HEAD, THREADS>(&to[0][0], stride, static_cast<const Element*>(from) + at,
                                                  there);
    };
    if (kind != Kind::far) copy(stage.near_keys, given.k1);
    if (kind != Kind::near) copy(stage.far_keys, given.k2);
    copy(stage.values, given.v);
}

// Stores o and lse of the two rows of a lane in every band.
__device__ void finish(const attention::ForwardArguments& given, int64_t head, int query, Rows& rows) {
#pragma unroll
    for (int b = 0; b < bands; ++b) {
        const int first = query + 16 * b;
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const float total = device::sum_of_quad(rows.total[b][half]);
            device::scale_row(rows.sums[b], half, 1 / total);
            const int64_t row = first + device::row_of_lane() + 8 * half;
            if (row < given.length && device::column_of_lane() == 0)
                given.lse[head * given.length + row] = rows.most[b][half] + log2f(total);
        }
        const int64_t left = given.length - first;
        auto* const to = static_cast<Element*>(given.o) + (head * given.length + first) * HEAD;
        device::store_rows<Storage, HEAD>(rows.sums[b], left < 16 ? static_cast<int>(max(left, 0L)) : 16, to);
    }
}

extern "C" __global__ void __launch_bounds__(THREADS) forward(attention::ForwardArguments given) {
    extern __shared__ __align__(16) unsigned char bytes[];
    Shared& shared = *reinterpret_cast<Shared*>(bytes);
    const Mask mask = {given.length, given.window};
    // The longest rows of tiles first, so that the last thread blocks are short.
    const int query = static_cast<int>(gridDim.x - 1 - blockIdx.x) * BLOCK_M, last = query + BLOCK_M;
    const int64_t head = blockIdx.y;
    const int tiles = mask.tiles(last);
    const int64_t at = (head * given.length + query) * HEAD;
    const int there = static_cast<int>(min(static_cast<int64_t>(BLOCK_M), given.length - query));
    device::copy_tile<BLOCK_M, HEAD, THREADS>(&shared.near_queries[0][0], stride,
                                              static_cast<const Element*>(given.q1) + at, there);
    device::copy_tile<BLOCK_M, HEAD, THREADS>(&shared.far_queries[0][0], stride,
                                              static_cast<const Element*>(given.q2) + at, there);
    const auto start = [&](int tile) {
        if (tile < tiles)
            copy_stage(shared.stages[tile % STAGES], given, mask, head,
                       mask.kind(query, last, tile * BLOCK_N), tile * BLOCK_N);
        device::end_batch_of_copies();  // also an empty one, so that batches count tiles
    };
    for (int tile = 0; tile < STAGES - 1; ++tile) start(tile);

    Rows rows;
#pragma unroll
    for (int b = 0; b < bands; ++b) {
        device::clear(rows.sums[b]);
#pragma unroll
        for (int half = 0; half < 2; ++half) rows.most[b][half] = nothing, rows.total[b][half] = 0;
    }
    const float factor = fmaxf(given.scale * 1.4426950408889634f, 1e-37f);  // 0 would make masked scores NaN
    const int row = device::warp_of_thread() * 16 * bands;
    const bool works = device::warp_of_thread() < working;
    for (int tile = 0; tile < tiles; ++tile) {
        if constexpr (STAGES == 1) {
            __syncthreads();  // all have read the tile before
            start(tile);
            device::wait_for_copies();
            __syncthreads();  // the tile is visible to all
        } else {
            device::wait_for_copies_but_last<STAGES - 2>();
            __syncthreads();  // the tile is visible to all, and all have read the one before
            start(tile + STAGES - 1);
        }
        const int key = tile * BLOCK_N;
        const Stage& stage = shared.stages[tile % STAGES];
        const bool masks = key + BLOCK_N > given.length || (CAUSAL && key + BLOCK_N - 1 > query + row);
        if (works) {
            const Kind kind = mask.kind(query, last, key);
            if (kind == Kind::near)
                visit<Kind::near>(shared, stage, mask, query, row, key, factor, masks, rows);
            else if (kind == Kind::far)
                visit<Kind::far>(shared, stage, mask, query, row, key, factor, masks, rows);
            else
                visit<Kind::mixed>(shared, stage, mask, query, row, key, factor, masks, rows);
        }
    }
    if (works) finish(given, head, query + row, rows);
}
