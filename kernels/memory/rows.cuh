// Rows that tokens bring, [tokens, width] in an input's storage, on their way into shared memory.
#pragma once

#include "kernels/cuda/device/copy_async.cuh"
#include "kernels/cuda/device/warp.cuh"
#include "kernels/cuda/device/words.cuh"

namespace sawtooth::memory {

__device__ constexpr int padded_to(int count, int multiple) {
    return (count + multiple - 1) / multiple * multiple;
}

template <class Storage>
__device__ float widened(typename Storage::Word word) {
    if constexpr (sizeof(word) == 4)
        return word;
    else
        return Storage::widen(word);
}

template <class Storage>
__device__ typename Storage::Word narrowed(float value) {
    if constexpr (sizeof(typename Storage::Word) == 4)
        return value;
    else
        return Storage::narrow(value);
}

template <int bytes>
struct alignas(bytes) Piece {
    uint16_t words[bytes / 2];
};

// Copies `count` words from global to shared memory, by all threads of the block, at most `bytes` at once:
// what divides both addresses and the size of a row. The first `there` words are read, the rest become zeros.
template <int bytes, class Word>
__device__ void copy_rows(Word* to, const Word* from, int count, int there) {
    constexpr int each = bytes / sizeof(Word);
    for (int at = threadIdx.x * each; at < count; at += blockDim.x * each) {
        if constexpr (bytes >= 4)
            device::copy_async(reinterpret_cast<Piece<bytes>*>(to + at), from + at, at < there);
        else
            to[at] = at < there ? from[at] : Word{0};
    }
}

template <class Number>
__device__ Number sum_of_warp(Number value) {
#pragma unroll
    for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(device::whole_warp, value, step);
    return value;
}

__device__ inline bool is_plain_square(float square) { return square > 1e-20f && square < 1e30f; }

// 1 / max(norm, 1e-12) of a row whose elements a warp holds, also where the square of the norm is no f32. The
// whole warp takes part.
template <int count>
__device__ float inverse_norm(const float (&mine)[count]) {
    float square = 0;
#pragma unroll
    for (int k = 0; k < count; ++k) square += mine[k] * mine[k];
    square = sum_of_warp(square);
    if (is_plain_square(square)) return 1 / sqrtf(square);
    double wide = 0;
#pragma unroll
    for (int k = 0; k < count; ++k) wide += static_cast<double>(mine[k]) * static_cast<double>(mine[k]);
    wide = sqrt(sum_of_warp(wide));
    return static_cast<float>(1 / (wide > 1e-12 ? wide : 1e-12));
}

// A row of `count` words as a warp holds it: lane l has numbers l, l + 32, …, zeros behind the row and where
// it is not `there`; divided by its norm where it `normalises`. The whole warp takes part.
template <class Storage, int count, int each>
__device__ void load_row(const typename Storage::Word* from, bool there, bool normalises,
                         float (&mine)[each]) {
    const int lane = device::lane_of_thread();
#pragma unroll
    for (int k = 0; k < each; ++k)
        mine[k] = there && lane + 32 * k < count ? widened<Storage>(from[lane + 32 * k]) : 0;
    const float factor = normalises ? inverse_norm(mine) : 1;
#pragma unroll
    for (int k = 0; k < each; ++k) mine[k] *= factor;
}

__device__ inline float sigmoid_of(float x) {
    const float falling = expf(-fabsf(x));
    const float upper = 1 / (1 + falling);
    return x >= 0 ? upper : x < 0 ? falling * upper : x;
}

__device__ inline float silu_of(float x) { return x * sigmoid_of(x); }

}  // namespace sawtooth::memory
