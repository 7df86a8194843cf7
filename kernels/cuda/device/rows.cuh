// Loads rows of words, [tokens, width] in the storage of an input, from global memory.
#pragma once

#include "kernels/cuda/device/copy_async.cuh"
#include "kernels/cuda/device/integers.cuh"
#include "kernels/cuda/device/reductions.cuh"
#include "kernels/cuda/device/words.cuh"

namespace sawtooth::device {

// Copies `count` words from global to shared memory with all threads of the block, `bytes` per access, which
// must divide both addresses and the row size. The first `there` words are read, the rest become zeros.
// Copies of 4 bytes or more are asynchronous.
template <int bytes, class Word>
__device__ void copy_words(Word* to, const Word* from, int count, int there) {
    constexpr int each = bytes / sizeof(Word);
    for (int at = threadIdx.x * each; at < count; at += blockDim.x * each) {
        if constexpr (bytes >= 4)
            copy_async<bytes>(to + at, from + at, at < there);
        else
            to[at] = at < there ? from[at] : Word{0};
    }
}

// Returns 1 / max(norm, 1e-12) of a row spread over a warp.
template <int each>
__device__ float inverse_norm_over_warp(const float (&mine)[each]) {
    float square = 0;
#pragma unroll
    for (int k = 0; k < each; ++k) square += mine[k] * mine[k];
    return inverse_norm(sum_of_warp(square), [&mine] {
        double wide = 0;
#pragma unroll
        for (int k = 0; k < each; ++k) wide += static_cast<double>(mine[k]) * static_cast<double>(mine[k]);
        return sum_of_warp(wide);
    });
}

// Loads a row of `count` words spread over a warp: lane l holds numbers l, l + 32, …, and zeros past the end
// of the row or if it is not `there`. If `normalises`, the row is divided by its norm. The whole warp must
// call it.
template <class Storage, int count, int each>
__device__ void load_row(const typename Storage::Word* from, bool there, bool normalises,
                         float (&mine)[each]) {
    const int lane = lane_of_thread();
#pragma unroll
    for (int k = 0; k < each; ++k)
        mine[k] = there && lane + 32 * k < count ? Storage::widen(from[lane + 32 * k]) : 0;
    const float factor = normalises ? inverse_norm_over_warp(mine) : 1;
#pragma unroll
    for (int k = 0; k < each; ++k) mine[k] *= factor;
}

// The same, but stored to shared memory: `room` numbers from `to` on, zero-padded. A barrier must make it
// visible to other warps.
template <class Storage, int count, int room>
__device__ void stage_row(const typename Storage::Word* from, bool there, bool normalises, float* to) {
    const int lane = lane_of_thread();
    float mine[ceil_divide(room, 32)];
    load_row<Storage, count>(from, there, normalises, mine);
#pragma unroll
    for (int k = 0; k < ceil_divide(room, 32); ++k)
        if (lane + 32 * k < room) to[lane + 32 * k] = mine[k];
}

}  // namespace sawtooth::device
