// The gradients from o, lse and the gradient of o, in one launch. The first thread blocks of a head own
// BLOCK_N keys each and sum dk1, dk2 and dv over the queries; the others own BLOCK_M queries each and sum dq1
// and dq2 over the keys. Where heads share keys, the first of them owns the keys, which the queries of all of
// them visit. Scores are recomputed by both, so that no sum needs atomics. With
//   p = exp2(s log2 e - lse), ds = p (do . v - delta)     (delta: preprocess.cu; scale is applied at the end)
// an owner of keys (k, v) is visited by tiles of queries (q, do), and an owner of queries by tiles of keys:
//   keys:    dv += p^T do, dk += ds^T q        queries:    dq += ds k
// where p and ds go in registers from sums to left factors. Near pairs are visited before far ones: a mixed
// tile is visited twice, each time with the pairs of the other encoding hidden. For N = 4 tiles, causal:
//   query tile   0 1 2 3        owner of keys 1 is visited by the queries 1, 2, 3 (row 1),
//   keys 0       x x x x        owner of queries 2 by the keys 0, 1, 2 (column 2).
//   keys 1         x x x        Every x is multiplied by one owner of keys and one of queries: seven products
//   keys 2           x x        of rows of HEAD per pair, where atomics on dq would need five.
//   keys 3             x
//
// Defines: THREADS, SHARED_BYTES, BLOCK_M, BLOCK_N, HEAD, STAGES, PRECISION (bf16 or f16), CAUSAL, SHARING,
// CACHE.

#include "kernels/attention/cuda/hidden.cuh"
#include "kernels/attention/cuda/mask.cuh"
#include "kernels/attention/cuda/rows.cuh"
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

// How the owned rows and the columns of visiting tiles are dealt to warps and lie in shared memory.
template <Owner owner>
struct Layout {
    static constexpr int rows = owner == Owner::keys ? BLOCK_N : BLOCK_M;     // owned positions
    static constexpr int columns = owner == Owner::keys ? BLOCK_M : BLOCK_N;  // positions of a visiting tile
    // Warps own bands of 16 rows. With fewer bands than warps, several warps share a band: each multiplies
    // other columns of the visiting tile, `step_columns` at a time, and their sums are added at the end.
    static constexpr int row_warps = rows / 16 < warps ? rows / 16 : warps;
    static constexpr int bands = rows / (16 * row_warps), column_warps = warps / row_warps;
    static constexpr int step_columns = columns / column_warps >= 64   ? 64
                                        : columns / column_warps >= 16 ? columns / column_warps
                                                                       : 16;

    struct Stage {
        Element first[columns][stride];      // q or k
        Element second[columns][stride];     // do or v
        float lse[columns], delta[columns];  // only if queries visit
    };
    struct Shared {
        alignas(16) Element first[rows][stride];  // k or q
        Element second[rows][stride];             // v or do
        Stage stages[STAGES];
    };
    using Sums = Tile[bands][head_tiles];
};
constexpr int key_bytes = sizeof(Layout<Owner::keys>::Shared),
              query_bytes = sizeof(Layout<Owner::queries>::Shared);
static_assert((key_bytes > query_bytes ? key_bytes : query_bytes) == SHARED_BYTES,
              "the host counts the same bytes");

// sums[16, 8 tiles] = rows * columns^T
template <int tiles>
__device__ void multiply_rows(const Element (*rows)[stride], const Element (*columns)[stride],
                              Tile (&sums)[tiles]) {
    device::clear(sums);
#pragma unroll
    for (int k = 0; k < HEAD / 16; ++k)
        device::multiply_step<precision, Lies::in_columns>(P::left_in_rows(&rows[0][16 * k], stride),
                                                           &columns[0][16 * k], stride, sums);
}

// The work of a thread block: its owned rows while tiles visit.
template <Owner owner>
struct Visit {
    using Layout = ::Layout<owner>;
    typename Layout::Shared& shared;
    const Arguments& given;
    const Mask mask;
    const int64_t head;
    const int own;  // the first owned position
    const float factor;
    int64_t visiting = head;  // the head of the visitors: another one if it shares the owned keys

    __device__ int64_t at(int position) const {
        return (owner == Owner::keys ? key_row(given, head, position) : query_row(given, head, position)) *
               HEAD;
    }
    __device__ int64_t visiting_row(int position) const {
        return owner == Owner::keys ? query_row(given, visiting, position)
                                    : key_row(given, visiting, position);
    }
    // The position of the first owned or visiting query.
    __device__ int first() const { return static_cast<int>(first_query(given)); }
    __device__ int start_of(int visitor) const {
        return (owner == Owner::keys ? first() : 0) + visitor * Layout::columns;
    }
    __device__ int there(int first, int count) const { return min(count, mask.length - first); }

    __device__ TileKind kind(int visitor) const {
        const int first = start_of(visitor);
        return owner == Owner::keys ? mask.kind(first, first + BLOCK_M, own, own + BLOCK_N)
                                    : mask.kind(own, own + BLOCK_M, first, first + BLOCK_N);
    }
    __device__ bool hides(int visitor) const {
        const int first = start_of(visitor);
        return kind(visitor) == TileKind::mixed ||
               (owner == Owner::keys
                    ? mask.forbids(first, own, own + BLOCK_N) || first + BLOCK_M > mask.length
                    : mask.forbids(own, first, first + BLOCK_N));
    }
    // Returns the next visitor from `visitor` on with pairs of that kind, or visitors() if there is none.
    __device__ int next(int visitor, TileKind wanted) const {
        const int end = visitors();
        while (visitor < end && kind(visitor) != wanted && kind(visitor) != TileKind::mixed) ++visitor;
        return visitor;
    }
    __device__ int first_visitor() const {
        return owner == Owner::keys && CAUSAL ? (CACHE ? max(own - first(), 0) : own) / BLOCK_M : 0;
    }
    __device__ int visitors() const {
        const int last = owner == Owner::queries && CAUSAL ? min(own + BLOCK_M, mask.length) : mask.length;
        return (last - start_of(0) + Layout::columns - 1) / Layout::columns;
    }

    __device__ void copy_own(const void* first, const void* second) {
        device::copy_tile<Layout::rows, HEAD, THREADS>(&shared.first[0][0], stride,
                                                       static_cast<const Element*>(first) + at(own),
                                                       there(own, Layout::rows));
        device::copy_tile<Layout::rows, HEAD, THREADS>(&shared.second[0][0], stride,
                                                       static_cast<const Element*>(second) + at(own),
                                                       there(own, Layout::rows));
    }
    __device__ void copy_visitor(typename Layout::Stage& stage, int visitor, const void* first,
                                 const void* second) {
        const int from = start_of(visitor), count = there(from, Layout::columns);
        device::copy_tile<Layout::columns, HEAD, THREADS>(
            &stage.first[0][0], stride, static_cast<const Element*>(first) + visiting_row(from) * HEAD,
            count);
        device::copy_tile<Layout::columns, HEAD, THREADS>(
            &stage.second[0][0], stride, static_cast<const Element*>(second) + visiting_row(from) * HEAD,
            count);
        if constexpr (owner == Owner::keys)
            for (int i = threadIdx.x; i < Layout::columns; i += THREADS) {
                const int64_t row = visiting_row(from) + i;
                device::copy_async<4>(&stage.lse[i], given.lse + row, i < count);
                device::copy_async<4>(&stage.delta[i], given.delta + row, i < count);
            }
    }

    // Returns true if an owned position and a visiting one are a pair of that kind. The padding of the last
    // tile of queries does not count: its zeros times an infinite key would be NaN.
    __device__ bool sees(int mine, int other, TileKind wanted) const {
        const int query = owner == Owner::keys ? other : mine, key = owner == Owner::keys ? mine : other;
        return query < mask.length && mask.allows(query, key) &&
               mask.is_near(query, key) == (wanted == TileKind::near);
    }

    // Adds the pairs of a kind of one visitor. Tiles with hidden pairs have code of their own, so that the
    // code of the others stays short.
    template <bool hides>
    __device__ void add(const typename Layout::Stage& stage, int visitor, TileKind wanted,
                        const float (&lse)[Layout::bands][2], const float (&delta)[Layout::bands][2],
                        typename Layout::Sums& sums, typename Layout::Sums& value_sums) {
        const int warp = device::warp_of_thread(), row = warp % Layout::row_warps * 16 * Layout::bands,
                  column_warp = warp / Layout::row_warps;
        const int from = start_of(visitor);
        const auto has_strange = [](const Element(&rows)[Layout::columns][stride]) {
            return has_nonfinite<device::PRECISION, Layout::columns, HEAD, THREADS>(&rows[0][0], stride);
        };
        bool by_pair = false;
        if constexpr (hides)
            by_pair = device::any_of_block(has_strange(stage.first) || has_strange(stage.second));
#pragma unroll
        for (int b = 0; b < Layout::bands; ++b) {
            const int first = own + row + 16 * b;
#pragma unroll 1
            for (int column = column_warp * Layout::step_columns; column < Layout::columns;
                 column += Layout::column_warps * Layout::step_columns) {
                constexpr int tiles = Layout::step_columns / 8;
                Tile p[tiles], ds[tiles];
                multiply_rows(&shared.first[row + 16 * b], &stage.first[column], p);
                multiply_rows(&shared.second[row + 16 * b], &stage.second[column], ds);
#pragma unroll
                for (int n = 0; n < tiles; ++n) {
                    const int c = column + 8 * n + device::column_of_lane();
                    float2 two_lse, two_delta;
                    if constexpr (owner == Owner::keys) {
                        two_lse = *reinterpret_cast<const float2*>(&stage.lse[c]);
                        two_delta = *reinterpret_cast<const float2*>(&stage.delta[c]);
                    }
#pragma unroll
                    for (int i = 0; i < 4; ++i) {
                        const float l = owner == Owner::queries ? lse[b][i / 2]
                                        : i % 2                 ? two_lse.y
                                                                : two_lse.x;
                        const float d = owner == Owner::queries ? delta[b][i / 2]
                                        : i % 2                 ? two_delta.y
                                                                : two_delta.x;
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
    __device__ void store(typename Layout::Sums& sums, float scale, float* to) {
        const int warp = device::warp_of_thread(), row = warp % Layout::row_warps * 16 * Layout::bands,
                  column_warp = warp / Layout::row_warps;
        auto* const room = reinterpret_cast<float*>(&shared);  // [rows, HEAD]
        static_assert(sizeof(Layout::Shared::first) + sizeof(Layout::Shared::second) >=
                      Layout::rows * HEAD * sizeof(float));
#pragma unroll 1
        for (int other = 1; other < Layout::column_warps; ++other) {
            device::sync_block();  // all have used the room
#pragma unroll
            for (int b = 0; b < Layout::bands; ++b)
                if (column_warp == other) device::store_tiles(sums[b], room + (row + 16 * b) * HEAD, HEAD);
            device::sync_block();  // the sums are visible
#pragma unroll
            for (int b = 0; b < Layout::bands; ++b) {
                if (column_warp > 0) continue;
                Tile theirs[head_tiles];
                device::load_tiles(room + (row + 16 * b) * HEAD, HEAD, theirs);
#pragma unroll
                for (int n = 0; n < head_tiles; ++n)
#pragma unroll
                    for (int i = 0; i < 4; ++i) sums[b][n][i] += theirs[n][i];
            }
        }
        if (column_warp > 0) return;
#pragma unroll
        for (int b = 0; b < Layout::bands; ++b) {
            device::scale_row(sums[b], 0, scale);
            device::scale_row(sums[b], 1, scale);
            const int first = own + row + 16 * b;
            device::store_rows<device::f32, HEAD>(sums[b], max(min(16, mask.length - first), 0),
                                                  to + at(first));
        }
    }

    // Adds all visitors with pairs of a kind, from the heads that share the owned keys.
    __device__ void sweep(TileKind wanted, const void* own_first, const void* own_second, const void* first,
                          const void* second, const float (&lse)[Layout::bands][2],
                          const float (&delta)[Layout::bands][2], typename Layout::Sums& sums,
                          typename Layout::Sums& value_sums) {
#pragma unroll
        for (int b = 0; b < Layout::bands; ++b) device::clear(sums[b]);
        constexpr int heads = owner == Owner::keys ? SHARING : 1;
#pragma unroll 1
        for (int other = 0; other < heads; ++other) {
            visiting = head + other;
            sweep_head(wanted, own_first, own_second, first, second, lse, delta, sums, value_sums);
        }
    }
    __device__ void sweep_head(TileKind wanted, const void* own_first, const void* own_second,
                               const void* first, const void* second, const float (&lse)[Layout::bands][2],
                               const float (&delta)[Layout::bands][2], typename Layout::Sums& sums,
                               typename Layout::Sums& value_sums) {
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
        typename Layout::Sums sums, value_sums;
        float lse[Layout::bands][2] = {}, delta[Layout::bands][2] = {};
        if constexpr (owner == Owner::keys) {
#pragma unroll
            for (int b = 0; b < Layout::bands; ++b) device::clear(value_sums[b]);
            sweep(TileKind::near, given.k1, given.v, given.q1, given.dout, lse, delta, sums, value_sums);
            store(sums, given.scale, given.dk1);
            sweep(TileKind::far, given.k2, given.v, given.q2, given.dout, lse, delta, sums, value_sums);
            store(sums, given.scale, given.dk2);
            store(value_sums, 1, given.dv);
        } else {
            const int row = device::warp_of_thread() % Layout::row_warps * 16 * Layout::bands;
#pragma unroll
            for (int b = 0; b < Layout::bands; ++b)
#pragma unroll
                for (int half = 0; half < 2; ++half) {
                    const int query = own + row + 16 * b + device::row_of_lane() + 8 * half;
                    if (query < mask.length) {
                        lse[b][half] = given.lse[query_row(given, head, query)];
                        delta[b][half] = given.delta[query_row(given, head, query)];
                    }
                }
            sweep(TileKind::near, given.q1, given.dout, given.k1, given.v, lse, delta, sums, value_sums);
            store(sums, given.scale, given.dq1);
            sweep(TileKind::far, given.q2, given.dout, given.k2, given.v, lse, delta, sums, value_sums);
            store(sums, given.scale, given.dq2);
        }
    }
};

template <Owner owner>
__device__ void run(unsigned char* bytes, const Arguments& given, int tile) {
    Visit<owner>{
        *reinterpret_cast<typename Layout<owner>::Shared*>(bytes),
        given,
        Mask(given.length, given.window),
        static_cast<int64_t>(blockIdx.y),
        (owner == Owner::queries ? static_cast<int>(first_query(given)) : 0) + tile * Layout<owner>::rows,
        given.scale * log2_e}
        .run();
}

extern "C" __global__ void __launch_bounds__(THREADS) backward(Arguments given) {
    extern __shared__ __align__(16) unsigned char bytes[];
    // The longest sweeps come first: the first keys, which all later queries see, and the last queries, which
    // see all earlier keys.
    const int key_blocks = static_cast<int>((given.length + BLOCK_N - 1) / BLOCK_N);
    const int block = static_cast<int>(blockIdx.x);
    if (block < key_blocks) {
        if (blockIdx.y % SHARING == 0) run<Owner::keys>(bytes, given, block);
    } else
        run<Owner::queries>(bytes, given, static_cast<int>(gridDim.x) - 1 - block);
}
