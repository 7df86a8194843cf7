#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/vectors.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// The math functions need a target to be set.
#include <hwy/contrib/math/math-inl.h>

#include <algorithm>
#include <cmath>

#include "kernels/cpu/products.h"
#include "kernels/cpu/vectors.h"

HWY_BEFORE_NAMESPACE();
namespace sawtooth::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::CappedTag<float, lanes>;
using V = hn::Vec<Tag>;
constexpr Tag tag;
constexpr int width = static_cast<int>(hn::MaxLanes(Tag()));
constexpr int parts = static_cast<int>(lanes) / width;  // vectors of 16 numbers

float dot(const float* left, const float* right, int64_t count) {
    V sums[parts];
    for (V& sum : sums) sum = hn::Zero(tag);
    for (int64_t i = 0; i < count; i += lanes) HWY_UNROLL(4)
    for (int p = 0; p < parts; ++p)
        sums[p] =
            hn::MulAdd(hn::LoadU(tag, left + i + p * width), hn::LoadU(tag, right + i + p * width), sums[p]);
    for (int p = 1; p < parts; ++p) sums[0] = hn::Add(sums[0], sums[p]);
    return hn::GetLane(hn::SumOfLanes(tag, sums[0]));
}

double square_of(const float* row, int64_t count) {
    const hn::CappedTag<double, lanes / 2> wide;
    const hn::Rebind<float, decltype(wide)> narrow;
    const auto each = static_cast<int64_t>(hn::Lanes(wide));
    auto sum = hn::Zero(wide);
    for (int64_t i = 0; i < count; i += each) {
        const auto value = hn::PromoteTo(wide, hn::LoadU(narrow, row + i));
        sum = hn::MulAdd(value, value, sum);
    }
    return hn::GetLane(hn::SumOfLanes(wide, sum));
}

// row[i] = f(row[i]), vector by vector.
template <class Function>
HWY_INLINE void change(float* row, int64_t count, Function&& function) {
    for (int64_t i = 0; i < count; i += width) hn::StoreU(function(hn::LoadU(tag, row + i), i), tag, row + i);
}

void scale(float* row, float factor, int64_t count) {
    change(row, count, [factor](V x, int64_t) { return hn::Mul(x, hn::Set(tag, factor)); });
}

void normalise(float* row, int64_t count) {
    const float square = dot(row, row, count);
    const bool is_plain = square > 1e-20f && square < 1e30f;
    const double norm = std::sqrt(is_plain ? double{square} : square_of(row, count));
    scale(row, static_cast<float>(1 / std::max(norm, 1e-12)), count);
}

void combine(float* to, float a, const float* x, float b, const float* y, int64_t count) {
    for (int64_t i = 0; i < count; i += width)
        hn::StoreU(hn::MulAdd(hn::Set(tag, a), hn::LoadU(tag, x + i),
                              hn::Mul(hn::Set(tag, b), hn::LoadU(tag, y + i))),
                   tag, to + i);
}

void multiply_elements(float* row, const float* by, int64_t count) {
    change(row, count, [by](V x, int64_t i) { return hn::Mul(x, hn::LoadU(tag, by + i)); });
}

void scale_rows(float* to, const float* from, const float* factors, int64_t count) {
    for (int64_t row = 0; row < count; ++row) {
        const V factor = hn::Set(tag, factors[row]);
        HWY_UNROLL(4)
        for (int p = 0; p < parts; ++p) {
            const int64_t at = row * lanes + p * width;
            hn::StoreU(hn::Mul(factor, hn::LoadU(tag, from + at)), tag, to + at);
        }
    }
}

void subtract_rows(float* to, const float* rows, int64_t stride, int64_t count) {
    for (int64_t row = 0; row < count; ++row) HWY_UNROLL(4)
    for (int p = 0; p < parts; ++p) {
        float* const at = to + row * lanes + p * width;
        hn::StoreU(hn::Sub(hn::LoadU(tag, at), hn::LoadU(tag, rows + row * stride + p * width)), tag, at);
    }
}

// exp(x) for x <= 0; 0 where the result is no normal number.
HWY_INLINE V falling_exp(V x) {
    const V least = hn::Set(tag, -87.33f);
    return hn::IfThenZeroElse(hn::Lt(x, least), hn::Exp(tag, hn::Max(x, least)));
}

HWY_INLINE V logistic(V x) {
    const V one = hn::Set(tag, 1.0f), falling = falling_exp(hn::Neg(hn::Abs(x)));
    const V upper = hn::Div(one, hn::Add(one, falling));
    const V value = hn::IfThenElse(hn::Ge(x, hn::Zero(tag)), upper, hn::Mul(falling, upper));
    return hn::IfThenElse(hn::IsNaN(x), x, value);
}

void silu(float* row, int64_t count) {
    change(row, count, [](V x, int64_t) { return hn::Mul(x, logistic(x)); });
}

void sigmoid(float* row, int64_t count) {
    change(row, count, [](V x, int64_t) { return logistic(x); });
}

void exponentials(float* row, int64_t count) {
    change(row, count, [](V x, int64_t) { return hn::IfThenElse(hn::IsNaN(x), x, falling_exp(x)); });
}

}  // namespace sawtooth::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/cpu/dispatch.h"

namespace sawtooth::cpu {

SAWTOOTH_DISPATCH(dot, 3)
SAWTOOTH_DISPATCH(normalise, 2)
SAWTOOTH_DISPATCH(scale, 3)
SAWTOOTH_DISPATCH(combine, 6)
SAWTOOTH_DISPATCH(multiply_elements, 3)
SAWTOOTH_DISPATCH(scale_rows, 4)
SAWTOOTH_DISPATCH(subtract_rows, 4)
SAWTOOTH_DISPATCH(silu, 2)
SAWTOOTH_DISPATCH(sigmoid, 2)
SAWTOOTH_DISPATCH(exponentials, 2)

void transpose(const float* rows, int64_t stride, int64_t count, int64_t columns, float* to, int64_t width) {
    for (int64_t column = 0; column < columns; ++column, to += width) {
        for (int64_t row = 0; row < count; ++row) to[row] = rows[row * stride + column];
        std::fill(to + count, to + width, 0.0f);
    }
}

}  // namespace sawtooth::cpu
#endif
