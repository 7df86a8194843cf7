// The operators in vectors: a lane is a column, so no lane ever looks at its neighbour.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/scan/rows.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <type_traits>

#include "kernels/scan/rows.h"

HWY_BEFORE_NAMESPACE();
namespace sawtooth::scan::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// A state of V: a vector of columns, or one column when D is the tag of a single lane.
template <class V>
struct State {
    V first, second;
};

// `lift` makes a state of a row's input, `join` combines two states (the earlier one on the left), `finish`
// gives y. `advance` is `join` where only what `finish` needs of the result is wanted.
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

// (a1, b1) then (a2, b2) is (a1 a2, a2 b1 + b2). Multiply and add are rounded apart, so that every processor
// gives the same bits.
struct Linear {
    template <class V, class D>
    static State<V> lift(D d, const float* const* plane, int64_t at) {
        return {hn::LoadU(d, plane[0] + at), hn::LoadU(d, plane[1] + at)};
    }
    template <class D, class V>
    static State<V> join(D d, State<V> left, State<V> right) {
        const V product = hn::Mul(left.first, right.first);
        // A decay below the smallest normal number is 0: subnormal operands would slow down every further
        // product.
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

// Two-sum (Knuth): s = fl(a + b) and what the rounding lost, exactly.
struct CompensatedSum : Whole<CompensatedSum> {
    template <class D, class V>
    static State<V> join(D, State<V> left, State<V> right) {
        const V sum = hn::Add(left.first, right.first);
        const V of_right = hn::Sub(sum, left.first);
        const V of_left = hn::Sub(sum, of_right);
        const V lost = hn::Add(hn::Sub(left.first, of_left), hn::Sub(right.first, of_right));
        const V error = hn::Add(hn::Add(left.second, right.second), lost);
        // An infinite or NaN sum would leave a NaN as its error, and inf + NaN is no longer inf.
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

template <class D, class V>
void store(D d, State<V> state, float* const* plane, int64_t at, int planes) {
    hn::StoreU(state.first, d, plane[0] + at);
    if (planes == 2) hn::StoreU(state.second, d, plane[1] + at);
}

template <class D, class V>
void put(D d, V value, float* to, bool stream) {
    if (stream)
        hn::Stream(value, d, to);
    else
        hn::StoreU(value, d, to);
}

enum class Mode { fold, scan, scan_and_fold, scan_states };

// `width` vectors of columns, side by side from column c on, with their states in registers.
template <class Op, Mode mode, int planes, int width, class D>
HWY_INLINE void walk_columns(D d, const Walk& walk, int64_t c) {
    using V = hn::Vec<D>;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    constexpr bool folds = mode == Mode::fold || mode == Mode::scan_and_fold;
    State<V> carry[width], total[width];
    for (int k = 0; k < width; ++k) {
        if constexpr (mode != Mode::fold) carry[k] = load(d, walk.carry.plane, c + k * lanes, planes);
        if constexpr (folds) total[k] = load(d, walk.total.plane, c + k * lanes, planes);
    }
    for (int64_t row = 0; row < walk.rows; ++row) {
        const int64_t at = row * walk.in.stride + c;
        for (int k = 0; k < width; ++k) {
            const State<V> input = Op::template lift<V>(d, walk.in.plane, at + k * lanes);
            if constexpr (mode == Mode::scan_states) carry[k] = Op::join(d, carry[k], input);
            if constexpr (mode == Mode::scan || mode == Mode::scan_and_fold)
                carry[k] = Op::advance(d, carry[k], input);
            if constexpr (folds) total[k] = Op::join(d, total[k], input);
            if constexpr (mode == Mode::scan || mode == Mode::scan_and_fold)
                put(d, Op::finish(carry[k]), walk.out + row * walk.out_stride + c + k * lanes, walk.stream);
            if constexpr (mode == Mode::scan_states)
                store(d, carry[k], walk.states_out.plane, row * walk.states_out.stride + c + k * lanes,
                      planes);
        }
    }
    for (int k = 0; k < width; ++k) {
        if constexpr (mode != Mode::fold) store(d, carry[k], walk.carry.plane, c + k * lanes, planes);
        if constexpr (folds) store(d, total[k], walk.total.plane, c + k * lanes, planes);
    }
}

template <class Op, Mode mode, int planes>
void walk_tile(const Walk& walk) {
    const int64_t columns = walk.columns;
    const hn::ScalableTag<float> d;
    const hn::CappedTag<float, 1> one;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    int64_t c = 0;
    // Vectors side by side, as many as leave their states in registers.
    constexpr int width = planes == 2 && mode == Mode::scan_and_fold ? 2 : 4;
    for (; c + width * lanes <= columns; c += width * lanes)
        walk_columns<Op, mode, planes, width>(d, walk, c);
    for (; c + lanes <= columns; c += lanes) walk_columns<Op, mode, planes, 1>(d, walk, c);
    Walk tail = walk;
    tail.stream = false;
    for (; c < columns; ++c) walk_columns<Op, mode, planes, 1>(one, tail, c);
    if (walk.stream) hwy::FlushStream();
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

template <Mode mode>
void walk_operator(const Walk& walk) {
    with_operator(walk.op, [&]<class Op, int planes>(Op, std::integral_constant<int, planes>) {
        walk_tile<Op, mode, planes>(walk);
    });
}

void fold_rows(const Walk& walk) { walk_operator<Mode::fold>(walk); }
void scan_rows(const Walk& walk) { walk_operator<Mode::scan>(walk); }
void scan_and_fold_rows(const Walk& walk) { walk_operator<Mode::scan_and_fold>(walk); }
void scan_states(const Walk& walk) { walk_operator<Mode::scan_states>(walk); }

template <class Op, int planes, class D>
HWY_INLINE void combine_at(D d, const States& left, const States& right, const States& out, int64_t left_at,
                           int64_t right_at, int64_t out_at) {
    store(d, Op::join(d, load(d, left.plane, left_at, planes), load(d, right.plane, right_at, planes)),
          out.plane, out_at, planes);
}

void combine(Operator op, const States& left, const States& right, const States& out, int64_t count) {
    with_operator(op, [&]<class Op, int planes>(Op, std::integral_constant<int, planes>) {
        const hn::ScalableTag<float> d;
        const hn::CappedTag<float, 1> one;
        const auto lanes = static_cast<int64_t>(hn::Lanes(d));
        int64_t i = 0;
        for (; i + lanes <= count; i += lanes) combine_at<Op, planes>(d, left, right, out, i, i, i);
        for (; i < count; ++i) combine_at<Op, planes>(one, left, right, out, i, i, i);
    });
}

void spread(Operator op, const States& totals, int64_t groups, int64_t columns, const States& carry,
            const States& before) {
    with_operator(op, [&]<class Op, int planes>(Op, std::integral_constant<int, planes>) {
        const hn::CappedTag<float, 1> one;
        for (int64_t c = 0; c < columns; ++c) {
            auto state = load(one, carry.plane, c, planes);
            for (int64_t at = c; at < groups * columns; at += columns) {
                store(one, state, before.plane, at, planes);
                state = Op::join(one, state, load(one, totals.plane, at, planes));
            }
            store(one, state, carry.plane, c, planes);
        }
    });
}

int64_t vector_bytes() { return static_cast<int64_t>(hn::Lanes(hn::ScalableTag<float>())) * 4; }

}  // namespace sawtooth::scan::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>
#include <limits>

namespace sawtooth::scan {
namespace {

HWY_EXPORT(fold_rows);
HWY_EXPORT(scan_rows);
HWY_EXPORT(scan_and_fold_rows);
HWY_EXPORT(scan_states);
HWY_EXPORT(combine);
HWY_EXPORT(spread);
HWY_EXPORT(vector_bytes);

Walk streaming_where_aligned(Walk walk) {
    const int64_t bytes = HWY_DYNAMIC_DISPATCH(vector_bytes)();
    walk.stream =
        walk.stream && reinterpret_cast<intptr_t>(walk.out) % bytes == 0 && walk.out_stride * 4 % bytes == 0;
    return walk;
}

}  // namespace

void fold_rows(const Walk& walk) { HWY_DYNAMIC_DISPATCH(fold_rows)(walk); }
void scan_rows(const Walk& walk) { HWY_DYNAMIC_DISPATCH(scan_rows)(streaming_where_aligned(walk)); }
void scan_and_fold_rows(const Walk& walk) {
    HWY_DYNAMIC_DISPATCH(scan_and_fold_rows)(streaming_where_aligned(walk));
}
void scan_states(const Walk& walk) { HWY_DYNAMIC_DISPATCH(scan_states)(walk); }

void combine(Operator op, States left, States right, States out, int64_t count) {
    HWY_DYNAMIC_DISPATCH(combine)(op, left, right, out, count);
}

void spread(Operator op, States totals, int64_t groups, int64_t columns, States carry, States before) {
    HWY_DYNAMIC_DISPATCH(spread)(op, totals, groups, columns, carry, before);
}

void finish(Operator op, States states, float* out, int64_t count) {
    if (op == Operator::compensated_sum) {
        for (int64_t i = 0; i < count; ++i) out[i] = states.plane[0][i] + states.plane[1][i];
        return;
    }
    const float* const values = states.plane[planes_of(op) - 1];
    if (out != values) std::copy_n(values, count, out);
}

void copy_states(Operator op, States from, States to, int64_t count) {
    for (int p = 0; p < planes_of(op); ++p) std::copy_n(from.plane[p], count, to.plane[p]);
}

void fill_identity(Operator op, States states, int64_t count) {
    for (int p = 0; p < planes_of(op); ++p) std::fill_n(states.plane[p], count, identity(op, p));
}

float identity(Operator op, int plane) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    switch (op) {
        case Operator::product:
            return 1;
        case Operator::maximum:
            return -infinity;
        case Operator::minimum:
            return infinity;
        case Operator::linear:
            return plane == 0 ? 1 : 0;
        default:
            return 0;
    }
}

}  // namespace sawtooth::scan
#endif
