// Products of f32 on tensor cores. A number is `high`, rounded to 11 bits, plus `rest`, of which tensor cores
// read the upper 11 bits; the product of two is a sum of three:
//
//   part 0   rest * high       part 1   high * rest       part 2   high * high
//
// What is missing is up to 12 2^-24 of it, typically 1.5 2^-24. Tensor cores round sums towards zero, so long
// sums should be added up outside of them. If a number is not finite or rounds to infinity, so is a product:
//
//   infinity * 1    high = infinity, rest = infinity - infinity = NaN: the sum is NaN, not infinity
#pragma once

#include "kernels/cuda/device/products.cuh"

namespace sawtooth::device {

template <>
struct Products<Precision::split_f32> : FloatElements {
    static constexpr int inner = 8;
    template <int count>
    struct Split {
        uint32_t high[count], rest[count];

        __device__ void set(int at, float value) {
            high[at] = (__float_as_uint(value) + 0x1000) & 0xffffe000;
            rest[at] = __float_as_uint(value - __uint_as_float(high[at]));
        }
    };
    using Left = Split<4>;
    using Right = Split<2>;

    // Factors in shared memory as in HalfProducts, but with 8 elements of each row. As in Tf32Products, lane
    // (g, q) holds inner columns 2 q and 2 q + 1.
    static __device__ Left left_in_rows(const Element* from, int stride) {
        Left left;
#pragma unroll
        for (int lower = 0; lower < 2; ++lower) {
            const float2 pair = *reinterpret_cast<const float2*>(
                from + (lane_of_thread() / 4 + 8 * lower) * stride + lane_of_thread() % 4 * 2);
            left.set(lower, pair.x);
            left.set(2 + lower, pair.y);
        }
        return left;
    }
    static __device__ Left left_in_columns(const Element* from, int stride) {
        Left left;
#pragma unroll
        for (int k = 0; k < 2; ++k)
#pragma unroll
            for (int lower = 0; lower < 2; ++lower)
                left.set(2 * k + lower,
                         from[(lane_of_thread() % 4 * 2 + k) * stride + lane_of_thread() / 4 + 8 * lower]);
        return left;
    }

    static __device__ void right_in_columns(const Element* from, int stride, Right (&two)[2]) {
#pragma unroll
        for (int n = 0; n < 2; ++n) {
            const float2 pair = *reinterpret_cast<const float2*>(
                from + (8 * n + lane_of_thread() / 4) * stride + lane_of_thread() % 4 * 2);
            two[n].set(0, pair.x);
            two[n].set(1, pair.y);
        }
    }
    static __device__ void right_in_rows(const Element* from, int stride, Right (&two)[2]) {
#pragma unroll
        for (int n = 0; n < 2; ++n)
#pragma unroll
            for (int k = 0; k < 2; ++k)
                two[n].set(k, from[(lane_of_thread() % 4 * 2 + k) * stride + 8 * n + lane_of_thread() / 4]);
    }

    // Adds one part, so that sums that do not depend on each other can take turns.
    static __device__ void add_part(Tile& c, const Left& left, const Right& right, int part) {
        Tf32Products<false>::add_eight(c, part == 0 ? left.rest : left.high,
                                       part == 1 ? right.rest : right.high);
    }
};

}  // namespace sawtooth::device
