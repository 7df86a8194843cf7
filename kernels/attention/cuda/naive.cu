// Attention as a framework without fusion launches it: the scores of all pairs in memory, a softmax over
// their rows, and a product with the values; backward the gradients of all scores, and their products with
// keys and queries. Sums are f32 fused multiply-adds for any storage. A thread block of a product computes a
// tile of 64 x 64 elements and a thread 4 x 4 of them; the factors pass through shared memory in tiles of 16
// columns.
//
// Defines: THREADS, SHARED_BYTES, STORAGE, HEAD, CAUSAL, SHARING, CACHE.

#include "kernels/attention/cuda/rows.cuh"
#include "kernels/cuda/device/reductions.cuh"
#include "kernels/cuda/device/sync.cuh"
#include "kernels/cuda/device/words.cuh"

using namespace sawtooth;
using namespace sawtooth::attention;
using Storage = device::STORAGE;

constexpr int side = 64, each = 4, depth = 16;
constexpr int lanes = side / each;  // threads along a side
static_assert(SHARED_BYTES == 0, "static shared memory");

__device__ float minus_infinity() { return __int_as_float(0xff800000); }

// A tile of a factor, [depth][side], padded against bank conflicts.
struct Factor {
    float numbers[depth][side + 1];

    // Reads the elements by load(row, column); rows from `there` on, and columns from `columns` on, are
    // zeros.
    template <class Load>
    __device__ void fill(int64_t there, int columns, Load load) {
        for (int at = threadIdx.x; at < side * depth; at += THREADS) {
            const int row = at / depth, column = at % depth;
            numbers[column][row] = row < there && column < columns ? load(row, column) : 0;
        }
    }
};

struct Sums {
    float numbers[each][each] = {};

    // Adds the product of two tiles; the rows and columns of a thread are `lanes` apart. Terms for which
    // takes(row, k) is false are left out, as 0 times infinity is not 0.
    template <class Takes>
    __device__ void add(const Factor& left, const Factor& right, Takes takes) {
        const int row = threadIdx.x / lanes, column = threadIdx.x % lanes;
#pragma unroll
        for (int k = 0; k < depth; ++k) {
            float a[each], b[each];
#pragma unroll
            for (int i = 0; i < each; ++i) {
                a[i] = left.numbers[k][row + i * lanes];
                b[i] = right.numbers[k][column + i * lanes];
            }
#pragma unroll
            for (int i = 0; i < each; ++i)
#pragma unroll
                for (int j = 0; j < each; ++j)
                    if (takes(row + i * lanes, k)) numbers[i][j] = fmaf(a[i], b[j], numbers[i][j]);
        }
    }
};

// Calls act(row, column, i, j) for the elements of a thread.
template <class Act>
__device__ void for_each_element(Act act) {
#pragma unroll
    for (int i = 0; i < each; ++i)
#pragma unroll
        for (int j = 0; j < each; ++j)
            act(static_cast<int>(threadIdx.x) / lanes + i * lanes,
                static_cast<int>(threadIdx.x) % lanes + j * lanes, i, j);
}

__device__ float element(const void* rows, int64_t at) {
    return Storage::widen(static_cast<const Storage::Word*>(rows)[at]);
}

// Returns queries * keys^T of 64 queries and 64 keys of HEAD numbers.
__device__ Sums product_of_rows(const void* queries, const void* keys, int64_t queries_there,
                                int64_t keys_there, Factor& left, Factor& right) {
    Sums sums;
    for (int first = 0; first < HEAD; first += depth) {
        device::sync_block();  // all have used the tiles before
        left.fill(queries_there, HEAD - first,
                  [&](int row, int column) { return element(queries, row * HEAD + first + column); });
        right.fill(keys_there, HEAD - first,
                   [&](int row, int column) { return element(keys, row * HEAD + first + column); });
        device::sync_block();  // the tiles are visible to all
        sums.add(left, right, [](int, int) { return true; });
    }
    return sums;
}

// The first query and key of the tile of a thread block, and the rows of position 0 of its head.
struct Corner {
    int64_t query, key, n, queries, keys;

    __device__ explicit Corner(const Arguments& given)
        : query(first_query(given) + static_cast<int64_t>(blockIdx.x) * side),
          key(static_cast<int64_t>(blockIdx.y) * side),
          n(given.length),
          queries(query_row(given, blockIdx.z, 0)),
          keys(key_row(given, blockIdx.z, 0)) {}
    // Calls act(i, j, index of the pair, r, c) for the pairs of a thread.
    template <class Act>
    __device__ void for_each_pair(Act act) const {
        for_each_element([&](int row, int column, int r, int c) {
            const int64_t i = query + row, j = key + column;
            if (i < n && j < n) act(i, j, (queries + i) * n + j, r, c);
        });
    }
};

__device__ const void* row_of(const void* rows, int64_t at) {
    return static_cast<const Storage::Word*>(rows) + at * HEAD;
}

// s_ij = scale q1_i . k1_j within the window, otherwise scale q2_i . k2_j; -infinity where the mask forbids.
extern "C" __global__ void __launch_bounds__(THREADS) scores(Arguments given) {
    __shared__ Factor left, right;
    const Corner at(given);
    const auto product = [&](const void* q, const void* k) {
        return product_of_rows(row_of(q, at.queries + at.query), row_of(k, at.keys + at.key), at.n - at.query,
                               at.n - at.key, left, right);
    };
    const Sums near = product(given.q1, given.k1), far = product(given.q2, given.k2);
    at.for_each_pair([&](int64_t i, int64_t j, int64_t pair, int r, int c) {
        const float score = llabs(i - j) < given.window ? near.numbers[r][c] : far.numbers[r][c];
        given.scores[pair] = CAUSAL && j > i ? minus_infinity() : given.scale * score;
    });
}

// Turns a row of scores per thread block into probabilities; lse_i = log2 of the sum of exp(s_ij).
extern "C" __global__ void __launch_bounds__(THREADS) softmax(Arguments given) {
    __shared__ float room[THREADS];
    const int64_t n = given.length, at = query_row(given, blockIdx.y, first_query(given) + blockIdx.x);
    float* const row = given.scores + at * n;
    float most = minus_infinity();
    for (int64_t j = threadIdx.x; j < n; j += THREADS) most = fmaxf(most, row[j]);
    room[threadIdx.x] = most;
    for (int step = THREADS / 2; step > 0; step /= 2) {
        device::sync_block();  // the maxima of this step are visible
        if (threadIdx.x < step) room[threadIdx.x] = fmaxf(room[threadIdx.x], room[threadIdx.x + step]);
    }
    device::sync_block();  // the maximum in room[0] is visible
    most = room[0];
    device::sync_block();  // all have read it
    float sum = 0;
    for (int64_t j = threadIdx.x; j < n; j += THREADS) {
        const float p = expf(row[j] - most);
        row[j] = p;
        sum += p;
    }
    sum = device::sum_of_block<THREADS>(sum, room);
    for (int64_t j = threadIdx.x; j < n; j += THREADS) row[j] /= sum;
    if (threadIdx.x == 0) given.lse[at] = most * 1.4426950408889634f + log2f(sum);
}

enum class Over { keys, queries };
enum class Pairs { all, near, far };

// Sums the rows of a head with a matrix [heads, N_q, N] as weights: over the keys j of each query i, or over
// the queries i of each key j, in all heads that share it. Calls store(index, sum) for 64 positions and 64
// columns, with the index into the vectors of queries or keys. Pairs that the mask forbids, and pairs of the
// other encoding, are not added.
template <Over over, Pairs pairs, class Store>
__device__ void sum_rows(const Arguments& given, const float* matrix, const void* rows, Store store) {
    __shared__ Factor weights, factors;
    constexpr bool of_queries = over == Over::keys;
    constexpr int heads = of_queries ? 1 : SHARING;
    const int64_t n = given.length, first = first_query(given);
    const int64_t own = (of_queries ? first : 0) + static_cast<int64_t>(blockIdx.x) * side;
    const int first_column = static_cast<int>(blockIdx.y) * side;
    const int64_t begin = of_queries ? 0 : !CAUSAL ? first : CACHE ? max(own, first) : own;
    const int64_t end = CAUSAL && of_queries ? min(own + side, n) : n;
    const auto head_at = [](int member) { return static_cast<int64_t>(blockIdx.z) * heads + member; };
    Sums sums;
    for (int member = 0; member < heads; ++member) {
        // The rows of position 0 of the head.
        const int64_t queries = query_row(given, head_at(member), 0),
                      keys = key_row(given, head_at(member), 0);
        for (int64_t other = begin; other < end; other += depth) {
            const int there = static_cast<int>(min(n - other, static_cast<int64_t>(depth)));
            device::sync_block();  // all have used the tiles before
            weights.fill(n - own, there, [&](int row, int column) {
                const int64_t i = of_queries ? own + row : other + column;
                const int64_t j = of_queries ? other + column : own + row;
                return matrix[(queries + i) * n + j];
            });
            factors.fill(HEAD - first_column, there, [&](int row, int column) {
                return element(rows,
                               ((of_queries ? keys : queries) + other + column) * HEAD + first_column + row);
            });
            device::sync_block();  // the tiles are visible to all
            sums.add(weights, factors, [&](int row, int k) {
                const int64_t i = of_queries ? own + row : other + k;
                const int64_t j = of_queries ? other + k : own + row;
                const bool is_near = llabs(i - j) < given.window;
                return (!CAUSAL || j <= i) && (pairs == Pairs::all || is_near == (pairs == Pairs::near));
            });
        }
    }
    const int64_t rows_of_own = of_queries ? query_row(given, head_at(0), 0) : key_row(given, head_at(0), 0);
    for_each_element([&](int row, int column, int r, int c) {
        if (own + row < n && first_column + column < HEAD)
            store((rows_of_own + own + row) * HEAD + first_column + column, sums.numbers[r][c]);
    });
}

template <Over over, Pairs pairs>
__device__ void sum_rows(const Arguments& given, const float* matrix, const void* rows, float* to) {
    sum_rows<over, pairs>(given, matrix, rows, [to](int64_t at, float sum) { to[at] = sum; });
}

// o_i = sum of p_ij v_j over the keys that the mask allows.
extern "C" __global__ void __launch_bounds__(THREADS) values(Arguments given) {
    auto* const o = static_cast<Storage::Word*>(given.o);
    sum_rows<Over::keys, Pairs::all>(given, given.scores, given.v,
                                     [o](int64_t at, float sum) { o[at] = Storage::narrow(sum); });
}

// ds_ij = p_ij (do_i . v_j - delta_i) scale; 0 where the mask forbids.
extern "C" __global__ void __launch_bounds__(THREADS) score_gradients(Arguments given) {
    __shared__ Factor left, right;
    const Corner at(given);
    const Sums product =
        product_of_rows(row_of(given.dout, at.queries + at.query), row_of(given.v, at.keys + at.key),
                        at.n - at.query, at.n - at.key, left, right);
    at.for_each_pair([&](int64_t i, int64_t j, int64_t pair, int r, int c) {
        const float ds =
            given.scores[pair] * (product.numbers[r][c] - given.delta[at.queries + i]) * given.scale;
        given.score_gradients[pair] = CAUSAL && j > i ? 0 : ds;
    });
}

// dq_i = sum of ds_ij k_j, per encoding.
extern "C" __global__ void __launch_bounds__(THREADS) gradients_of_queries(Arguments given) {
    sum_rows<Over::keys, Pairs::near>(given, given.score_gradients, given.k1, given.dq1);
    sum_rows<Over::keys, Pairs::far>(given, given.score_gradients, given.k2, given.dq2);
}

// dk_j = sum of ds_ij q_i, per encoding; dv_j = sum of p_ij do_i.
extern "C" __global__ void __launch_bounds__(THREADS) gradients_of_keys(Arguments given) {
    sum_rows<Over::queries, Pairs::near>(given, given.score_gradients, given.q1, given.dk1);
    sum_rows<Over::queries, Pairs::far>(given, given.score_gradients, given.q2, given.dk2);
    sum_rows<Over::queries, Pairs::all>(given, given.scores, given.dout, given.dv);
}
