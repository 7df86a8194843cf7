#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/memory/vectors.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// The math functions want a target to be set.
#include <hwy/contrib/math/math-inl.h>

#include <algorithm>
#include <cmath>

#include "kernels/memory/products.h"
#include "kernels/memory/vectors.h"

HWY_BEFORE_NAMESPACE();
namespace sawtooth::memory::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::CappedTag<float, lanes>;
using V = hn::Vec<Tag>;
constexpr Tag tag;
constexpr int width = static_cast<int>(hn::MaxLanes(Tag()));
constexpr int parts = static_cast<int>(lanes) / width;  // vectors of 16 numbers

float dot(const float* left, const float* right, int64_t count) {
    V sums[parts];
    for (int p = 0; p < parts; ++p) sums[p] = hn::Zero(tag);
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

void advance(const Coefficients& coefficients, float decay, float keep, float step, int64_t first,
             int64_t count) {
    scale(coefficients.h, keep, padded(count));
    for (int64_t i = first; i < count; ++i) coefficients.h[i] += step;
    combine(coefficients.w, decay, coefficients.w, 1, coefficients.h, padded(count));
}

// exp of what is at most 0; below -87 its f32 is as good as 0.
HWY_INLINE V falling_exp(V x) { return hn::Exp(tag, hn::Max(x, hn::Set(tag, -87.0f))); }

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

// Columns in groups of four with sums of their own, so that no addition waits for the one before it.
constexpr int most_chains = 4;

// e of 16 rows: `chains` columns at a time while they last.
template <int chains>
HWY_INLINE void add_products(const float* m, const float* x, int64_t& column, int64_t columns,
                             V (&sums)[most_chains][parts]) {
    for (; column + chains <= columns; column += chains) HWY_UNROLL(4)
    for (int c = 0; c < chains; ++c) {
        const V spread = hn::Set(tag, x[column + c]);
        HWY_UNROLL(4)
        for (int p = 0; p < parts; ++p)
            sums[c][p] = hn::MulAdd(spread, hn::LoadU(tag, m + (column + c) * lanes + p * width), sums[c][p]);
    }
}

HWY_INLINE V total(const V (&sums)[most_chains][parts], int p) {
    return hn::Add(hn::Add(sums[0][p], sums[1][p]), hn::Add(sums[2][p], sums[3][p]));
}

HWY_INLINE void clear(V (&sums)[most_chains][parts]) {
    HWY_UNROLL(4)
    for (int c = 0; c < most_chains; ++c) HWY_UNROLL(4)
    for (int p = 0; p < parts; ++p) sums[c][p] = hn::Zero(tag);
}

void error_of(const float* m, const float* k, int64_t columns, const float* v, float* e) {
    V sums[most_chains][parts];
    clear(sums);
    int64_t column = 0;
    add_products<most_chains>(m, k, column, columns, sums);
    add_products<1>(m, k, column, columns, sums);
    HWY_UNROLL(4)
    for (int p = 0; p < parts; ++p)
        hn::StoreU(hn::Sub(total(sums, p), hn::LoadU(tag, v + p * width)), tag, e + p * width);
}

template <bool has_momentum, int chains>
HWY_INLINE void step_columns(const Step& step, const V (&u)[parts], int64_t& column,
                             V (&sums)[most_chains][parts]) {
    const V decay = hn::Set(tag, step.decay), keep = hn::Set(tag, step.keep);
    float* const m = step.m;
    float* const s = step.s;
    for (; column + chains <= step.columns; column += chains) HWY_UNROLL(4)
    for (int c = 0; c < chains; ++c) {
        const V key = hn::Set(tag, step.k[column + c]), query = hn::Set(tag, step.q[column + c]);
        HWY_UNROLL(4)
        for (int p = 0; p < parts; ++p) {
            const int64_t at = (column + c) * lanes + p * width;
            V added = hn::Mul(u[p], key);
            if constexpr (has_momentum) {
                added = hn::MulAdd(keep, hn::LoadU(tag, s + at), added);
                hn::StoreU(added, tag, s + at);
            }
            const V value = hn::MulAdd(decay, hn::LoadU(tag, m + at), added);
            hn::StoreU(value, tag, m + at);
            sums[c][p] = hn::MulAdd(query, value, sums[c][p]);
        }
    }
}

template <bool has_momentum>
void step_rows(const Step& step) {
    V u[parts], sums[most_chains][parts];
    HWY_UNROLL(4)
    for (int p = 0; p < parts; ++p) u[p] = hn::LoadU(tag, step.u + p * width);
    clear(sums);
    int64_t column = 0;
    step_columns<has_momentum, most_chains>(step, u, column, sums);
    step_columns<has_momentum, 1>(step, u, column, sums);
    HWY_UNROLL(4)
    for (int p = 0; p < parts; ++p) hn::StoreU(total(sums, p), tag, step.y + p * width);
}

void take_step(const Step& step) { step.s ? step_rows<true>(step) : step_rows<false>(step); }

}  // namespace sawtooth::memory::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sawtooth::memory {
namespace {
HWY_EXPORT(dot);
HWY_EXPORT(normalise);
HWY_EXPORT(scale);
HWY_EXPORT(combine);
HWY_EXPORT(multiply_elements);
HWY_EXPORT(scale_rows);
HWY_EXPORT(subtract_rows);
HWY_EXPORT(advance);
HWY_EXPORT(silu);
HWY_EXPORT(sigmoid);
HWY_EXPORT(exponentials);
HWY_EXPORT(error_of);
HWY_EXPORT(take_step);
}  // namespace

float dot(const float* left, const float* right, int64_t count) {
    return HWY_DYNAMIC_DISPATCH(dot)(left, right, count);
}
void normalise(float* row, int64_t count) { HWY_DYNAMIC_DISPATCH(normalise)(row, count); }
void scale(float* row, float factor, int64_t count) { HWY_DYNAMIC_DISPATCH(scale)(row, factor, count); }
void combine(float* to, float a, const float* x, float b, const float* y, int64_t count) {
    HWY_DYNAMIC_DISPATCH(combine)(to, a, x, b, y, count);
}
void multiply_elements(float* row, const float* by, int64_t count) {
    HWY_DYNAMIC_DISPATCH(multiply_elements)(row, by, count);
}
void scale_rows(float* to, const float* from, const float* factors, int64_t count) {
    HWY_DYNAMIC_DISPATCH(scale_rows)(to, from, factors, count);
}
void subtract_rows(float* to, const float* rows, int64_t stride, int64_t count) {
    HWY_DYNAMIC_DISPATCH(subtract_rows)(to, rows, stride, count);
}
void advance(const Coefficients& coefficients, float decay, float keep, float step, int64_t first,
             int64_t count) {
    HWY_DYNAMIC_DISPATCH(advance)(coefficients, decay, keep, step, first, count);
}
void silu(float* row, int64_t count) { HWY_DYNAMIC_DISPATCH(silu)(row, count); }
void sigmoid(float* row, int64_t count) { HWY_DYNAMIC_DISPATCH(sigmoid)(row, count); }
void exponentials(float* row, int64_t count) { HWY_DYNAMIC_DISPATCH(exponentials)(row, count); }
void transpose(const float* rows, int64_t stride, int64_t count, int64_t columns, float* to, int64_t width) {
    for (int64_t column = 0; column < columns; ++column, to += width) {
        for (int64_t row = 0; row < count; ++row) to[row] = rows[row * stride + column];
        std::fill(to + count, to + width, 0.0f);
    }
}

void error_of(const float* m, const float* k, int64_t columns, const float* v, float* e) {
    HWY_DYNAMIC_DISPATCH(error_of)(m, k, columns, v, e);
}
void take_step(const Step& step) { HWY_DYNAMIC_DISPATCH(take_step)(step); }

}  // namespace sawtooth::memory
#endif
