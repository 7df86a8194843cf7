// The transfer matrix of a block, computed a vector of rows or columns at a time from the diagonal outwards.

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

// Replaces subnormal numbers by 0, as such factors would slow down every product.
HWY_INLINE V without_subnormals(V x) {
    return hn::IfThenZeroElse(hn::Lt(hn::Abs(x), hn::Set(tag, 0x1p-126f)), x);
}

// Returns the logarithm in base 2. hn::Log2 takes only finite numbers above 0.
HWY_INLINE V logarithm(V x) {
    const V zero = hn::Zero(tag), infinity = hn::Set(tag, INFINITY);
    const V value = hn::IfThenElse(hn::Lt(x, infinity), hn::Log2(tag, x), x);
    const V others = hn::IfThenElse(hn::Eq(x, zero), hn::Neg(infinity), hn::NaN(tag));
    return hn::IfThenElse(hn::Gt(x, zero), value, others);
}

// Returns 2^x, or 0 if that is subnormal: 2^n for the nearest integer n, times a polynomial that is off by at
// most 5e-9 and exact at 0.
HWY_INLINE V exponential(V x) {
    const hn::RebindToSigned<Tag> words;
    const V most = hn::Set(tag, 128.0f), bounded = hn::IfThenElse(hn::Gt(x, most), most, x);
    const V nearest = hn::Round(bounded), t = hn::Sub(bounded, nearest);
    V sum = hn::Set(tag, 1.5453163e-4f);
    for (const float factor :
         {1.3390863e-3f, 9.6180826e-3f, 5.5503571e-2f, 2.4022651e-1f, 6.9314719e-1f, 1.0f})
        sum = hn::MulAdd(sum, t, hn::Set(tag, factor));
    const auto exponent = hn::Add(hn::ConvertTo(words, nearest), hn::Set(words, 127));
    const V value = hn::Mul(sum, hn::BitCast(tag, hn::ShiftLeft<23>(exponent)));
    return hn::IfThenZeroElse(hn::Lt(x, hn::Set(tag, -126.0f)), value);
}

// Chooses in a vector of a column that crosses the diagonal: entries below it, `others` on it and above.
struct Crossing {
    hn::Mask<Tag> below;
    HWY_INLINE V operator()(V entries, V others) const { return hn::IfThenElse(below, entries, others); }
};
// Chooses in a vector that lies below the diagonal.
struct Below {
    HWY_INLINE V operator()(V entries, V) const { return entries; }
};

// Stores the entries that next(i, j, choose) returns for the rows i, i + 1, … of a vector and every column j,
// from right to left. `choose` is one of the two above: a product or a sum of gates is empty on the diagonal.
template <int64_t pitch, class Next>
HWY_INLINE void fill(int64_t count, int64_t first, float* columns, Next&& next) {
    for (int64_t i = first; i < count; i += width) {
        const V rows = hn::Iota(tag, static_cast<float>(i));
        int64_t j = std::min(i + width, count) - 1;
        for (; j >= i; --j) {
            const Crossing choose{hn::Gt(rows, hn::Set(tag, static_cast<float>(j)))};
            hn::StoreU(next(i, j, choose), tag, columns + j * pitch + i);
        }
        for (; j >= 0; --j) hn::StoreU(next(i, j, Below()), tag, columns + j * pitch + i);
    }
}

// The logarithms of all gates, padded to the largest block of the pitch.
template <int64_t pitch>
struct Logarithms {
    explicit Logarithms(std::span<const float> gates) {
        std::copy(gates.begin(), gates.end(), values);
        for (int64_t i = 0; i < pitch; i += width)
            hn::StoreU(logarithm(hn::LoadU(tag, values + i)), tag, values + i);
    }
    float values[pitch + 1] = {};
};

// A sum is 0 on the diagonal and grows by log a_{j+1} from column j + 1 to column j. Prefixes are not
// subtracted, so nothing cancels, and a gate of 0 only gives sums of -infinity.
template <int64_t pitch>
HWY_INLINE void fill_log_stable(std::span<const float> gates, int64_t first, float* columns) {
    const Logarithms<pitch> logs(gates);
    const V zero = hn::Zero(tag);
    V sum = zero;
    fill<pitch>(std::ssize(gates), first, columns, [&](int64_t, int64_t j, auto choose) HWY_ATTR {
        sum = choose(hn::Add(sum, hn::Set(tag, logs.values[j + 1])), zero);
        return exponential(sum);
    });
}

template <int64_t pitch>
HWY_INLINE void fill_log_difference(std::span<const float> gates, int64_t first, float* columns) {
    Logarithms<pitch> sums(gates);
    for (int64_t i = 1; i < std::ssize(gates); ++i) sums.values[i] += sums.values[i - 1];
    fill<pitch>(std::ssize(gates), first, columns, [&](int64_t i, int64_t j, auto) HWY_ATTR {
        return exponential(hn::Sub(hn::LoadU(tag, sums.values + i), hn::Set(tag, sums.values[j])));
    });
}

template <int64_t pitch>
HWY_INLINE void fill_masked_cumprod(std::span<const float> gates, int64_t first, float* columns) {
    float factors[pitch + 1] = {};
    std::copy(gates.begin(), gates.end(), factors);
    const V one = hn::Set(tag, 1.0f);
    V product = one;
    fill<pitch>(std::ssize(gates), first, columns, [&](int64_t, int64_t j, auto choose) HWY_ATTR {
        const V next = without_subnormals(hn::Mul(product, hn::Set(tag, factors[j + 1])));
        return product = choose(next, one);
    });
}

template <int64_t pitch>
HWY_INLINE void fill_cumprod_ratio(std::span<const float> gates, int64_t first, float* columns) {
    float products[pitch] = {};
    std::partial_sum(gates.begin(), gates.end(), products, std::multiplies());
    fill<pitch>(std::ssize(gates), first, columns, [&](int64_t i, int64_t j, auto) HWY_ATTR {
        if (products[j] == 0) return hn::Zero(tag);
        return without_subnormals(hn::Div(hn::LoadU(tag, products + i), hn::Set(tag, products[j])));
    });
}

template <int64_t pitch>
HWY_INLINE void fill_with(Construction construction, std::span<const float> gates, int64_t first,
                          float* columns) {
    if (construction == Construction::log_stable) return fill_log_stable<pitch>(gates, first, columns);
    if (construction == Construction::log_difference)
        return fill_log_difference<pitch>(gates, first, columns);
    if (construction == Construction::masked_cumprod)
        return fill_masked_cumprod<pitch>(gates, first, columns);
    fill_cumprod_ratio<pitch>(gates, first, columns);
}

void fill_vectors(Construction construction, std::span<const float> gates, int64_t pitch, int64_t first,
                  float* columns) {
    with_constant_pitch(pitch, [&](auto constant) HWY_ATTR {
        fill_with<decltype(constant)::value>(construction, gates, first, columns);
    });
}

void fill_rows(std::span<const float> gates, int64_t pitch, float* rows) {
    const V one = hn::Set(tag, 1.0f);
    for (int64_t j = 0; j < std::ssize(gates); j += width) {
        const V columns = hn::Iota(tag, static_cast<float>(j));
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
#include "kernels/cpu/dispatch.h"

namespace sawtooth::btp {
namespace {

HWY_EXPORT(fill_vectors);

void fill_exact(std::span<const float> gates, int64_t pitch, int64_t first, float* columns) {
    for (int64_t i = first; i < std::ssize(gates); ++i) {
        double product = 1;
        for (int64_t j = i; j >= 0; --j) {
            columns[j * pitch + i] = static_cast<float>(product);
            product *= gates[static_cast<size_t>(j)];
        }
    }
}

}  // namespace

void fill_columns(Construction construction, std::span<const float> gates, int64_t pitch, int64_t first,
                  float* columns) {
    if (construction == Construction::exact) return fill_exact(gates, pitch, first, columns);
    HWY_DYNAMIC_DISPATCH(fill_vectors)(construction, gates, pitch, first, columns);
}

SAWTOOTH_DISPATCH(fill_rows, 3)

std::vector<float> transfer_matrix(Construction construction, std::span<const float> gates) {
    const auto n = std::ssize(gates), pitch = pitch_of(n);
    std::vector<float> columns(static_cast<size_t>(pitch * pitch)), matrix(static_cast<size_t>(n * n));
    fill_columns(construction, gates, pitch, 0, columns.data());
    for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j <= i; ++j)
            matrix[static_cast<size_t>(i * n + j)] = columns[static_cast<size_t>(j * pitch + i)];
    return matrix;
}

}  // namespace sawtooth::btp
#endif
