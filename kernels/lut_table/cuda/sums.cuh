// The macro INTEGER chooses between sums of floats and sums of integers in fixed point
// (kernels/lut_table/fixed_point.h). Integer sums are 64 bits wide: the result is the low word, and the high
// word tells whether it overflowed.
// With rescale = 1/16, scale = 2^20 / 16 = 2^16: the term of 0.5 is 32768, and a sum of 32768.0 overflows:
//   bit    63 … 32 | 31 … 16 | 15 … 0
//          high    | whole   | fraction of the number
#pragma once

#include "kernels/cuda/device/either.cuh"
#include "kernels/cuda/device/sync.cuh"
#include "kernels/cuda/device/types.cuh"

namespace sawtooth::lut_table {

constexpr bool integer = INTEGER;

using Sum = device::Either<integer, int64_t, float>::Type;
// The type in which a product is formed before it becomes a term.
using Wide = device::Either<integer, double, float>::Type;

// Turns a value into a term of a sum. A NaN or a value far outside int32 becomes the largest term, so that
// its sum overflows.
__device__ inline Sum term(Wide value, double scale) {
    if constexpr (integer) {
        constexpr int64_t largest = 1ll << 44;
        const double scaled = value * scale;
        return fabs(scaled) <= static_cast<double>(largest) ? llrint(scaled) : largest;
    } else {
        return value;
    }
}

// Adds atomically.
__device__ inline void add(float* to, float value) { device::atomic_add(to, value); }
__device__ inline void add(int64_t* to, int64_t value) {
    device::atomic_add(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(value));
}

// Adds atomically to four neighbours, which must start at a multiple of 16 bytes. From Hopper on this is one
// instruction for floats.
__device__ inline void add_four(float* to, const float (&values)[4]) {
#if __CUDA_ARCH__ >= 900
    device::jitter();
    asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(to), "f"(values[0]), "f"(values[1]),
                 "f"(values[2]), "f"(values[3])
                 : "memory");
    device::jitter();
#else
#pragma unroll
    for (int k = 0; k < 4; ++k) add(to + k, values[k]);
#endif
}
__device__ inline void add_four(int64_t* to, const int64_t (&values)[4]) {
#pragma unroll
    for (int k = 0; k < 4; ++k) add(to + k, values[k]);
}

// Adds du to the first input of a pair and subtracts it from the second. If both inputs are the same, it adds
// 0 whatever the order of additions, or NaN if du is a float that is not finite.
__device__ inline void add_to_pair(Sum* dx, const int32_t* pair, Sum du) {
    const int32_t first = pair[0], second = pair[1];
    if (first == second) {
        add(dx + first, du - du);
    } else {
        add(dx + first, du);
        add(dx + second, -du);
    }
}

__device__ inline bool overflows(int64_t sum) { return sum != static_cast<int32_t>(sum); }

// Returns the number that a sum stands for. An overflow sets *fault.
__device__ inline Wide value_of(Sum sum, double scale, int32_t* fault) {
    if constexpr (integer) {
        if (overflows(sum)) *fault = 1;
        return static_cast<double>(sum) / scale;
    } else {
        return sum;
    }
}

// up'(d) = 0.5 sign(d) / (1 + |d|)^2, with sign(0) = -1: up'(1) = 0.125, up'(0) = -0.5.
__device__ inline Wide surrogate_derivative(float delta) {
    const Wide far = Wide{1} + fabsf(delta);
    return (delta > 0 ? Wide{0.5} : Wide{-0.5}) / (far * far);
}

// Returns du = g up'(delta) as a term; 0 if its magnitude is at most eps or delta is NaN.
__device__ inline Sum term_of_du(Wide g, float delta, float eps, double scale) {
    const Wide du = delta == delta ? g * surrogate_derivative(delta) : Wide{0};
    return fabs(du) <= Wide{eps} ? Sum{0} : term(du, scale);
}

}  // namespace sawtooth::lut_table
