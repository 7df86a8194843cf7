// The operators in vectors of the current target; included once per target, like all -inl.h files of Highway.

#if defined(SAWTOOTH_KERNELS_CPU_OPERATORS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SAWTOOTH_KERNELS_CPU_OPERATORS_INL_H
#undef SAWTOOTH_KERNELS_CPU_OPERATORS_INL_H
#else
#define SAWTOOTH_KERNELS_CPU_OPERATORS_INL_H
#endif

#include <hwy/contrib/math/math-inl.h>
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
// gives y. `advance` is `join` that computes only the part that `finish` needs. `columns` neighbours are one
// number.
struct OneInput {
    static constexpr size_t columns = 1;
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

// A decay; below the smallest normal number it becomes 0: subnormal operands would slow down every further
// product.
template <class D, class V>
V kept_decay(D d, V product) {
    const auto normal = hn::Ge(hn::Abs(product), hn::Set(d, 0x1p-126f));
    return hn::IfThenElseZero(hn::Or(normal, hn::IsNaN(product)), product);
}

struct TwoInputs {
    static constexpr size_t columns = 1;
    template <class V, class D>
    static State<V> lift(D d, const float* const* plane, int64_t at) {
        return {hn::LoadU(d, plane[0] + at), hn::LoadU(d, plane[1] + at)};
    }
    template <class V>
    static V finish(State<V> state) {
        return state.second;
    }
};

// (a1, b1) then (a2, b2) is (a1 a2, a2 b1 + b2). Multiply and add are rounded separately, as not every target
// has a fused one.
struct Linear : TwoInputs {
    template <class D, class V>
    static State<V> join(D d, State<V> left, State<V> right) {
        const auto kept = kept_decay(d, hn::Mul(left.first, right.first));
        return {kept, hn::Add(hn::Mul(right.first, left.second), right.second)};
    }
    template <class D, class V>
    static State<V> advance(D, State<V> left, State<V> right) {
        return {left.first, hn::Add(hn::Mul(right.first, left.second), right.second)};
    }
};

// The same on complex numbers, whose real and imaginary parts alternate.
struct ComplexLinear : TwoInputs {
    static constexpr size_t columns = 2;
    template <class V>
    static V product(V left, V right) {
        const V by_real = hn::Mul(hn::DupEven(left), right);
        const V by_imaginary = hn::Mul(hn::DupOdd(left), hn::Reverse2(hn::DFromV<V>(), right));
        return hn::OddEven(hn::Add(by_real, by_imaginary), hn::Sub(by_real, by_imaginary));
    }
    template <class D, class V>
    static State<V> join(D d, State<V> left, State<V> right) {
        const V kept = kept_decay(d, product(left.first, right.first));
        return {kept, hn::Add(product(right.first, left.second), right.second)};
    }
    template <class D, class V>
    static State<V> advance(D, State<V> left, State<V> right) {
        return {left.first, hn::Add(product(right.first, left.second), right.second)};
    }
};

// The sum since the last element whose a is 0. It selects, where linear multiplies: 0 times infinity is NaN.
struct SegmentedSum : TwoInputs {
    template <class D, class V>
    static State<V> advance(D d, State<V> left, State<V> right) {
        const auto goes_on = hn::Ne(right.first, hn::Zero(d));
        return {left.first, hn::Add(hn::IfThenElseZero(goes_on, left.second), right.second)};
    }
    template <class D, class V>
    static State<V> join(D d, State<V> left, State<V> right) {
        return {hn::Mul(left.first, right.first), advance(d, left, right).second};
    }
};

// exp(-|left - right|); 1 for equal infinities, 0 where the result is no normal number.
template <class D, class V>
V falling_exp(D d, V left, V right) {
    const V least = hn::Set(d, -87.33f);
    const V difference = hn::Neg(hn::Abs(hn::Sub(left, right)));
    const V falling = hn::IfThenElseZero(hn::Ge(difference, least), hn::Exp(d, hn::Max(difference, least)));
    return hn::IfThenElse(hn::Eq(left, right), hn::Set(d, 1.0f), falling);
}

// (m, s) stands for s exp(m), where m is the largest input: no exponential overflows.
struct LogSumExp : Whole<LogSumExp> {
    template <class V, class D>
    static State<V> lift(D d, const float* const* plane, int64_t at) {
        return {hn::LoadU(d, plane[0] + at), hn::Set(d, second_of_input(Operator::log_sum_exp))};
    }
    template <class D, class V>
    static State<V> join(D d, State<V> left, State<V> right) {
        const V smaller = falling_exp(d, left.first, right.first);
        const auto falls = hn::Ge(left.first, right.first);  // the right one is the smaller
        const V kept = hn::IfThenElse(falls, left.second, hn::Mul(left.second, smaller));
        const V added = hn::IfThenElse(falls, hn::Mul(right.second, smaller), right.second);
        return {Maximum::join(d, left, right).first, hn::Add(kept, added)};
    }
    template <class V>
    static V finish(State<V> state) {
        return hn::Add(state.first, hn::Log(hn::DFromV<V>(), state.second));
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
        case Operator::complex_linear:
            return visit(ComplexLinear(), two_planes);
        case Operator::log_sum_exp:
            return visit(LogSumExp(), two_planes);
        case Operator::segmented_sum:
            return visit(SegmentedSum(), two_planes);
    }
}

}  // namespace sawtooth::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
