// Attention in one pass over the keys. A thread block computes o and lse of BLOCK_M queries of a head. A warp
// owns one or more bands of 16 queries, whose sums and running maxima stay in registers. Tiles of BLOCK_N
// keys and values pass through shared memory, STAGES of them in flight:
//   global   K, V  ->  shared [STAGES][keys | far keys | values]  ->  registers, tensor cores  ->  sums of o
// The mask decides per tile which keys are loaded and multiplied (mask.cuh); tiles that are all masked are
// not visited.
//
// Defines: THREADS, SHARED_BYTES, BLOCK_M, BLOCK_N, HEAD, STAGES, PRECISION (bf16 or f16), CAUSAL,
// ZERO_SCALE, SHARING, CACHE.

#include "kernels/attention/cuda/hidden.cuh"
#include "kernels/attention/cuda/softmax.cuh"
#include "kernels/cuda/device/sync.cuh"

using namespace sawtooth;
using namespace sawtooth::attention;
using device::Lies;

constexpr auto precision = device::Precision::PRECISION;
using P = device::Products<precision>;
using Element = P::Element;

constexpr int warps = THREADS / 32;
constexpr int padding = device::bank_padding<precision>, stride = HEAD + padding;
constexpr int working = BLOCK_M / 16 < warps ? BLOCK_M / 16 : warps;  // warps with queries; the others copy
constexpr int bands = BLOCK_M / (16 * working);                       // bands of 16 queries of a warp
constexpr int together = bands % 2 == 0 ? 2 : 1;                      // bands that share a load of keys
constexpr int steps = HEAD / 16;
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

// Computes scores = queries * keys^T of `count` bands.
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

// Adds the tile of keys that begins at `key` to the queries of a warp, which begin at `row` in shared memory
// and at `query` in the head.
template <TileKind kind, bool hides>
__device__ void visit(Shared& shared, const Stage& stage, const Mask& mask, int query, int row, int key,
                      float factor, bool by_pair, OnlineSoftmax (&rows)[bands]) {
    // Mixed tiles and tiles with hidden pairs are few. They take one band at a time, so that registers
    // suffice.
    constexpr int count = kind == TileKind::mixed || hides ? 1 : together;
#pragma unroll
    for (int first = 0; first < bands; first += count) {
        const int down = 16 * first;
        Tile scores[count][key_tiles];
        if constexpr (kind == TileKind::far)
            multiply_scores(&shared.far_queries[row + down], stage.far_keys, scores);
        else
            multiply_scores(&shared.near_queries[row + down], stage.near_keys, scores);
        if constexpr (kind == TileKind::mixed) {
            Tile far[1][key_tiles];
            multiply_scores(&shared.far_queries[row + down], stage.far_keys, far);
            choose(mask, query + down, key, far[0], scores[0]);
        }
#pragma unroll
        for (int b = 0; b < count; ++b) {
            apply_zero_scale(scores[b]);
            if constexpr (hides) hide(mask, query + down + 16 * b, key, scores[b]);
            rows[first + b].rescale(rows[first + b].weigh(scores[b], factor));
        }
        if constexpr (hides) {
            if (by_pair) {
#pragma unroll
                for (int b = 0; b < count; ++b)
                    multiply_seen(
                        scores[b], rows[first + b].sums,
                        [&](int k, int column) { return P::value(stage.values[k][column]); },
                        [&](int r, int k) { return mask.allows(query + down + 16 * b + r, key + k); });
                continue;
            }
        }
        if constexpr (count == 2)
            device::multiply_both<precision, Lies::in_rows>(scores[0], scores[1], &stage.values[0][0], stride,
                                                            rows[first].sums, rows[first + 1].sums);
        else
            device::multiply<precision, Lies::in_rows>(scores[0], &stage.values[0][0], stride,
                                                       rows[first].sums);
    }
}

__device__ void copy_stage(Stage& stage, const Arguments& given, int64_t head, TileKind kind, int key) {
    const int64_t at = key_row(given, head, key) * HEAD;
    const int there = static_cast<int>(min(static_cast<int64_t>(BLOCK_N), given.length - key));
    const auto copy = [&](Element(&to)[BLOCK_N][stride], const void* from) {
        device::copy_tile<BLOCK_N, HEAD, THREADS>(&to[0][0], stride, static_cast<const Element*>(from) + at,
                                                  there);
    };
    if (kind != TileKind::far) copy(stage.near_keys, given.k1);
    if (kind != TileKind::near) copy(stage.far_keys, given.k2);
    copy(stage.values, given.v);
}

// The walk of a thread block along the tiles of keys.
struct Walk {
    Shared& shared;
    const Arguments& given;
    const Mask mask;
    const int64_t head;
    const int query, tiles, row;  // the first query, the key tiles, the first row of the warp
    const bool works;
    const float factor;
    int tile = 0;

    __device__ TileKind kind(int number) const {
        return mask.kind(query, query + BLOCK_M, number * BLOCK_N, (number + 1) * BLOCK_N);
    }
    __device__ bool hides(int number) const {
        return mask.forbids(query, number * BLOCK_N, (number + 1) * BLOCK_N);
    }
    __device__ void start(int coming) const {
        if (coming < tiles)
            copy_stage(shared.stages[coming % STAGES], given, head, kind(coming), coming * BLOCK_N);
        device::end_batch_of_copies();  // also an empty one, so that batches count tiles
    }

    // Visits neighbouring tiles of one kind. Tiles with hidden pairs have code of their own, so that the loop
    // over the others stays short.
    template <TileKind visited, bool hides_pairs>
    __device__ void visit_tiles(OnlineSoftmax (&rows)[bands]) {
        do {
            if constexpr (STAGES == 1) {
                device::sync_block();  // all have read the tile before
                start(tile);
                device::wait_for_copies();
                device::sync_block();  // the tile is visible to all
            } else {
                device::wait_for_copies_but_last<STAGES - 2>();
                device::sync_block();  // the tile is visible to all, and all have read the one before
                start(tile + STAGES - 1);
            }
            const Stage& stage = shared.stages[tile % STAGES];
            bool by_pair = false;
            if constexpr (hides_pairs)
                by_pair = device::any_of_block(
                    has_nonfinite<device::PRECISION, BLOCK_N, HEAD, THREADS>(&stage.values[0][0], stride));
            if (works)
                visit<visited, hides_pairs>(shared, stage, mask, query + row, row, tile * BLOCK_N, factor,
                                            by_pair, rows);
            ++tile;
        } while (tile < tiles && kind(tile) == visited &&
                 (visited == TileKind::mixed || hides(tile) == hides_pairs));
    }
    template <TileKind visited>
    __device__ void visit_tiles(OnlineSoftmax (&rows)[bands]) {
        if (hides(tile))
            visit_tiles<visited, true>(rows);
        else
            visit_tiles<visited, false>(rows);
    }
    __device__ void run(OnlineSoftmax (&rows)[bands]) {
        for (int early = 0; early < STAGES - 1; ++early) start(early);
        while (tile < tiles) {
            const TileKind present = kind(tile);
            if (present == TileKind::near)
                visit_tiles<TileKind::near>(rows);
            else if (present == TileKind::far)
                visit_tiles<TileKind::far>(rows);
            else
                visit_tiles<TileKind::mixed, true>(rows);
        }
    }
};

extern "C" __global__ void __launch_bounds__(THREADS) forward(Arguments given) {
    extern __shared__ __align__(16) unsigned char bytes[];
    Shared& shared = *reinterpret_cast<Shared*>(bytes);
    const Mask mask(given.length, given.window);
    // The first thread blocks get the queries with the most tiles, so that the last ones are short.
    const int query =
        static_cast<int>(first_query(given)) + static_cast<int>(gridDim.x - 1 - blockIdx.x) * BLOCK_M;
    const int64_t head = blockIdx.y, at = query_row(given, head, query) * HEAD;
    const int there = static_cast<int>(min(static_cast<int64_t>(BLOCK_M), given.length - query));
    device::copy_tile<BLOCK_M, HEAD, THREADS>(&shared.near_queries[0][0], stride,
                                              static_cast<const Element*>(given.q1) + at, there);
    device::copy_tile<BLOCK_M, HEAD, THREADS>(&shared.far_queries[0][0], stride,
                                              static_cast<const Element*>(given.q2) + at, there);
    OnlineSoftmax rows[bands];
#pragma unroll
    for (OnlineSoftmax& band : rows) band.start();
    const int row = device::warp_of_thread() * 16 * bands;
    const bool works = device::warp_of_thread() < working;
    Walk{shared, given, mask,
         head,   query, key_tiles_of(mask, query + BLOCK_M),
         row,    works, factor_of(given.scale)}
        .run(rows);
    if (!works) return;
#pragma unroll
    for (int b = 0; b < bands; ++b) rows[b].finish<device::PRECISION>(given, head, query + row + 16 * b);
}
