// The operators in vectors of the current target; included once per target, like all -inl.h files of Highway.

#if defined(SAWTOOTH_KERNELS_CPU_OPERATORS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SAWTOOTH_KERNELS_CPU_OPERATORS_INL_H
#undef SAWTOOTH_KERNELS_CPU_OPERATORS_INL_H
#else
#define SAWTOOTH_KERNELS_CPU_OPERATORS_INL_H
#endif

#include <hwy/highway.h>

#include <type_traits>

#include "kernels/cpu/operators.h"

HWY_BEFORE_NAMESPACE();
namespace sawtooth::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// A state of V: a vector of columns, or one column if D is the tag of a single lane.
template <class V>
struct State {
    V first, second;
};

// `lift` makes a state from an input row, `join` combines two states (the earlier one on the left), `finish`
// gives y. `advance` is `join` that computes only the part that `finish` needs.
struct OneInput {
    template <class V, class D>
    static State<V> lift(D d, const float* const* plane, int64_t at) {
        return {hn::LoadU(d, plane[0] + at), hn::Zero(d)};
    }
    template <class V>
    static V finish(State<V> state) {
        return state.first;
    }
};

template <class Op>
struct Whole : OneInput {
    template <class D, class V>
    static State<V> advance(D d, State<V> left, State<V> right) {
        return Op::join(d, left, right);
    }
};

struct Sum : Whole<Sum> {
    template <class D, class V>
    static State<V> join(D, State<V> left, State<V> right) {
        return {hn::Add(left.first, right.first), left.second};
    }
};

struct Product : Whole<Product> {
    template <class D, class V>
    static State<V> join(D, State<V> left, State<V> right) {
        return {hn::Mul(left.first, right.first), left.second};
    }
};

// A NaN on either side wins, as in numpy.maximum.
struct Maximum : Whole<Maximum> {
    template <class D, class V>
    static State<V> join(D, State<V> left, State<V> right) {
        const auto keep = hn::Or(hn::Gt(left.first, right.first), hn::IsNaN(left.first));
        return {hn::IfThenElse(keep, left.first, right.first), left.second};
    }
};

struct Minimum : Whole<Minimum> {
    template <class D, class V>
    static State<V> join(D, State<V> left, State<V> right) {
        const auto keep = hn::Or(hn::Lt(left.first, right.first), hn::IsNaN(left.first));
        return {hn::IfThenElse(keep, left.first, right.first), left.second};
    }
};

// (a1, b1) then (a2, b2) is (a1 a2, a2 b1 + b2). Multiply and add are rounded separately, as not every target
// has a fused one.
struct Linear {
    template <class V, class D>
    static State<V> lift(D d, const float* const* plane, int64_t at) {
        return {hn::LoadU(d, plane[0] + at), hn::LoadU(d, plane[1] + at)};
    }
    template <class D, class V>
    static State<V> join(D d, State<V> left, State<V> right) {
        const V product = hn::Mul(left.first, right.first);
        // A decay below the smallest normal number becomes 0: subnormal operands would slow down every
        // further product.
        const auto normal = hn::Ge(hn::Abs(product), hn::Set(d, 0x1p-126f));
        const auto kept = hn::IfThenElseZero(hn::Or(normal, hn::IsNaN(product)), product);
        return {kept, hn::Add(hn::Mul(right.first, left.second), right.second)};
    }
    template <class D, class V>
    static State<V> advance(D, State<V> left, State<V> right) {
        return {left.first, hn::Add(hn::Mul(right.first, left.second), right.second)};
    }
    template <class V>
    static V finish(State<V> state) {
        return state.second;
    }
};

// Two-sum (Knuth): s = fl(a + b) and its exact rounding error.
struct CompensatedSum : Whole<CompensatedSum> {
    template <class D, class V>
    static State<V> join(D, State<V> left, State<V> right) {
        const V sum = hn::Add(left.first, right.first);
        const V of_right = hn::Sub(sum, left.first);
        const V of_left = hn::Sub(sum, of_right);
        const V lost = hn::Add(hn::Sub(left.first, of_left), hn::Sub(right.first, of_right));
        const V error = hn::Add(hn::Add(left.second, right.second), lost);
        // An infinite sum has a NaN error, and inf + NaN would no longer be inf.
        return {sum, hn::IfThenElseZero(hn::IsFinite(sum), error)};
    }
    template <class V>
    static V finish(State<V> state) {
        return hn::Add(state.first, state.second);
    }
};

template <class D>
State<hn::Vec<D>> load(D d, const float* const* plane, int64_t at, int planes) {
    return {hn::LoadU(d, plane[0] + at), planes == 2 ? hn::LoadU(d, plane[1] + at) : hn::Zero(d)};
}

template <class D>
State<hn::Vec<D>> broadcast(D d, const float* const* plane, int planes) {
    return {hn::Set(d, *plane[0]), planes == 2 ? hn::Set(d, *plane[1]) : hn::Zero(d)};
}

template <class One, class V>
State<hn::Vec<One>> lowest(One one, State<V> state) {
    return {hn::Set(one, hn::GetLane(state.first)), hn::Set(one, hn::GetLane(state.second))};
}

template <class D, class V>
void put(D d, V value, float* to, bool stream) {
    if (stream)
        hn::Stream(value, d, to);
    else
        hn::StoreU(value, d, to);
}

template <class D, class V>
void store(D d, State<V> state, float* const* plane, int64_t at, int planes, bool stream = false) {
    put(d, state.first, plane[0] + at, stream);
    if (planes == 2) put(d, state.second, plane[1] + at, stream);
}

// Calls visit(Op, number of planes) for the operator.
template <class Visit>
void with_operator(Operator op, Visit&& visit) {
    constexpr std::integral_constant<int, 1> one_plane;
    constexpr std::integral_constant<int, 2> two_planes;
    switch (op) {
        case Operator::sum:
            return visit(Sum(), one_plane);
        case Operator::product:
            return visit(Product(), one_plane);
        case Operator::maximum:
            return visit(Maximum(), one_plane);
        case Operator::minimum:
            return visit(Minimum(), one_plane);
        case Operator::linear:
            return visit(Linear(), two_planes);
        case Operator::compensated_sum:
            return visit(CompensatedSum(), two_planes);
    }
}

}  // namespace sawtooth::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
