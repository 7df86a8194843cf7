// What the backward pass computes besides its scan, which gives g, on [B, L, D], in steps of the forward
// scan:
//   shifted_s = a_(s+1), 0 after the last step: the gate that carries g from step s + 1 to step s;
//               conjugate if it is complex; those of a product are x
//   gates_s   the same for operators whose gates depend on y
//   da_s = g_s y_(s-1), where y_(-1) = initial or 0; dinitial = a_0 g_0; both with conjugate factors
//   dx_s = g_s times the derivative of y_s with respect to x_s
//
// Defines: OP, X (storage of the inputs), Y (of y), BLOCK_SIZE, LANES, FLIPPED (of the forward scan), ADDS
// (whether gradients add to those that are there), THREADS.
// Grid of every kernel: B * ceil(L / BLOCK_SIZE), ceil(D / LANES). A thread owns the positions that
// strips.cuh assigns.

#include "kernels/scan/cuda/access.cuh"
#include "kernels/scan/cuda/strips.cuh"

using namespace sawtooth;
using namespace sawtooth::scan;

using Number = OP::Output;
using Gate = device::Words<device::X, Number::parts>;

__device__ Gate conjugate(Gate gate) {
    if constexpr (Number::parts == 2) gate.set(1, -gate.get(1));
    return gate;
}

extern "C" __global__ void __launch_bounds__(THREADS) shift_gates(Given<ShiftGates> given) {
    const Geometry<FLIPPED> geometry{given.length, given.channels};
    const auto* const a = static_cast<const Gate*>(given.in.plane[0]);
    auto* const shifted = static_cast<Gate*>(given.shifted);
    for_each_position<BLOCK_SIZE, LANES>(
        given.length, given.channels,
        [&](int64_t batch, int64_t step, int64_t column) {
            return step + 1 < given.length ? conjugate(a[geometry.at(batch, step + 1, column)]) : Gate{};
        },
        [&](int64_t batch, int64_t step, int64_t column, Gate gate) {
            shifted[geometry.at(batch, step, column)] = gate;
        });
}

template <class Storage>
__device__ Number load(const void* array, int64_t at) {
    Number number[1];
    load_planes<Storage>({array}, at, number);
    return number[0];
}

// The share of g that the step of y `here` takes over from the next one, which has x and y: all of it as long
// as a maximum or a minimum stays, NaN included. Other operators do not get here.
template <class Op>
__device__ float passed(Op, float here, float, float y) {
    return here == y || (isnan(here) && isnan(y)) ? 1 : 0;
}
// 1 - exp(x - y) is exp(here - y), but its roundings near 1 do not all go the same way.
__device__ float passed(log_sum_exp, float here, float x, float y) {
    const float added = expf(difference(x, y));
    return added < 0.5f ? 1 - added : expf(difference(here, y));
}

struct GateAndGradient {
    float gate, dy;
};

extern "C" __global__ void __launch_bounds__(THREADS) output_gates(Given<OutputGates> given) {
    const Geometry<FLIPPED> geometry{given.length, given.channels};
    for_each_position<BLOCK_SIZE, LANES>(
        given.length, given.channels,
        [&](int64_t batch, int64_t step, int64_t column) -> GateAndGradient {
            const int64_t at = geometry.at(batch, step, column);
            const float dy = given.widened ? load<device::X>(given.dy, at).at[0] : 0;
            if (step + 1 == given.length) return {0, dy};
            const int64_t next = geometry.at(batch, step + 1, column);
            const float here = load<device::Y>(given.y, at).at[0];
            const float x = load<device::X>(given.in.plane[0], next).at[0];
            return {passed(OP{}, here, x, load<device::Y>(given.y, next).at[0]), dy};
        },
        [&](int64_t batch, int64_t step, int64_t column, GateAndGradient both) {
            const int64_t at = geometry.at(batch, step, column);
            given.gates[at] = both.gate;
            if (given.widened) given.widened[at] = both.dy;
        });
}

__device__ Real multiply_by_conjugate(Real left, Real right) { return {left.at[0] * right.at[0]}; }
__device__ Complex multiply_by_conjugate(Complex left, Complex right) {
    return multiply_add({right.at[0], -right.at[1]}, left, {});
}

// Stores an element of a gradient, or adds to it.
__device__ void put_gradient(float* array, int64_t at, Number value) {
    if constexpr (ADDS) {
        const Number before = load<device::f32>(array, at);
#pragma unroll
        for (int k = 0; k < Number::parts; ++k) value.at[k] += before.at[k];
    }
    store_y<device::f32>(array, at, {value});
}

extern "C" __global__ void __launch_bounds__(THREADS) gate_gradient(Given<GateGradient> given) {
    const Geometry<FLIPPED> geometry{given.length, given.channels};
    for_each_position<BLOCK_SIZE, LANES>(
        given.length, given.channels,
        [&](int64_t batch, int64_t step, int64_t column) {
            const Number here = load<device::f32>(given.g, geometry.at(batch, step, column));
            Number before = {};
            if (step > 0)
                before = load<device::Y>(given.y, geometry.at(batch, step - 1, column));
            else if (given.initial)
                before = load<device::f32>(given.initial, batch * given.channels + column);
            return multiply_by_conjugate(here, before);
        },
        [&](int64_t batch, int64_t step, int64_t column, Number value) {
            const int64_t at = geometry.at(batch, step, column);
            put_gradient(given.da, at, value);
            if (step > 0 || !given.dinitial) return;
            const Number gate = load<device::X>(given.in.plane[0], at);
            put_gradient(given.dinitial, batch * given.channels + column,
                         multiply_by_conjugate(load<device::f32>(given.g, at), gate));
        });
}

// g times the derivative of y with respect to x at the same step, from y of the step before and of this one.
// A step with the same maximum or minimum as before has no share.
template <class Op>
__device__ Number own_share(Op, Number g, float, float, float, bool) {
    return g;
}
__device__ Real own_share(product, Real g, float, float before, float, bool is_first) {
    return {is_first ? g.at[0] : g.at[0] * before};
}
__device__ Real own_share(maximum, Real g, float, float before, float here, bool is_first) {
    return {!is_first && passed(maximum{}, before, 0, here) == 1 ? 0 : g.at[0]};
}
__device__ Real own_share(minimum, Real g, float, float before, float here, bool is_first) {
    return own_share(maximum{}, g, 0, before, here, is_first);
}
__device__ Real own_share(log_sum_exp, Real g, float x, float, float here, bool) {
    return {g.at[0] * expf(difference(x, here))};
}

extern "C" __global__ void __launch_bounds__(THREADS) input_gradient(Given<InputGradient> given) {
    const Geometry<FLIPPED> geometry{given.length, given.channels};
    for_each_position<BLOCK_SIZE, LANES>(
        given.length, given.channels,
        [&](int64_t batch, int64_t step, int64_t column) {
            const int64_t at = geometry.at(batch, step, column);
            const float x = load<device::X>(given.in.plane[0], at).at[0];
            const float here = load<device::Y>(given.y, at).at[0];
            const float before =
                step > 0 ? load<device::Y>(given.y, geometry.at(batch, step - 1, column)).at[0] : 0;
            return own_share(OP{}, load<device::f32>(given.g, at), x, before, here, step == 0);
        },
        [&](int64_t batch, int64_t step, int64_t column, Number value) {
            put_gradient(given.dx, geometry.at(batch, step, column), value);
        });
}
