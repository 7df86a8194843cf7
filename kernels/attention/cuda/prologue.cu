// Rotates queries and keys, and their gradients back: R(p) turns each pair (x_m, x_(m + D/2)) by
// p base^(-2 m / D). A thread turns one pair at one position for several heads, which share its angle. The
// positions before the first query have keys only.
//
// Defines: THREADS, SHARED_BYTES, STORAGE, HEAD, SHARING, CACHE, USUAL_BASE.

#include "kernels/attention/cuda/rows.cuh"
#include "kernels/cuda/device/words.cuh"

using namespace sawtooth;
using namespace sawtooth::attention;
using Storage = device::STORAGE;

constexpr int half = HEAD / 2;
static_assert(SHARED_BYTES == 0, "no shared memory");

struct Pair {
    float x, y;
};

struct Turn {
    float cosine, sine;
    __device__ Pair operator()(Pair from) const {
        return {from.x * cosine - from.y * sine, from.y * cosine + from.x * sine};
    }
    __device__ Turn inverse() const { return {cosine, -sine}; }
};

// Computes the angle in f64, because a position may have 20 bits.
__device__ Turn turn_of(const Arguments& given, int64_t position, int m) {
    const double base = USUAL_BASE ? 10000.0 : given.base;
    const double turn = static_cast<double>(position) * pow(base, -2.0 * m / HEAD);
    double sine, cosine;
    sincos(turn, &sine, &cosine);
    return {static_cast<float>(cosine), static_cast<float>(sine)};
}

__device__ Pair load(const void* rows, int64_t at) {
    const auto* const words = static_cast<const Storage::Word*>(rows) + at;
    return {Storage::widen(words[0]), Storage::widen(words[half])};
}

__device__ void store(void* rows, int64_t at, Pair pair) {
    auto* const words = static_cast<Storage::Word*>(rows) + at;
    words[0] = Storage::narrow(pair.x);
    words[half] = Storage::narrow(pair.y);
}

extern "C" __global__ void __launch_bounds__(THREADS) rotate(Arguments given) {
    const int64_t index = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
    const int64_t position = index / half;
    const int m = static_cast<int>(index % half);
    if (position >= given.length) return;
    const Turn near = turn_of(given, position, m), far = turn_of(given, given.window, m);
    for (int64_t head = blockIdx.y; head < given.heads; head += gridDim.y) {
        if (position >= first_query(given)) {
            const int64_t at = query_row(given, head, position) * HEAD + m;
            const Pair q = load(given.q, at);
            store(given.q1, at, near(q));
            store(given.q2, at, far(q));
        }
        if (head % SHARING == 0) {
            const int64_t at = key_row(given, head, position) * HEAD + m;
            store(given.k1, at, near(load(given.k, at)));
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS) rotate_back(Arguments given) {
    const int64_t index = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
    const int64_t position = index / half;
    const int m = static_cast<int>(index % half);
    if (position >= given.length) return;
    const Turn near = turn_of(given, position, m).inverse(), far = turn_of(given, given.window, m).inverse();
    const auto pair = [](const float* from, int64_t at) { return Pair{from[at], from[at + half]}; };
    const auto store_sum = [](float* to, int64_t at, Pair left, Pair right) {
        to[at] = left.x + right.x;
        to[at + half] = left.y + right.y;
    };
    for (int64_t head = blockIdx.y; head < given.heads; head += gridDim.y) {
        const bool has_query = position >= first_query(given), has_key = head % SHARING == 0;
        const int64_t query = query_row(given, head, position) * HEAD + m,
                      key = key_row(given, head, position) * HEAD + m;
        Pair q1 = {}, q2 = {}, k1 = {}, k2 = {};  // all are loaded before a store, which might change them
        if (has_query) q1 = near(pair(given.dq1, query)), q2 = far(pair(given.dq2, query));
        if (has_key) k1 = near(pair(given.dk1, key)), k2 = pair(given.dk2, key);
        if (has_query) store_sum(given.dq, query, q1, q2);
        if (has_key) store_sum(given.dk, key, k1, k2);
    }
}
