// Sums over the lanes of a warp and over a thread block, and norms of rows spread over lanes. The order is
// fixed, so the bits are equal in every run.
#pragma once

#include "kernels/cuda/device/sync.cuh"
#include "kernels/cuda/device/warp.cuh"

namespace sawtooth::device {

// Sums over `lanes` neighbouring lanes (a power of two), which all get the sum. The whole warp must call it.
template <int lanes, class Number>
__device__ Number sum_of_lanes(Number value) {
#pragma unroll
    for (int step = lanes / 2; step > 0; step /= 2) value += __shfl_xor_sync(whole_warp, value, step);
    return value;
}

template <class Number>
__device__ Number sum_of_warp(Number value) {
    return sum_of_lanes<32>(value);
}

// Sums each of eight numbers over the eight lanes whose numbers differ in g = lane / stride % 8 only; a lane
// gets the sum of number g. Each exchange halves what a lane still sums, so that eight sums take 7 shuffles
// instead of 24:
//
//   g            0     1     2     3     4     5     6     7
//   with g ^ 4   0…3   0…3   0…3   0…3   4…7   4…7   4…7   4…7     the numbers that the lane keeps
//   with g ^ 2   0, 1  0, 1  2, 3  2, 3  4, 5  4, 5  6, 7  6, 7
//   with g ^ 1   0     1     2     3     4     5     6     7
template <int stride>
__device__ float sum_of_own_number(float (&numbers)[8]) {
#pragma unroll
    for (int count = 4; count > 0; count /= 2) {
        const bool upper = lane_of_thread() & stride * count;
#pragma unroll
        for (int k = 0; k < count; ++k)
            numbers[k] = (upper ? numbers[count + k] : numbers[k]) +
                         __shfl_xor_sync(whole_warp, upper ? numbers[k] : numbers[count + k], stride * count);
    }
    return numbers[0];
}

// Sums over the lower lanes and the own one. The whole warp must call it.
template <class Number>
__device__ Number sum_upto_lane(Number value) {
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
        const Number below = __shfl_up_sync(whole_warp, value, step);
        if (lane_of_thread() >= step) value += below;
    }
    return value;
}

// Sums over the four lanes that have the same rows of a tile (products.cuh), nearest neighbours first.
template <class Number>
__device__ Number sum_of_quad(Number value) {
    value += __shfl_xor_sync(whole_warp, value, 1);
    return value + __shfl_xor_sync(whole_warp, value, 2);
}

// Sums over a thread block of `threads` threads, a power of two. All threads must call it and get the sum.
// `room` is in shared memory and may be reused at once.
template <int threads, class Number>
__device__ Number sum_of_block(Number value, Number (&room)[threads]) {
    room[threadIdx.x] = value;
    for (int step = threads / 2; step > 0; step /= 2) {
        sync_block();  // the terms of this step are visible
        if (threadIdx.x < step) room[threadIdx.x] += room[threadIdx.x + step];
    }
    sync_block();  // the sum in room[0] is visible
    const Number sum = room[0];
    sync_block();  // all threads have read it: the room may be reused
    return sum;
}

// Whether the square of a norm is an f32 without loss of precision.
__device__ inline bool is_plain_square(float square) { return square > 1e-20f && square < 1e30f; }

// Returns 1 / max(norm, 1e-12) of a row, even if the square of its norm is out of range for f32. `square` is
// the sum of squares of the row; sum_wide() computes it in f64. The whole warp must call it.
template <class SumWide>
__device__ float inverse_norm(float square, SumWide sum_wide) {
    const bool is_plain = is_plain_square(square);
    // The lanes of a row sum together, so if one needs f64, all take that path.
    if (__all_sync(whole_warp, is_plain)) return 1 / sqrtf(square);
    const double norm = sqrt(sum_wide());
    return is_plain ? 1 / sqrtf(square) : static_cast<float>(1 / (norm < 1e-12 ? 1e-12 : norm));
}

}  // namespace sawtooth::device
