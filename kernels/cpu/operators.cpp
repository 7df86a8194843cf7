#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/operators.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "kernels/cpu/operators-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sawtooth::cpu::HWY_NAMESPACE {

// A tag of the columns that an operator cannot separate: one, or the two of a complex number.
template <class Op>
using Fewest = hn::CappedTag<float, Op::columns>;

template <class Op, int planes, class D>
HWY_INLINE void combine_at(D d, const States& left, const States& right, const States& out, int64_t left_at,
                           int64_t right_at, int64_t out_at) {
    store(d, Op::join(d, load(d, left.plane, left_at, planes), load(d, right.plane, right_at, planes)),
          out.plane, out_at, planes);
}

void combine(Operator op, const States& left, const States& right, const States& out, int64_t count) {
    with_operator(op, [&]<class Op, int planes>(Op, std::integral_constant<int, planes>) {
        const hn::ScalableTag<float> d;
        const Fewest<Op> fewest;
        const auto lanes = static_cast<int64_t>(hn::Lanes(d));
        int64_t i = 0;
        for (; i + lanes <= count; i += lanes) combine_at<Op, planes>(d, left, right, out, i, i, i);
        for (; i < count; i += Op::columns) combine_at<Op, planes>(fewest, left, right, out, i, i, i);
    });
}

// out[i] = left[i] o right[i], finished.
template <class Op, int planes>
void combine_finished(const States& left, const States& right, float* out, int64_t count) {
    const hn::ScalableTag<float> d;
    const Fewest<Op> fewest;
    const auto combine_at = [&](auto tag, int64_t i) {
        const auto state =
            Op::advance(tag, load(tag, left.plane, i, planes), load(tag, right.plane, i, planes));
        hn::StoreU(Op::finish(state), tag, out + i);
    };
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    int64_t i = 0;
    for (; i + lanes <= count; i += lanes) combine_at(d, i);
    for (; i < count; i += Op::columns) combine_at(fewest, i);
}

void combine_rows(Operator op, const States& before, const States& states, float* out, int64_t rows,
                  int64_t columns) {
    // If there are few columns they are repeated, so that many rows are combined at once.
    constexpr int64_t room = 256;
    float repeated[2][room];
    States left = before;
    int64_t width = columns;
    if (2 * columns <= room && rows > 1) {
        width = std::min(room / columns, rows) * columns;
        for (int p = 0; p < planes_of(op); ++p) {
            left.plane[p] = repeated[p];
            std::copy_n(before.plane[p], columns, repeated[p]);
            for (int64_t filled = columns; filled < width; filled *= 2)
                std::copy_n(repeated[p], std::min(filled, width - filled), repeated[p] + filled);
        }
    }
    with_operator(op, [&]<class Op, int planes>(Op, std::integral_constant<int, planes>) {
        for (int64_t at = 0; at < rows * columns; at += width)
            combine_finished<Op, planes>(left, states.from(at), out + at,
                                         std::min(width, rows * columns - at));
    });
}

void spread(Operator op, const States& totals, int64_t groups, int64_t columns, const States& carry,
            const States& before) {
    with_operator(op, [&]<class Op, int planes>(Op, std::integral_constant<int, planes>) {
        const Fewest<Op> fewest;
        for (int64_t c = 0; c < columns; c += Op::columns) {
            auto state = load(fewest, carry.plane, c, planes);
            for (int64_t at = c; at < groups * columns; at += columns) {
                const auto total = load(fewest, totals.plane, at, planes);
                store(fewest, state, before.plane, at, planes);
                state = Op::join(fewest, state, total);
            }
            store(fewest, state, carry.plane, c, planes);
        }
    });
}

void finish_logarithms(const States& states, float* out, int64_t count) {
    const hn::ScalableTag<float> d;
    const hn::CappedTag<float, 1> one;
    const auto finish_at = [&](auto tag, int64_t i) {
        hn::StoreU(LogSumExp::finish(load(tag, states.plane, i, 2)), tag, out + i);
    };
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    int64_t i = 0;
    for (; i + lanes <= count; i += lanes) finish_at(d, i);
    for (; i < count; ++i) finish_at(one, i);
}

}  // namespace sawtooth::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <limits>

#include "kernels/cpu/dispatch.h"

namespace sawtooth::cpu {

HWY_EXPORT(finish_logarithms);
SAWTOOTH_DISPATCH(combine, 5)
SAWTOOTH_DISPATCH(combine_rows, 6)
SAWTOOTH_DISPATCH(spread, 6)

void finish(Operator op, States states, float* out, int64_t count) {
    if (op == Operator::compensated_sum) {
        for (int64_t i = 0; i < count; ++i) out[i] = states.plane[0][i] + states.plane[1][i];
        return;
    }
    if (op == Operator::log_sum_exp) return HWY_DYNAMIC_DISPATCH(finish_logarithms)(states, out, count);
    const float* const values = states.plane[planes_of(op) - 1];
    if (out != values) std::copy_n(values, count, out);
}

void copy_states(Operator op, States from, States to, int64_t count) {
    for (int p = 0; p < planes_of(op); ++p) std::copy_n(from.plane[p], count, to.plane[p]);
}

void fill_identity(Operator op, States states, int64_t count) {
    for (int p = 0; p < planes_of(op); ++p) fill_identity(op, p, states.plane[p], count);
}

void fill_identity(Operator op, int plane, float* values, int64_t count) {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const auto fill = [&](float value) { std::fill_n(values, count, value); };
    switch (op) {
        case Operator::product:
            return fill(1);
        case Operator::maximum:
            return fill(-infinity);
        case Operator::minimum:
            return fill(infinity);
        case Operator::linear:
        case Operator::segmented_sum:
            return fill(plane == 0 ? 1 : 0);
        case Operator::complex_linear:
            for (int64_t i = 0; i < count; ++i) values[i] = plane == 0 && i % 2 == 0 ? 1 : 0;
            return;
        case Operator::log_sum_exp:
            return fill(plane == 0 ? -infinity : 0);
        default:
            return fill(0);
    }
}

}  // namespace sawtooth::cpu
#endif
