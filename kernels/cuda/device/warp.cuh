#pragma once

#include "kernels/cuda/device/types.cuh"

namespace sawtooth::device {

constexpr unsigned whole_warp = 0xffffffffu;

__device__ inline int lane_of_thread() { return static_cast<int>(threadIdx.x % 32); }
__device__ inline int warp_of_thread() { return static_cast<int>(threadIdx.x / 32); }

// The same number, shuffled from one lane so that the compiler sees that branches on it do not diverge.
__device__ inline int uniform_warp_of_thread() { return __shfl_sync(whole_warp, warp_of_thread(), 0); }

// Returns the first lane of `mask` and removes it from the mask.
__device__ inline int take_lane(unsigned& mask) {
    const int lane = __ffs(mask) - 1;
    mask &= mask - 1;
    return lane;
}

// Applies `move` to every float of a struct.
template <class Struct, class Move>
__device__ Struct each_float(const Struct& mine, Move move) {
    Struct moved;
#pragma unroll
    for (int k = 0; k < static_cast<int>(sizeof(Struct) / sizeof(float)); ++k)
        reinterpret_cast<float*>(&moved)[k] = move(reinterpret_cast<const float*>(&mine)[k]);
    return moved;
}

// Reads a struct of floats from another lane. All lanes of the warp must call it.
template <class Struct>
__device__ Struct shuffle(const Struct& mine, int lane) {
    return each_float(mine, [lane](float one) { return __shfl_sync(whole_warp, one, lane); });
}

// Reads from the lane `delta` below; a lane without such a lane keeps its own value.
template <class Struct>
__device__ Struct shuffle_up(const Struct& mine, int delta) {
    return each_float(mine, [delta](float one) { return __shfl_up_sync(whole_warp, one, delta); });
}

// Transposes a matrix of 8 x 8 16-bit words that is spread over the warp: lane l gives, and gets, words
// 2 (l % 4) and the next of row l / 4. All lanes must call it.
__device__ inline uint32_t transpose(uint32_t two) {
    uint32_t turned;
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(turned) : "r"(two));
    return turned;
}

}  // namespace sawtooth::device
