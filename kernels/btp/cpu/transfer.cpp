// The transfer matrix of a block, a vector of rows (or columns) at once, from the diagonal outwards.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/btp/cpu/transfer.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// The math functions need a target to be set.
#include <hwy/contrib/math/math-inl.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "kernels/btp/cpu/transfer.h"
#include "kernels/btp/parts.h"
#include "kernels/cpu/products.h"

HWY_BEFORE_NAMESPACE();
namespace sawtooth::btp::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::CappedTag<float, cpu::lanes>;
using V = hn::Vec<Tag>;
constexpr Tag tag;
constexpr auto width = static_cast<int64_t>(hn::MaxLanes(Tag()));

// Subnormal factors would slow down every product.
HWY_INLINE V without_subnormals(V x) {
    return hn::IfThenZeroElse(hn::Lt(hn::Abs(x), hn::Set(tag, 0x1p-126f)), x);
}

// 0 and infinity are out of range for hn::Log, NaN for hn::Exp.
HWY_INLINE V logarithm(V x) {
    const V zero = hn::Zero(tag), infinity = hn::Set(tag, INFINITY);
    const V value = hn::IfThenElse(hn::Lt(x, infinity), hn::Log(tag, x), x);
    return hn::IfThenElse(hn::Gt(x, zero), value, hn::IfThenElse(hn::Eq(x, zero), hn::Neg(infinity), x));
}
HWY_INLINE V exponential(V x) {
    const V value = hn::Exp(tag, hn::Min(x, hn::Set(tag, 104.0f)));
    return hn::IfThenElse(hn::IsNaN(x), x, value);
}

HWY_INLINE V positions_from(int64_t first) { return hn::Iota(tag, static_cast<float>(first)); }

// Calls next(i, j, below) for the rows i, i + 1, … of a vector and every column j from right to left; `below`
// marks the rows below the diagonal, for which it returns the entries.
template <class Next>
HWY_INLINE void fill(int64_t count, int64_t first, float* columns, Next&& next) {
    for (int64_t i = first; i < count; i += width) {
        const V rows = positions_from(i);
        for (int64_t j = std::min(i + width, count) - 1; j >= 0; --j) {
            const auto below = hn::Gt(rows, hn::Set(tag, static_cast<float>(j)));
            const V entry = without_subnormals(next(i, j, below));
            hn::StoreU(hn::IfThenElse(below, entry, hn::Set(tag, 1.0f)), tag, columns + j * pitch + i);
        }
    }
}

// Logarithms of all gates, padded.
struct Logarithms {
    explicit Logarithms(std::span<const float> gates) {
        std::copy(gates.begin(), gates.end(), values);
        for (int64_t i = 0; i < pitch; i += width)
            hn::StoreU(logarithm(hn::LoadU(tag, values + i)), tag, values + i);
    }
    float values[pitch + 1] = {};
};

// A sum starts at the diagonal, where it is 0, and grows by log a_{j+1} from column j + 1 to column j. No
// prefixes are subtracted, so nothing cancels and a gate of 0 only gives sums of -infinity.
HWY_INLINE void fill_log_stable(std::span<const float> gates, int64_t first, float* columns) {
    const Logarithms logs(gates);
    V sum = hn::Zero(tag);
    fill(std::ssize(gates), first, columns, [&](int64_t, int64_t j, auto below) HWY_ATTR {
        sum = hn::IfThenElseZero(below, hn::Add(sum, hn::Set(tag, logs.values[j + 1])));
        return exponential(sum);
    });
}

HWY_INLINE void fill_log_difference(std::span<const float> gates, int64_t first, float* columns) {
    Logarithms sums(gates);
    for (int64_t i = 1; i < std::ssize(gates); ++i) sums.values[i] += sums.values[i - 1];
    fill(std::ssize(gates), first, columns, [&](int64_t i, int64_t j, auto) HWY_ATTR {
        return exponential(hn::Sub(hn::LoadU(tag, sums.values + i), hn::Set(tag, sums.values[j])));
    });
}

HWY_INLINE void fill_masked_cumprod(std::span<const float> gates, int64_t first, float* columns) {
    float factors[pitch + 1] = {};
    std::copy(gates.begin(), gates.end(), factors);
    const V one = hn::Set(tag, 1.0f);
    V product = one;
    fill(std::ssize(gates), first, columns, [&](int64_t, int64_t j, auto below) HWY_ATTR {
        product = hn::IfThenElse(below, hn::Mul(product, hn::Set(tag, factors[j + 1])), one);
        return product;
    });
}

HWY_INLINE void fill_cumprod_ratio(std::span<const float> gates, int64_t first, float* columns) {
    float products[pitch] = {};
    std::partial_sum(gates.begin(), gates.end(), products, std::multiplies());
    fill(std::ssize(gates), first, columns, [&](int64_t i, int64_t j, auto) HWY_ATTR {
        if (products[j] == 0) return hn::Zero(tag);
        return hn::Div(hn::LoadU(tag, products + i), hn::Set(tag, products[j]));
    });
}

void fill_vectors(Construction construction, std::span<const float> gates, int64_t first, float* columns) {
    if (construction == Construction::log_stable) return fill_log_stable(gates, first, columns);
    if (construction == Construction::log_difference) return fill_log_difference(gates, first, columns);
    if (construction == Construction::masked_cumprod) return fill_masked_cumprod(gates, first, columns);
    fill_cumprod_ratio(gates, first, columns);
}

void fill_rows(std::span<const float> gates, float* rows) {
    const V one = hn::Set(tag, 1.0f);
    for (int64_t j = 0; j < std::ssize(gates); j += width) {
        const V columns = positions_from(j);
        V product = one;
        for (int64_t i = j; i < std::ssize(gates); ++i) {
            const auto left = hn::Lt(columns, hn::Set(tag, static_cast<float>(i)));
            const V next = without_subnormals(hn::Mul(product, hn::Set(tag, gates[static_cast<size_t>(i)])));
            product = hn::IfThenElse(left, next, one);
            hn::StoreU(product, tag, rows + i * pitch + j);
        }
    }
}

}  // namespace sawtooth::btp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sawtooth::btp {
namespace {

HWY_EXPORT(fill_vectors);
HWY_EXPORT(fill_rows);

void fill_exact(std::span<const float> gates, int64_t first, float* columns) {
    for (int64_t i = first; i < std::ssize(gates); ++i) {
        double product = 1;
        for (int64_t j = i; j >= 0; --j) {
            columns[j * pitch + i] = static_cast<float>(product);
            product *= gates[static_cast<size_t>(j)];
        }
    }
}

}  // namespace

void fill_columns(Construction construction, std::span<const float> gates, int64_t first, float* columns) {
    if (construction == Construction::exact) return fill_exact(gates, first, columns);
    HWY_DYNAMIC_DISPATCH(fill_vectors)(construction, gates, first, columns);
}

void fill_rows(std::span<const float> gates, float* rows) { HWY_DYNAMIC_DISPATCH(fill_rows)(gates, rows); }

std::vector<float> transfer_matrix(Construction construction, std::span<const float> gates) {
    const auto n = std::ssize(gates);
    std::vector<float> columns(static_cast<size_t>(pitch * pitch)), matrix(static_cast<size_t>(n * n));
    fill_columns(construction, gates, 0, columns.data());
    for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j <= i; ++j)
            matrix[static_cast<size_t>(i * n + j)] = columns[static_cast<size_t>(j * pitch + i)];
    return matrix;
}

}  // namespace sawtooth::btp
#endif
