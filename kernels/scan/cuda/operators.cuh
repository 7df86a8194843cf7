// The associative operators on the device. An Input is the value of one position, a State is the total of a
// chunk of positions, and y is the output computed from a state:
//
//   operator          Input    State    join: the earlier chunk is on the left     y
//   sum               x        s        s1 + s2                                      s
//   product           x        p        p1 p2                                        p
//   maximum, minimum  x        m        the larger, the smaller; a NaN wins          m
//   linear            (a, x)   (a, b)   (a1 a2, a2 b1 + b2)                          b
//   compensated_sum   x        (s, e)   two-sum of s1 and s2, its loss into e        s + e
//   complex_linear    (a, x)   (a, b)   as linear, on complex numbers                b
//   log_sum_exp       x        (m, s)   the larger m, and s1, s2 scaled to it        m + log(s)
//   segmented_sum     (a, x)   (a, b)   (a1 a2, b1 + b2, or b2 where a2 is 0)        b
//
// `advance` joins a state and an input but computes only the part that y needs.
#pragma once

#include "kernels/cuda/device/two_sum.cuh"

namespace sawtooth::scan {

// Arrays have a plane per float, or per `parts` floats if they are the parts of a complex number.
template <int count, int parts_ = 1>
struct Floats {
    static constexpr int parts = parts_;
    float at[count];
};
using Real = Floats<1>;
using Complex = Floats<2, 2>;

__device__ inline float infinity() { return __int_as_float(0x7f800000); }

// What the operators on a single float share.
template <class Op>
struct Plain {
    using Input = Floats<1>;
    using State = Floats<1>;
    using Output = Real;
    static __device__ State identity() { return {Op::neutral()}; }
    static __device__ State lift(Input input) { return input; }
    static __device__ State join(State left, State right) { return {Op::combine(left.at[0], right.at[0])}; }
    static __device__ State advance(State left, Input right) { return join(left, right); }
    static __device__ Output finish(State state) { return state; }
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
    using Output = Real;
    static __device__ State identity() { return {1, 0}; }
    static __device__ State lift(Input input) { return input; }
    static __device__ State join(State left, State right) {
        return {left.at[0] * right.at[0], fmaf(right.at[0], left.at[1], right.at[1])};
    }
    static __device__ State advance(State left, Input right) {
        return {left.at[0], fmaf(right.at[0], left.at[1], right.at[1])};
    }
    static __device__ Output finish(State state) { return {state.at[1]}; }
};

// left * right + added
__device__ inline Complex multiply_add(Complex left, Complex right, Complex added) {
    return {fmaf(left.at[0], right.at[0], fmaf(-left.at[1], right.at[1], added.at[0])),
            fmaf(left.at[0], right.at[1], fmaf(left.at[1], right.at[0], added.at[1]))};
}

struct complex_linear {
    using Input = Floats<4, 2>;
    using State = Floats<4, 2>;
    using Output = Complex;
    static __device__ State identity() { return {1, 0, 0, 0}; }
    static __device__ State lift(Input input) { return input; }
    static __device__ Complex gate(State state) { return {state.at[0], state.at[1]}; }
    static __device__ Output finish(State state) { return {state.at[2], state.at[3]}; }
    static __device__ State join(State left, State right) {
        const Complex a = multiply_add(gate(right), gate(left), {});
        const Complex b = multiply_add(gate(right), finish(left), finish(right));
        return {a.at[0], a.at[1], b.at[0], b.at[1]};
    }
    static __device__ State advance(State left, Input right) {
        const Complex b = multiply_add(gate(right), finish(left), finish(right));
        return {left.at[0], left.at[1], b.at[0], b.at[1]};
    }
};

// The sum since the last element whose a is 0. It selects, where linear multiplies: 0 times infinity is NaN.
struct segmented_sum {
    using Input = Floats<2>;
    using State = Floats<2>;
    using Output = Real;
    static __device__ State identity() { return {1, 0}; }
    static __device__ State lift(Input input) { return input; }
    static __device__ State advance(State left, Input right) {
        return {left.at[0], (right.at[0] == 0 ? 0 : left.at[1]) + right.at[1]};
    }
    static __device__ State join(State left, State right) {
        return {left.at[0] * right.at[0], advance(left, right).at[1]};
    }
    static __device__ Output finish(State state) { return {state.at[1]}; }
};

// Equal infinities differ by 0.
__device__ inline float difference(float left, float right) { return left == right ? 0 : left - right; }

// (m, s) stands for s exp(m), where m is the largest input: no exponential overflows.
struct log_sum_exp {
    using Input = Floats<1>;
    using State = Floats<2>;
    using Output = Real;
    static __device__ State identity() { return {-infinity(), 0}; }
    static __device__ State lift(Input input) { return {input.at[0], 1}; }
    static __device__ State join(State left, State right) {
        const float smaller = expf(-fabsf(difference(left.at[0], right.at[0])));
        const bool falls = left.at[0] >= right.at[0];  // the right one is the smaller
        return {maximum::combine(left.at[0], right.at[0]),
                falls ? fmaf(right.at[1], smaller, left.at[1]) : fmaf(left.at[1], smaller, right.at[1])};
    }
    static __device__ State advance(State left, Input right) { return join(left, lift(right)); }
    static __device__ Output finish(State state) { return {state.at[0] + logf(state.at[1])}; }
};

struct compensated_sum {
    using Input = Floats<1>;
    using State = Floats<2>;
    using Output = Real;
    static __device__ State identity() { return {0, 0}; }
    static __device__ State lift(Input input) { return {input.at[0], 0}; }
    static __device__ State join(State left, State right) {
        const device::Compensated both = device::two_sum(left.at[0], right.at[0]);
        const float error = __fadd_rn(__fadd_rn(left.at[1], right.at[1]), both.error);
        // An infinite sum has a NaN error, and inf + NaN would no longer be inf.
        return {both.sum, isfinite(both.sum) ? error : 0};
    }
    static __device__ State advance(State left, Input right) { return join(left, lift(right)); }
    static __device__ Output finish(State state) { return {__fadd_rn(state.at[0], state.at[1])}; }
};

// The same operator with states as its inputs, such as totals of blocks.
template <class Op>
struct OnStates {
    using Input = typename Op::State;
    using State = typename Op::State;
    static __device__ State lift(Input input) { return input; }
    static __device__ State join(State left, State right) { return Op::join(left, right); }
};

// The planes of arrays of states or inputs.
template <class Values>
constexpr int planes = sizeof(Values) / sizeof(float) / Values::parts;

}  // namespace sawtooth::scan
