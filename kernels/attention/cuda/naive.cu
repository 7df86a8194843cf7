// What a framework without fusion launches: scores of all pairs in memory, softmax over their rows, product
// with the values. Sums are f32 fused multiply-adds for any storage. A thread block of `scores` and `values`
// computes 64 x 64 elements, a thread 4 x 4 of them; the factors pass through shared memory 16 columns at a
// time.
//
// Defines: THREADS, SHARED_BYTES, STORAGE, HEAD, CAUSAL.

#include "kernels/attention/cuda/arguments.cuh"
#include "kernels/cuda/device/reductions.cuh"
#include "kernels/cuda/device/words.cuh"

using namespace sawtooth;
using attention::NaiveArguments;
using Storage = device::STORAGE;

constexpr int side = 64, each = 4, depth = 16;
constexpr int lanes = side / each;  // threads along a side
static_assert(SHARED_BYTES == 0, "static shared memory");

__device__ float minus_infinity() { return __int_as_float(0xff800000); }

// [depth][side] of a factor; rows from `there` on are zeros. `load(row, column)` reads it.
struct Factor {
    float numbers[depth][side + 1];

    template <class Load>
    __device__ void fill(int64_t there, int columns, Load load) {
        for (int at = threadIdx.x; at < side * depth; at += THREADS) {
            const int row = at / depth, column = at % depth;
            numbers[column][row] = row < there && column < columns ? load(row, column) : 0;
        }
    }
};

struct Sums {
    float of[each][each] = {};

    // Adds the product of one slice; the rows and columns of a thread are `lanes` apart. Terms that
    // takes(row, k) refuses are not added: 0 times infinity is not 0.
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
                    if (takes(row + i * lanes, k)) of[i][j] = fmaf(a[i], b[j], of[i][j]);
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

// s_ij = scale q1_i . k1_j within the window, otherwise scale q2_i . k2_j; -infinity where the mask forbids.
extern "C" __global__ void __launch_bounds__(THREADS) scores(NaiveArguments given) {
    __shared__ Factor queries, keys;
    const int64_t query = static_cast<int64_t>(blockIdx.x) * side,
                  key = static_cast<int64_t>(blockIdx.y) * side;
    const int64_t head = blockIdx.z, n = given.length;
    const auto product = [&](const void* q, const void* k) {
        Sums sums;
        for (int first = 0; first < HEAD; first += depth) {
            __syncthreads();  // all have used the slice before
            queries.fill(n - query, HEAD - first, [&](int row, int column) {
                return element(q, ((head * n + query + row) * HEAD) + first + column);
            });
            keys.fill(n - key, HEAD - first, [&](int row, int column) {
                return element(k, ((head * n + key + row) * HEAD) + first + column);
            });
            __syncthreads();  // the slice is visible to all
            sums.add(queries, keys, [](int, int) { return true; });
        }
        return sums;
    };
    const Sums near = product(given.q1, given.k1), far = product(given.q2, given.k2);
    float* const to = given.scores + head * n * n;
    for_each_element([&](int row, int column, int r, int c) {
        const int64_t i = query + row, j = key + column;
        if (i >= n || j >= n) return;
        const float score = llabs(i - j) < given.window ? near.of[r][c] : far.of[r][c];
        to[i * n + j] = CAUSAL && j > i ? minus_infinity() : given.scale * score;
    });
}

// Rows of scores become probabilities; lse_i = log2 of the sum of exp(s_ij). One thread block per row.
extern "C" __global__ void __launch_bounds__(THREADS) softmax(NaiveArguments given) {
    __shared__ float room[THREADS];
    const int64_t n = given.length, at = static_cast<int64_t>(blockIdx.y) * n + blockIdx.x;
    float* const row = given.scores + at * n;
    float most = minus_infinity();
    for (int64_t j = threadIdx.x; j < n; j += THREADS) most = fmaxf(most, row[j]);
    room[threadIdx.x] = most;
    for (int step = THREADS / 2; step > 0; step /= 2) {
        __syncthreads();  // the maxima of this step are visible
        if (threadIdx.x < step) room[threadIdx.x] = fmaxf(room[threadIdx.x], room[threadIdx.x + step]);
    }
    __syncthreads();  // the maximum in room[0] is visible
    most = room[0];
    __syncthreads();  // all have read it
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

// o_i = sum of p_ij v_j over the keys that the mask allows.
extern "C" __global__ void __launch_bounds__(THREADS) values(NaiveArguments given) {
    __shared__ Factor probabilities, rows;
    const int64_t query = static_cast<int64_t>(blockIdx.x) * side, head = blockIdx.z, n = given.length;
    const int first_column = static_cast<int>(blockIdx.y) * side;
    const float* const from = given.scores + head * n * n;
    const int64_t end = CAUSAL ? min(query + side, n) : n;
    Sums sums;
    for (int64_t key = 0; key < end; key += depth) {
        __syncthreads();  // all have used the slice before
        probabilities.fill(n - query, static_cast<int>(min(n - key, static_cast<int64_t>(depth))),
                           [&](int row, int column) { return from[(query + row) * n + key + column]; });
        rows.fill(HEAD - first_column, static_cast<int>(min(n - key, static_cast<int64_t>(depth))),
                  [&](int row, int column) {
                      return element(given.v, (head * n + key + column) * HEAD + first_column + row);
                  });
        __syncthreads();  // the slice is visible to all
        sums.add(probabilities, rows, [&](int row, int k) { return !CAUSAL || key + k <= query + row; });
    }
    auto* const to = static_cast<Storage::Word*>(given.o) + head * n * HEAD;
    for_each_element([&](int row, int column, int i, int j) {
        if (query + row < n && first_column + column < HEAD)
            to[(query + row) * HEAD + first_column + column] = Storage::narrow(sums.of[i][j]);
    });
}
