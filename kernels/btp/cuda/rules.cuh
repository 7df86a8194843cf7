// The rules by which gates become entries of a transfer matrix. A rule says how gates are joined: their
// logarithms are added, or they are multiplied.
#pragma once

#include "kernels/cuda/device/types.cuh"

namespace sawtooth::btp {

// Joins gates by adding their logarithms. The approximate logarithm is exact enough where entries are rounded
// to 16 bits. It takes a gate below 2^-126 as 0, as finish() makes 0 of any product with one.
template <bool approximate>
struct Logarithms {
    using Value = float;
    static constexpr float identity = 0;
    static __device__ float masked() { return __int_as_float(0xff800000); }  // its power is 0
    static __device__ float lift(float gate) {
        float logarithm;
        asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(logarithm) : "f"(gate));
        return approximate ? logarithm : log2f(gate);
    }
    static __device__ float join(float left, float right) { return left + right; }
    // Results below 2^-126 become 0.
    static __device__ float finish(float sum) {
        float power;
        asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(sum));
        return power;
    }
};
// Joins gates by multiplying them.
struct Multiplied {
    using Value = float;
    static constexpr float identity = 1;
    static __device__ float masked() { return 0; }
    static __device__ float lift(float gate) { return gate; }
    static __device__ float join(float left, float right) { return left * right; }
    static __device__ float finish(float product) { return product; }
};
struct MultipliedInDouble {
    using Value = double;
    static constexpr double identity = 1;
    static __device__ double masked() { return 0; }
    static __device__ double lift(float gate) { return gate; }
    static __device__ double join(double left, double right) { return left * right; }
    static __device__ float finish(double product) { return static_cast<float>(product); }
};

// Rules for entries from two prefixes of the block, Lmat_ij = (a_0 … a_i) / (a_0 … a_j), which lose digits
// where prefixes are small or large.
template <bool approximate>
struct Differences : Logarithms<approximate> {
    static __device__ float lift(float gate) {
        float logarithm;
        asm("lg2.approx.f32 %0, %1;" : "=f"(logarithm) : "f"(gate));
        return approximate ? logarithm : log2f(gate);
    }
    static __device__ float between(float at_output, float at_input) {
        return Logarithms<approximate>::finish(at_output - at_input);
    }
};
struct Ratios : Multiplied {
    static __device__ float between(float at_output, float at_input) {
        return at_input == 0 ? 0 : at_output / at_input;
    }
};

}  // namespace sawtooth::btp
