#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/ar_ssm/cpu/rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <limits>
#include <type_traits>

#include "kernels/ar_ssm/cpu/rows.h"
#include "kernels/cpu/products.h"

HWY_BEFORE_NAMESPACE();
namespace sawtooth::ar_ssm::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::CappedTag<float, cpu::lanes>;
using V = hn::Vec<Tag>;
constexpr Tag tag;
constexpr auto width = static_cast<int64_t>(hn::MaxLanes(Tag()));

Magnitudes add_bias(float* row, const float* bias, int64_t count) {
    V least = hn::Set(tag, std::numeric_limits<float>::infinity()), largest = hn::Zero(tag);
    const auto add = [&](int64_t i) HWY_ATTR {
        const V value = hn::Add(hn::LoadU(tag, row + i), hn::LoadU(tag, bias + i));
        hn::StoreU(value, tag, row + i);
        return hn::Abs(value);
    };
    int64_t i = 0;
    for (; i + width <= count; i += width) {
        const V size = add(i);
        least = hn::Min(least, size);
        largest = hn::Max(largest, size);
    }
    if (i < count) {
        const auto is_there = hn::FirstN(tag, static_cast<size_t>(count - i));
        const V size = add(i);
        least = hn::IfThenElse(is_there, hn::Min(least, size), least);
        largest = hn::IfThenElse(is_there, hn::Max(largest, size), largest);
    }
    return {hn::GetLane(hn::MinOfLanes(tag, least)), hn::GetLane(hn::MaxOfLanes(tag, largest))};
}

void relu(float* row, int64_t count) {
    for (int64_t i = 0; i < count; i += width) {
        const V value = hn::LoadU(tag, row + i);
        hn::StoreU(hn::IfThenZeroElse(hn::Lt(value, hn::Zero(tag)), value), tag, row + i);
    }
}

void keep_where_positive(float* row, const float* by, int64_t count) {
    for (int64_t i = 0; i < count; i += width) {
        const auto is_positive = hn::Gt(hn::LoadU(tag, by + i), hn::Zero(tag));
        hn::StoreU(hn::IfThenElseZero(is_positive, hn::LoadU(tag, row + i)), tag, row + i);
    }
}

// Calls act(has_before, has_after) with compile-time constants.
template <class Act>
HWY_INLINE void with_neighbours(const Neighbours& from, Act&& act) {
    using std::false_type, std::true_type;
    const bool before = from.rows[0], after = from.rows[2];
    if (before && after) return act(true_type(), true_type());
    if (before) return act(true_type(), false_type());
    if (after) return act(false_type(), true_type());
    act(false_type(), false_type());
}

void convolve(const Neighbours& from, const float* taps, const float* bias, int64_t count, float* to) {
    with_neighbours(from, [&](auto before, auto after) HWY_ATTR {
        for (int64_t i = 0; i < count; i += width) {
            const auto tap = [&](int k, V sum) HWY_ATTR {
                return hn::MulAdd(hn::LoadU(tag, taps + k * count + i), hn::LoadU(tag, from.rows[k] + i),
                                  sum);
            };
            V sum = bias ? hn::LoadU(tag, bias + i) : hn::Zero(tag);
            if constexpr (before) sum = tap(0, sum);
            sum = tap(1, sum);
            if constexpr (after) sum = tap(2, sum);
            hn::StoreU(sum, tag, to + i);
        }
    });
}

void add_tap_gradients(std::span<const Neighbours> from, const float* dt, int64_t stride, int64_t count,
                       float* gradients) {
    for (int64_t i = 0; i < count; i += width) {
        V sums[3];
        HWY_UNROLL(3)
        for (int k = 0; k < 3; ++k) sums[k] = hn::LoadU(tag, gradients + k * count + i);
        const float* at = dt + i;
        for (const Neighbours& around : from) {
            const V gradient = hn::LoadU(tag, at);
            HWY_UNROLL(3)
            for (int k = 0; k < 3; ++k)
                if (around.rows[k])
                    sums[k] = hn::MulAdd(gradient, hn::LoadU(tag, around.rows[k] + i), sums[k]);
            at += stride;
        }
        HWY_UNROLL(3)
        for (int k = 0; k < 3; ++k) hn::StoreU(sums[k], tag, gradients + k * count + i);
    }
}

void gate_gradients(const GateGradients& rows, int64_t count) {
    for (int64_t i = 0; i < count; i += width) {
        const V du = hn::LoadU(tag, rows.du + i), dv = hn::LoadU(tag, rows.dv + i);
        const V gate = hn::LoadU(tag, rows.gates + i);
        const V dgate = hn::MulAdd(dv, hn::LoadU(tag, rows.projected_v + i),
                                   hn::Mul(du, hn::LoadU(tag, rows.projected_u + i)));
        hn::StoreU(hn::Mul(du, gate), tag, rows.dprojected_u + i);
        hn::StoreU(hn::Mul(dv, gate), tag, rows.dprojected_v + i);
        hn::StoreU(hn::Mul(dgate, hn::LoadU(tag, rows.slopes + i)), tag, rows.dlogits + i);
    }
}

void multiply_in_double(const float* row, int64_t inner, const float* strip, double* to) {
    const hn::CappedTag<double, cpu::lanes> wide;
    const hn::Rebind<float, decltype(wide)> narrow;
    constexpr int each = static_cast<int>(hn::MaxLanes(wide)), vectors = static_cast<int>(cpu::lanes) / each;
    hn::Vec<decltype(wide)> sums[vectors];
    HWY_UNROLL(8)
    for (auto& sum : sums) sum = hn::Zero(wide);
    for (int64_t k = 0; k < inner; ++k) {
        const auto spread = hn::Set(wide, double{row[k]});
        HWY_UNROLL(8)
        for (int p = 0; p < vectors; ++p)
            sums[p] = hn::MulAdd(
                spread, hn::PromoteTo(wide, hn::LoadU(narrow, strip + k * cpu::lanes + p * each)), sums[p]);
    }
    HWY_UNROLL(8)
    for (int p = 0; p < vectors; ++p) hn::StoreU(sums[p], wide, to + p * each);
}

}  // namespace sawtooth::ar_ssm::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/cpu/dispatch.h"

namespace sawtooth::ar_ssm {

SAWTOOTH_DISPATCH(add_bias, 3)
SAWTOOTH_DISPATCH(relu, 2)
SAWTOOTH_DISPATCH(keep_where_positive, 3)
SAWTOOTH_DISPATCH(convolve, 5)
SAWTOOTH_DISPATCH(add_tap_gradients, 5)
SAWTOOTH_DISPATCH(gate_gradients, 2)
SAWTOOTH_DISPATCH(multiply_in_double, 4)

}  // namespace sawtooth::ar_ssm
#endif
