// Products with a triangular matrix of one block. Lanes are positions, and the sums of a few channels stay in
// registers while the loop runs over the other positions.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/btp/cpu/products.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "kernels/btp/cpu/products.h"
#include "kernels/btp/cpu/transfer.h"
#include "kernels/cpu/products.h"

HWY_BEFORE_NAMESPACE();
namespace sawtooth::btp::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::CappedTag<float, cpu::lanes>;
using V = hn::Vec<Tag>;
constexpr Tag tag;
constexpr int64_t strip = cpu::lanes;
constexpr auto width = static_cast<int64_t>(hn::MaxLanes(Tag()));
constexpr int vectors = static_cast<int>(strip / width);  // vectors of a strip
constexpr int most_channels = 8 / vectors > 0 ? 8 / vectors : 1;

enum class Triangle { lower, upper };

// Computes to[c][i] = sum over k of lines[k][i] from[c][k] for a strip of positions i, with k <= i in a lower
// triangle and k >= i in an upper one. The farthest k comes first: entries grow towards the diagonal, and a
// sum that grows with its terms rounds less.
template <Triangle triangle, int64_t pitch, int channels>
HWY_INLINE void multiply_strip(const float* lines, const float* from, int64_t first, int64_t count,
                               float* to) {
    V sums[channels][vectors];
    HWY_UNROLL(8)
    for (int c = 0; c < channels; ++c) HWY_UNROLL(4)
    for (int p = 0; p < vectors; ++p) sums[c][p] = hn::Zero(tag);
    const auto add = [&](int64_t k, auto&& select) HWY_ATTR {
        V line[vectors];
        HWY_UNROLL(4)
        for (int p = 0; p < vectors; ++p) line[p] = hn::LoadU(tag, lines + k * pitch + first + p * width);
        HWY_UNROLL(8)
        for (int c = 0; c < channels; ++c) {
            const V spread = hn::Set(tag, from[c * pitch + k]);
            HWY_UNROLL(4)
            for (int p = 0; p < vectors; ++p)
                sums[c][p] = select(p, hn::MulAdd(spread, line[p], sums[c][p]), sums[c][p]);
        }
    };
    const auto all = [](int, V sum, V) HWY_ATTR { return sum; };
    constexpr bool is_lower = triangle == Triangle::lower;
    const int64_t end = std::min(first + strip, count);
    const auto add_in_strip = [&](int64_t k) HWY_ATTR {
        add(k, [&](int p, V sum, V before) HWY_ATTR {
            const V i = hn::Iota(tag, static_cast<float>(first + p * width));
            const V limit = hn::Set(tag, static_cast<float>(k));
            return hn::IfThenElse(is_lower ? hn::Ge(i, limit) : hn::Le(i, limit), sum, before);
        });
    };
    if constexpr (is_lower) {
        for (int64_t k = 0; k < first; ++k) add(k, all);
        for (int64_t k = first; k < end; ++k) add_in_strip(k);
    } else {
        for (int64_t k = count - 1; k >= end; --k) add(k, all);
        for (int64_t k = end - 1; k >= first; --k) add_in_strip(k);
    }
    HWY_UNROLL(8)
    for (int c = 0; c < channels; ++c) HWY_UNROLL(4)
    for (int p = 0; p < vectors; ++p) hn::StoreU(sums[c][p], tag, to + c * pitch + first + p * width);
}

template <Triangle triangle, int64_t pitch>
HWY_INLINE void multiply_triangle(const float* lines, const float* from, int64_t channels, int64_t first,
                                  int64_t count, float* to) {
    for (; first < count; first += strip) {
        int64_t c = 0;
        for (; c + most_channels <= channels; c += most_channels)
            multiply_strip<triangle, pitch, most_channels>(lines, from + c * pitch, first, count,
                                                           to + c * pitch);
        for (; c < channels; ++c)
            multiply_strip<triangle, pitch, 1>(lines, from + c * pitch, first, count, to + c * pitch);
    }
}

void multiply(const float* columns, const float* u, const BlockShape& shape, int64_t first, float* v) {
    with_constant_pitch(shape.pitch, [&](auto pitch) HWY_ATTR {
        multiply_triangle<Triangle::lower, decltype(pitch)::value>(columns, u, shape.channels, first,
                                                                   shape.count, v);
    });
}

void multiply_transposed(const float* rows, const float* dx, const BlockShape& shape, float* r) {
    with_constant_pitch(shape.pitch, [&](auto pitch) HWY_ATTR {
        multiply_triangle<Triangle::upper, decltype(pitch)::value>(rows, dx, shape.channels, 0, shape.count,
                                                                   r);
    });
}

void add_outer(const float* line, const float* factors, const BlockShape& shape, float* values) {
    const auto [channels, count, pitch] = shape;
    for (int64_t c = 0; c < channels; ++c, values += pitch) {
        const V factor = hn::Set(tag, factors[c]);
        for (int64_t i = 0; i < count; i += width)
            hn::StoreU(hn::MulAdd(factor, hn::LoadU(tag, line + i), hn::LoadU(tag, values + i)), tag,
                       values + i);
    }
}

void multiply_line(const float* line, const float* values, const BlockShape& shape, float* sums) {
    const auto [channels, count, pitch] = shape;
    for (int64_t c = 0; c < channels; ++c, values += pitch) {
        V sum = hn::Zero(tag);
        for (int64_t i = 0; i < count; i += width)
            sum = hn::MulAdd(hn::LoadU(tag, line + i), hn::LoadU(tag, values + i), sum);
        sums[c] = hn::GetLane(hn::SumOfLanes(tag, sum));
    }
}

void multiply_neighbours(const float* w, const float* v, const BlockShape& shape, float* da) {
    const auto [channels, count, pitch] = shape;
    for (int64_t i = 0; i < count; i += width) {
        const auto has_neighbour = hn::Gt(hn::Iota(tag, static_cast<float>(i)), hn::Zero(tag));
        V sum = hn::Zero(tag);
        for (int64_t at = i; at < channels * pitch; at += pitch)
            sum = hn::MulAdd(hn::LoadU(tag, w + at), hn::LoadU(tag, v + at - 1), sum);
        hn::StoreU(hn::IfThenElseZero(has_neighbour, sum), tag, da + i);
    }
}

void add_outer_products(const float* r, const float* line, const float* factors, const BlockShape& shape,
                        float* da) {
    const auto [channels, count, pitch] = shape;
    for (int64_t i = 0; i < count; i += width) {
        const V along = hn::LoadU(tag, line + i);
        V sum = hn::LoadU(tag, da + i);
        for (int64_t c = 0; c < channels; ++c)
            sum =
                hn::MulAdd(hn::LoadU(tag, r + c * pitch + i), hn::Mul(along, hn::Set(tag, factors[c])), sum);
        hn::StoreU(sum, tag, da + i);
    }
}

}  // namespace sawtooth::btp::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/cpu/dispatch.h"

namespace sawtooth::btp {

SAWTOOTH_DISPATCH(multiply, 5)
SAWTOOTH_DISPATCH(multiply_transposed, 4)
SAWTOOTH_DISPATCH(add_outer, 4)
SAWTOOTH_DISPATCH(multiply_line, 4)
SAWTOOTH_DISPATCH(multiply_neighbours, 4)
SAWTOOTH_DISPATCH(add_outer_products, 5)

}  // namespace sawtooth::btp
#endif
