// Rotates queries and keys, and their gradients back: R(p) turns each pair (x_m, x_(m + D/2)) by
// p 10000^(-2 m / D). A thread turns one pair at one position for several heads, which share its angle.
//
// Defines: THREADS, SHARED_BYTES, STORAGE, HEAD.

#include "kernels/attention/cuda/arguments.cuh"
#include "kernels/cuda/device/words.cuh"

using namespace sawtooth;
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
__device__ Turn turn_of(int64_t position, int m) {
    const double turn = static_cast<double>(position) * pow(10000.0, -2.0 * m / HEAD);
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

extern "C" __global__ void __launch_bounds__(THREADS) rotate(attention::Arguments given) {
    const int64_t index = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
    const int64_t position = index / half;
    const int m = static_cast<int>(index % half);
    if (position >= given.length) return;
    const Turn near = turn_of(position, m), far = turn_of(given.window, m);
    for (int64_t head = blockIdx.y; head < given.heads; head += gridDim.y) {
        const int64_t at = (head * given.length + position) * HEAD + m;
        const Pair q = load(given.q, at);
        store(given.q1, at, near(q));
        store(given.q2, at, far(q));
        store(given.k1, at, near(load(given.k, at)));
    }
}

extern "C" __global__ void __launch_bounds__(THREADS) rotate_back(attention::Arguments given) {
    const int64_t index = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
    const int64_t position = index / half;
    const int m = static_cast<int>(index % half);
    if (position >= given.length) return;
    const Turn near = turn_of(position, m).inverse(), far = turn_of(given.window, m).inverse();
    for (int64_t head = blockIdx.y; head < given.heads; head += gridDim.y) {
        const int64_t at = (head * given.length + position) * HEAD + m;
        const auto pair = [at](const float* from) { return Pair{from[at], from[at + half]}; };
        const Pair q1 = near(pair(given.dq1)), q2 = far(pair(given.dq2));
        const Pair k1 = near(pair(given.dk1)), k2 = pair(given.dk2);
        given.dq[at] = q1.x + q2.x;
        given.dq[at + half] = q1.y + q2.y;
        given.dk[at] = k1.x + k2.x;
        given.dk[at + half] = k1.y + k2.y;
    }
}
