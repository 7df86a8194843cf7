#pragma once

#include "kernels/cuda/device/types.cuh"

namespace sawtooth::device {

constexpr unsigned whole_warp = 0xffffffffu;

__device__ inline int lane_of_thread() { return static_cast<int>(threadIdx.x % 32); }
__device__ inline int warp_of_thread() { return static_cast<int>(threadIdx.x / 32); }

// The same member of another lane, for a struct of floats. All lanes of the warp take part.
template <class Struct>
__device__ Struct shuffle(const Struct& mine, int lane) {
    constexpr int words = sizeof(Struct) / sizeof(float);
    Struct theirs;
#pragma unroll
    for (int k = 0; k < words; ++k)
        reinterpret_cast<float*>(&theirs)[k] =
            __shfl_sync(whole_warp, reinterpret_cast<const float*>(&mine)[k], lane);
    return theirs;
}

// From `delta` lanes below; a lane that has none below keeps its own.
template <class Struct>
__device__ Struct shuffle_up(const Struct& mine, int delta) {
    constexpr int words = sizeof(Struct) / sizeof(float);
    Struct theirs;
#pragma unroll
    for (int k = 0; k < words; ++k)
        reinterpret_cast<float*>(&theirs)[k] =
            __shfl_up_sync(whole_warp, reinterpret_cast<const float*>(&mine)[k], delta);
    return theirs;
}

}  // namespace sawtooth::device
