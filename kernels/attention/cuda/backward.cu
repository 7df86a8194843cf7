// The gradients from o, lse and the gradient of o, in one launch. The first thread blocks of a head own
// BLOCK_N keys each and sum dk1, dk2 and dv over the queries; the others own BLOCK_M queries each and sum dq1
// and dq2 over the keys. Scores are recomputed by both, so that no sum needs atomics. With
//   p = exp2(s log2 e - lse), ds = p (do . v - delta)     (delta: preprocess.cu; scale is applied at the end)
// an owner of rows `own` (keys: k, v; queries: q, do), visited by tiles (keys: q, do; queries: k, v), adds
//   keys:    dv += p^T do, dk += ds^T q        queries:    dq += ds k
// where p and ds go from sums to left factors in registers. Near and far pairs are visited one after the
// other: a mixed tile is visited twice, the pairs of the other encoding hidden. For N = 4 tiles, causal:
//   query tile   0 1 2 3        owner of keys 1 is visited by the queries 1, 2, 3 (row 1),
//   keys 0       x x x x        owner of queries 2 by the keys 0, 1, 2 (column 2).
//   keys 1         x x x        Every x is multiplied by one owner of keys and one of queries: seven products
//   keys 2           x x        of rows of HEAD per pair, where atomics on dq would need five.
//   keys 3             x
//
// Defines: THREADS, SHARED_BYTES, BLOCK_M, BLOCK_N, HEAD, STAGES, PRECISION (bf16 or f16), CAUSAL.

#include "kernels/attention/cuda/hidden.cuh"
#include "kernels/attention/cuda/mask.cuh"
#include "kernels/cuda/device/sync.cuh"
#include "kernels/cuda/device/tiles.cuh"

using namespace sawtooth;
using namespace sawtooth::attention;
using device::Lies;
using device::Tile;

constexpr auto precision = device::Precision::PRECISION;
using P = device::Products<precision>;
using Element = P::Element;

constexpr int warps = THREADS / 32, head_tiles = HEAD / 8;
constexpr int stride = HEAD + device::bank_padding<precision>;

enum class Owner { keys, queries };

template <Owner owner>
struct Pass {
    static constexpr int rows = owner == Owner::keys ? BLOCK_N : BLOCK_M;     // owned
    static constexpr int columns = owner == Owner::keys ? BLOCK_M : BLOCK_N;  // of a visiting tile
    // Warps own bands of 16 rows. With fewer bands than warps, several warps share a band, each with its
    // slices of the visiting tile, and their sums are added at the end.
    static constexpr int row_warps = rows / 16 < warps ? rows / 16 : warps;
    static constexpr int bands = rows / (16 * row_warps), shares = warps / row_warps;
    static constexpr int slice = columns / shares >= 64 ? 64 : columns / shares >= 16 ? columns / shares : 16;

    struct Stage {
        Element first[columns][stride];      // q or k
        Element second[columns][stride];     // do or v
        float lse[columns], delta[columns];  // unused if keys visit
    };
    struct Shared {
        alignas(16) Element first[rows][stride];  // k or q
        Element second[rows][stride];             // v or do
        Stage stages[STAGES];
    };
    using Sums = Tile[bands][head_tiles];
};
constexpr int key_bytes = sizeof(Pass<Owner::keys>::Shared),
              query_bytes = sizeof(Pass<Owner::queries>::Shared);
static_assert((key_bytes > query_bytes ? key_bytes : query_bytes) == SHARED_BYTES,
              "the host counts the same bytes");

// sums[16, slice] = rows * columns^T
template <int tiles>
__device__ void multiply_rows(const Element (*rows)[stride], const Element (*columns)[stride],
                              Tile (&sums)[tiles]) {
    device::clear(sums);
#pragma unroll
    for (int k = 0; k < HEAD / 16; ++k)
        device::multiply_step<precision, Lies::in_columns>(P::left_in_rows(&rows[0][16 * k], stride),
                                                           &columns[0][16 * k], stride, sums);
}

// The rows of an owner while tiles visit.
template <Owner owner>
struct Visit {
    using Pass = ::Pass<owner>;
    typename Pass::Shared& shared;
    const Arguments& given;
    const Mask mask;
    const int64_t head;
    const int own;  // the first owned position
    const float factor;

    __device__ int64_t at(int position) const { return (head * given.length + position) * HEAD; }
    __device__ int there(int first, int count) const { return min(count, mask.length - first); }

    __device__ Kind kind(int visitor) const {
        const int first = visitor * Pass::columns;
        return owner == Owner::keys ? mask.kind(first, first + BLOCK_M, own, own + BLOCK_N)
                                    : mask.kind(own, own + BLOCK_M, first, first + BLOCK_N);
    }
    __device__ bool hides(int visitor) const {
        const int first = visitor * Pass::columns;
        return kind(visitor) == Kind::mixed ||
               (owner == Owner::keys
                    ? mask.forbids(first, own, own + BLOCK_N) || first + BLOCK_M > mask.length
                    : mask.forbids(own, first, first + BLOCK_N));
    }
    // The next visitor from `visitor` on with pairs of that kind, or the number of all.
    __device__ int next(int visitor, Kind wanted) const {
        const int end = visitors();
        while (visitor < end && kind(visitor) != wanted && kind(visitor) != Kind::mixed) ++visitor;
        return visitor;
    }
    __device__ int first_visitor() const { return owner == Owner::keys && CAUSAL ? own / BLOCK_M : 0; }
    __device__ int visitors() const {
        const int last = owner == Owner::queries && CAUSAL ? min(own + BLOCK_M, mask.length) : mask.length;
        return (last + Pass::columns - 1) / Pass::columns;
    }

    __device__ void copy_own(const void* first, const void* second) {
        device::copy_tile<Pass::rows, HEAD, THREADS>(&shared.first[0][0], stride,
                                                     static_cast<const Element*>(first) + at(own),
                                                     there(own, Pass::rows));
        device::copy_tile<Pass::rows, HEAD, THREADS>(&shared.second[0][0], stride,
                                                     static_cast<const Element*>(second) + at(own),
                                                     there(own, Pass::rows));
    }
    __device__ void copy_visitor(typename Pass::Stage& stage, int visitor, const void* first,
                                 const void* second) {
        const int from = visitor * Pass::columns, count = there(from, Pass::columns);
        device::copy_tile<Pass::columns, HEAD, THREADS>(&stage.first[0][0], stride,
                                                        static_cast<const Element*>(first) + at(from), count);
        device::copy_tile<Pass::columns, HEAD, THREADS>(
            &stage.second[0][0], stride, static_cast<const Element*>(second) + at(from), count);
        if constexpr (owner == Owner::keys)
            for (int i = threadIdx.x; i < Pass::columns; i += THREADS) {
                const int64_t row = head * given.length + from + i;
                device::copy_async<4>(&stage.lse[i], given.lse + row, i < count);
                device::copy_async<4>(&stage.delta[i], given.delta + row, i < count);
            }
    }

    // Whether an owned position and a visiting one are a pair of that kind. The padding of the last tile of
    // queries does not count: its zeros times an infinite key would be NaN.
    __device__ bool sees(int mine, int other, Kind wanted) const {
        const int query = owner == Owner::keys ? other : mine, key = owner == Owner::keys ? mine : other;
        return query < mask.length && mask.allows(query, key) &&
               mask.is_near(query, key) == (wanted == Kind::near);
    }

    // Adds one visitor's pairs of a kind. Tiles with hidden pairs have code of their own, so that the others
    // stay short.
    template <bool hides>
    __device__ void add(const typename Pass::Stage& stage, int visitor, Kind wanted,
                        const float (&lse)[Pass::bands][2], const float (&delta)[Pass::bands][2],
                        typename Pass::Sums& sums, typename Pass::Sums& value_sums) {
        const int warp = device::warp_of_thread(), row = warp % Pass::row_warps * 16 * Pass::bands,
                  share = warp / Pass::row_warps;
        const int from = visitor * Pass::columns;
        const auto has_strange = [](const Element(&rows)[Pass::columns][stride]) {
            return has_nonfinite<device::PRECISION, Pass::columns, HEAD, THREADS>(&rows[0][0], stride);
        };
        bool by_pair = false;
        if constexpr (hides)
            by_pair = device::any_of_block(has_strange(stage.first) || has_strange(stage.second));
#pragma unroll
        for (int b = 0; b < Pass::bands; ++b) {
            const int first = own + row + 16 * b;
#pragma unroll 1
            for (int column = share * Pass::slice; column < Pass::columns;
                 column += Pass::shares * Pass::slice) {
                constexpr int tiles = Pass::slice / 8;
                Tile p[tiles], ds[tiles];
                multiply_rows(&shared.first[row + 16 * b], &stage.first[column], p);
                multiply_rows(&shared.second[row + 16 * b], &stage.second[column], ds);
#pragma unroll
                for (int n = 0; n < tiles; ++n) {
                    const int c = column + 8 * n + device::column_of_lane();
                    float2 of_lse, of_delta;
                    if constexpr (owner == Owner::keys) {
                        of_lse = *reinterpret_cast<const float2*>(&stage.lse[c]);
                        of_delta = *reinterpret_cast<const float2*>(&stage.delta[c]);
                    }
#pragma unroll
                    for (int i = 0; i < 4; ++i) {
                        const float l = owner == Owner::queries ? lse[b][i / 2] : i % 2 ? of_lse.y : of_lse.x;
                        const float d = owner == Owner::queries ? delta[b][i / 2]
                                        : i % 2                 ? of_delta.y
                                                                : of_delta.x;
                        const float power = exp2_of(p[n][i] * factor - l);
                        const bool counts = !hides || sees(first + device::row_of_lane() + i / 2 * 8,
                                                           from + c + i % 2, wanted);
                        p[n][i] = counts ? power : 0;
                        ds[n][i] = counts ? power * (ds[n][i] - d) : 0;
                    }
                }
                const auto add_product = [&](Tile(&left)[tiles], const Element(*right)[stride],
                                             Tile(&to)[head_tiles]) {
                    if (hides && by_pair)
                        multiply_seen(
                            left, to, [&](int k, int at) { return P::value(right[column + k][at]); },
                            [&](int r, int k) { return sees(first + r, from + column + k, wanted); });
                    else
                        device::multiply<precision, Lies::in_rows>(left, &right[column][0], stride, to);
                };
                if constexpr (owner == Owner::keys) add_product(p, stage.second, value_sums[b]);
                add_product(ds, stage.first, sums[b]);
            }
        }
    }

    // Adds the sums of warps that share a band, in the order of the warps, and stores them.
    __device__ void store(typename Pass::Sums& sums, float scale, float* to) {
        const int warp = device::warp_of_thread(), row = warp % Pass::row_warps * 16 * Pass::bands,
                  share = warp / Pass::row_warps;
        auto* const room = reinterpret_cast<float*>(&shared);  // [rows, HEAD]
        static_assert(sizeof(Pass::Shared::first) + sizeof(Pass::Shared::second) >=
                      Pass::rows * HEAD * sizeof(float));
#pragma unroll 1
        for (int other = 1; other < Pass::shares; ++other) {
            device::sync_block();  // all have used the room
#pragma unroll
            for (int b = 0; b < Pass::bands; ++b)
                if (share == other) device::store_tiles(sums[b], room + (row + 16 * b) * HEAD, HEAD);
            device::sync_block();  // the sums are visible
#pragma unroll
            for (int b = 0; b < Pass::bands; ++b) {
                if (share > 0) continue;
                Tile theirs[head_tiles];
                device::load_tiles(room + (row + 16 * b) * HEAD, HEAD, theirs);
#pragma unroll
                for (int n = 0; n < head_tiles; ++n)
#pragma unroll
                    for (int i = 0; i < 4; ++i) sums[b][n][i] += theirs[n][i];
            }
        }
        if (share > 0) return;
#pragma unroll
        for (int b = 0; b < Pass::bands; ++b) {
            device::scale_row(sums[b], 0, scale);
            device::scale_row(sums[b], 1, scale);
            const int first = own + row + 16 * b;
            device::store_rows<device::f32, HEAD>(sums[b], max(min(16, mask.length - first), 0),
                                                  to + at(first));
        }
    }

    // All visitors with pairs of a kind.
    __device__ void sweep(Kind wanted, const void* own_first, const void* own_second, const void* first,
                          const void* second, const float (&lse)[Pass::bands][2],
                          const float (&delta)[Pass::bands][2], typename Pass::Sums& sums,
                          typename Pass::Sums& value_sums) {
#pragma unroll
        for (int b = 0; b < Pass::bands; ++b) device::clear(sums[b]);
        int visitor = next(first_visitor(), wanted), coming = visitor, slot = 0, coming_slot = 0;
        if (visitor == visitors()) return;
        device::sync_block();  // all have used the room
        copy_own(own_first, own_second);
        const auto start = [&] {
            if (coming < visitors()) {
                copy_visitor(shared.stages[coming_slot], coming, first, second);
                coming = next(coming + 1, wanted);
            }
            coming_slot = (coming_slot + 1) % STAGES;
            device::end_batch_of_copies();  // also an empty one, so that batches count visitors
        };
        for (int stage = 0; stage < STAGES - 1; ++stage) start();
        for (; visitor < visitors(); visitor = next(visitor + 1, wanted)) {
            if constexpr (STAGES == 1) {
                device::sync_block();  // all have used the visitor before
                start();
                device::wait_for_copies();
                device::sync_block();  // the visitor is visible to all
            } else {
                device::wait_for_copies_but_last<STAGES - 2>();
                device::sync_block();  // the visitor is visible to all, and all have used the one before
                start();
            }
            if (hides(visitor))
                add<true>(shared.stages[slot], visitor, wanted, lse, delta, sums, value_sums);
            else
                add<false>(shared.stages[slot], visitor, wanted, lse, delta, sums, value_sums);
            slot = (slot + 1) % STAGES;
        }
        device::wait_for_copies();
    }

    __device__ void run() {
        typename Pass::Sums sums, value_sums;
        float lse[Pass::bands][2] = {}, delta[Pass::bands][2] = {};
        if constexpr (owner == Owner::keys) {
#pragma unroll
            for (int b = 0; b < Pass::bands; ++b) device::clear(value_sums[b]);
            sweep(Kind::near, given.k1, given.v, given.q1, given.dout, lse, delta, sums, value_sums);
            store(sums, given.scale, given.dk1);
            sweep(Kind::far, given.k2, given.v, given.q2, given.dout, lse, delta, sums, value_sums);
            store(sums, given.scale, given.dk2);
            store(value_sums, 1, given.dv);
        } else {
            const int row = device::warp_of_thread() % Pass::row_warps * 16 * Pass::bands;
#pragma unroll
            for (int b = 0; b < Pass::bands; ++b)
#pragma unroll
                for (int half = 0; half < 2; ++half) {
                    const int query = own + row + 16 * b + device::row_of_lane() + 8 * half;
                    if (query < mask.length) {
                        lse[b][half] = given.lse[head * given.length + query];
                        delta[b][half] = given.delta[head * given.length + query];
                    }
                }
            sweep(Kind::near, given.q1, given.dout, given.k1, given.v, lse, delta, sums, value_sums);
            store(sums, given.scale, given.dq1);
            sweep(Kind::far, given.q2, given.dout, given.k2, given.v, lse, delta, sums, value_sums);
            store(sums, given.scale, given.dq2);
        }
    }
};

template <Owner owner>
__device__ void run(unsigned char* bytes, const Arguments& given, int tile) {
    Visit<owner>{*reinterpret_cast<typename Pass<owner>::Shared*>(bytes),
                 given,
                 Mask(given.length, given.window),
                 static_cast<int64_t>(blockIdx.y),
                 tile * Pass<owner>::rows,
                 given.scale * log2_e}
        .run();
}

extern "C" __global__ void __launch_bounds__(THREADS) backward(Arguments given) {
    extern __shared__ __align__(16) unsigned char bytes[];
    // The longest sweeps first: keys are seen by all later queries, queries see all earlier keys.
    const int key_blocks = static_cast<int>((given.length + BLOCK_N - 1) / BLOCK_N);
    const int block = static_cast<int>(blockIdx.x);
    if (block < key_blocks)
        run<Owner::keys>(bytes, given, block);
    else
        run<Owner::queries>(bytes, given, static_cast<int>(gridDim.x) - 1 - block);
}
