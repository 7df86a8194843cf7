// The associative operators on the device. An Input is the value of one position, a State is the total of a
// chunk of positions, and y is the output computed from a state:
//
//   operator          Input    State    join: the earlier chunk is on the left     y
//   sum               x        s        s1 + s2                                      s
//   product           x        p        p1 p2                                        p
//   maximum, minimum  x        m        the larger, the smaller; a NaN wins          m
//   linear            (a, x)   (a, b)   (a1 a2, a2 b1 + b2)                          b
//   compensated_sum   x        (s, e)   two-sum of s1 and s2, its loss into e        s + e
//
// `advance` joins a state and an input but computes only the part that y needs.
#pragma once

#include "kernels/cuda/device/two_sum.cuh"

namespace sawtooth::scan {

template <int count>
struct Floats {
    float at[count];
};

__device__ inline float infinity() { return __int_as_float(0x7f800000); }

// What the operators on a single float share.
template <class Op>
struct Plain {
    using Input = Floats<1>;
    using State = Floats<1>;
    static __device__ State identity() { return {Op::neutral()}; }
    static __device__ State lift(Input input) { return input; }
    static __device__ State join(State left, State right) { return {Op::combine(left.at[0], right.at[0])}; }
    static __device__ State advance(State left, Input right) { return join(left, right); }
    static __device__ float finish(State state) { return state.at[0]; }
};

struct sum : Plain<sum> {
    static __device__ float neutral() { return 0; }
    static __device__ float combine(float left, float right) { return left + right; }
};

struct product : Plain<product> {
    static __device__ float neutral() { return 1; }
    static __device__ float combine(float left, float right) { return left * right; }
};

struct maximum : Plain<maximum> {
    static __device__ float neutral() { return -infinity(); }
    static __device__ float combine(float left, float right) {
        float larger;
        asm("max.NaN.f32 %0, %1, %2;" : "=f"(larger) : "f"(left), "f"(right));
        return larger;
    }
};

struct minimum : Plain<minimum> {
    static __device__ float neutral() { return infinity(); }
    static __device__ float combine(float left, float right) {
        float smaller;
        asm("min.NaN.f32 %0, %1, %2;" : "=f"(smaller) : "f"(left), "f"(right));
        return smaller;
    }
};

struct linear {
    using Input = Floats<2>;
    using State = Floats<2>;
    static __device__ State identity() { return {1, 0}; }
    static __device__ State lift(Input input) { return input; }
    static __device__ State join(State left, State right) {
        return {left.at[0] * right.at[0], fmaf(right.at[0], left.at[1], right.at[1])};
    }
    static __device__ State advance(State left, Input right) {
        return {left.at[0], fmaf(right.at[0], left.at[1], right.at[1])};
    }
    static __device__ float finish(State state) { return state.at[1]; }
};

struct compensated_sum {
    using Input = Floats<1>;
    using State = Floats<2>;
    static __device__ State identity() { return {0, 0}; }
    static __device__ State lift(Input input) { return {input.at[0], 0}; }
    static __device__ State join(State left, State right) {
        const device::Compensated both = device::two_sum(left.at[0], right.at[0]);
        const float error = __fadd_rn(__fadd_rn(left.at[1], right.at[1]), both.error);
        // An infinite sum has a NaN error, and inf + NaN would no longer be inf.
        return {both.sum, isfinite(both.sum) ? error : 0};
    }
    static __device__ State advance(State left, Input right) { return join(left, lift(right)); }
    static __device__ float finish(State state) { return __fadd_rn(state.at[0], state.at[1]); }
};

// The same operator with states as its inputs, such as totals of blocks.
template <class Op>
struct OnStates {
    using Input = typename Op::State;
    using State = typename Op::State;
    static __device__ State lift(Input input) { return input; }
    static __device__ State join(State left, State right) { return Op::join(left, right); }
};

template <class Op>
constexpr int planes = sizeof(typename Op::State) / sizeof(float);
template <class Op>
constexpr int inputs = sizeof(typename Op::Input) / sizeof(float);

}  // namespace sawtooth::scan
