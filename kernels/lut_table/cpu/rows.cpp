#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/lut_table/cpu/rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "kernels/lut_table/cpu/rows.h"

HWY_BEFORE_NAMESPACE();
namespace sawtooth::lut_table::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr hn::ScalableTag<float> floats;
constexpr hn::CappedTag<float, 1> one_float;
constexpr hn::ScalableTag<double> doubles;
constexpr hn::CappedTag<double, 1> one_double;
constexpr hn::RebindToSigned<decltype(doubles)> wide_integers;

// Vectors of sums that fit into the registers.
constexpr int most_sums = HWY_MAX_BYTES == 64 ? 16 : 8;
// Rows between the one that is added and the one that is fetched.
constexpr int64_t ahead = 6;

// Calls add(tag, number of vectors, first column) for all columns, as many vectors at once as possible.
template <int most, class Whole, class One, class Add>
HWY_INLINE void for_columns(Whole whole, One one, int64_t columns, Add&& add) {
    const auto width = static_cast<int64_t>(hn::Lanes(whole));
    int64_t at = 0;
    for (; at + most * width <= columns; at += most * width)
        add(whole, std::integral_constant<int, most>(), at);
    for (; at + width <= columns; at += width) add(whole, std::integral_constant<int, 1>(), at);
    for (; at < columns; ++at) add(one, std::integral_constant<int, 1>(), at);
}

template <int vectors, class D>
HWY_INLINE void add_columns(D d, const float* const* rows, int64_t count, int64_t at, float factor,
                            float* sums) {
    constexpr int64_t line = 16;  // numbers
    const auto width = static_cast<int64_t>(hn::Lanes(d));
    const auto by = hn::Set(d, factor);
    hn::Vec<D> sum[vectors];
    HWY_UNROLL(16)
    for (int v = 0; v < vectors; ++v) sum[v] = hn::LoadU(d, sums + at + v * width);
    for (int64_t i = 0; i < count; ++i) {
        const float* const soon = rows[std::min(i + ahead, count - 1)] + at;
        HWY_UNROLL(16)
        for (int64_t c = 0; c < vectors * width; c += line) __builtin_prefetch(soon + c, 0, 2);
        HWY_UNROLL(16)
        for (int v = 0; v < vectors; ++v)
            sum[v] = hn::MulAdd(by, hn::LoadU(d, rows[i] + at + v * width), sum[v]);
    }
    HWY_UNROLL(16)
    for (int v = 0; v < vectors; ++v) hn::StoreU(sum[v], d, sums + at + v * width);
}

void add_floats(const float* const* rows, int64_t count, int64_t columns, float factor, float* sums) {
    for_columns<most_sums>(floats, one_float, columns, [&](auto d, auto vectors, int64_t at) HWY_ATTR {
        add_columns<vectors>(d, rows, count, at, factor, sums);
    });
}

// FixedPoint::term of every lane. The sum with 1.5 * 2^52 rounds like llrint, and its lowest bits are the
// integer.
template <class D, class V>
HWY_INLINE auto terms(D d, V value, FixedPoint fixed) {
    const hn::RebindToSigned<D> integers;
    const auto shift = hn::Set(d, 0x1.8p52), largest = hn::Set(d, 0x1p44);
    const auto scaled = hn::Mul(hn::Mul(value, hn::Set(d, fixed.rescale)), hn::Set(d, FixedPoint::unit));
    const auto number = hn::IfThenElse(hn::Le(hn::Abs(scaled), largest), scaled, largest);
    return hn::Sub(hn::BitCast(integers, hn::Add(number, shift)), hn::BitCast(integers, shift));
}

template <class D>
HWY_INLINE hn::Vec<D> load_wide(D d, const float* from) {
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>(), from));
}

void add_integers(const float* const* rows, int64_t count, int64_t columns, double factor, FixedPoint fixed,
                  int64_t* sums) {
    for_columns<1>(doubles, one_double, columns, [&](auto d, auto, int64_t at) HWY_ATTR {
        const hn::RebindToSigned<decltype(d)> integers;
        const auto by = hn::Set(d, factor);
        auto sum = hn::LoadU(integers, sums + at);
        for (int64_t i = 0; i < count; ++i)
            sum = hn::Add(sum, terms(d, hn::Mul(load_wide(d, rows[i] + at), by), fixed));
        hn::StoreU(sum, integers, sums + at);
    });
}

// Four sums hide the latency of the additions.
float dot_floats(const float* left, const float* right, int64_t columns) {
    const auto width = static_cast<int64_t>(hn::Lanes(floats));
    hn::Vec<decltype(floats)> sums[4];
    for (auto& sum : sums) sum = hn::Zero(floats);
    int64_t at = 0;
    for (; at + 4 * width <= columns; at += 4 * width) HWY_UNROLL(4)
    for (int v = 0; v < 4; ++v)
        sums[v] = hn::MulAdd(hn::LoadU(floats, left + at + v * width),
                             hn::LoadU(floats, right + at + v * width), sums[v]);
    for (; at + width <= columns; at += width)
        sums[0] = hn::MulAdd(hn::LoadU(floats, left + at), hn::LoadU(floats, right + at), sums[0]);
    const auto sum = hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3]));
    float total = hn::GetLane(hn::SumOfLanes(floats, sum));
    for (; at < columns; ++at) total += left[at] * right[at];
    return total;
}

int64_t dot_integers(const float* left, const float* right, int64_t columns, FixedPoint fixed) {
    const auto width = static_cast<int64_t>(hn::Lanes(doubles));
    const auto term = [&](auto d, int64_t at) HWY_ATTR {
        return terms(d, hn::Mul(load_wide(d, left + at), load_wide(d, right + at)), fixed);
    };
    auto sum = hn::Zero(wide_integers);
    int64_t at = 0;
    for (; at + width <= columns; at += width) sum = hn::Add(sum, term(doubles, at));
    int64_t total = hn::GetLane(hn::SumOfLanes(wide_integers, sum));
    for (; at < columns; ++at) total += hn::GetLane(term(one_double, at));
    return total;
}

// Within int32 the addition of 1.5 * 2^52 puts the integer into the lowest bits of a double.
bool convert_integers(const int64_t* sums, int64_t columns, FixedPoint fixed, float* to) {
    bool overflows = false;
    for_columns<1>(doubles, one_double, columns, [&](auto d, auto, int64_t at) HWY_ATTR {
        const hn::RebindToSigned<decltype(d)> integers;
        const auto shift = hn::Set(d, 0x1.8p52);
        const auto sum = hn::LoadU(integers, sums + at);
        const auto low = hn::Set(integers, std::numeric_limits<int32_t>::min());
        const auto high = hn::Set(integers, std::numeric_limits<int32_t>::max());
        overflows |= !hn::AllFalse(integers, hn::Or(hn::Lt(sum, low), hn::Gt(sum, high)));
        const auto number = hn::Sub(hn::BitCast(d, hn::Add(sum, hn::BitCast(integers, shift))), shift);
        const auto value =
            hn::Div(hn::Mul(number, hn::Set(d, 1 / FixedPoint::unit)), hn::Set(d, fixed.rescale));
        hn::StoreU(hn::DemoteTo(hn::Rebind<float, decltype(d)>(), value), hn::Rebind<float, decltype(d)>(),
                   to + at);
    });
    return !overflows;
}

void stream_floats(const float* from, int64_t columns, float* to) {
    const auto width = static_cast<int64_t>(hn::Lanes(floats));
    for (int64_t at = 0; at < columns; at += width) hn::Stream(hn::LoadU(floats, from + at), floats, to + at);
}

size_t vector_bytes() { return hn::Lanes(floats) * sizeof(float); }

}  // namespace sawtooth::lut_table::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/cpu/dispatch.h"

namespace sawtooth::lut_table {
namespace {
HWY_EXPORT(stream_floats);
HWY_EXPORT(vector_bytes);
}  // namespace

SAWTOOTH_DISPATCH_TO(add_rows, add_floats, 5)
SAWTOOTH_DISPATCH_TO(add_rows, add_integers, 6)
SAWTOOTH_DISPATCH_TO(dot, dot_floats, 3)
SAWTOOTH_DISPATCH_TO(dot, dot_integers, 4)
SAWTOOTH_DISPATCH_TO(convert, convert_integers, 4)

void put_row(const float* from, int64_t columns, float* to, bool streams) {
    const size_t bytes = HWY_DYNAMIC_DISPATCH(vector_bytes)(),
                 row = static_cast<size_t>(columns) * sizeof(float);
    if (streams && row % bytes == 0 && reinterpret_cast<uintptr_t>(to) % bytes == 0)
        HWY_DYNAMIC_DISPATCH(stream_floats)(from, columns, to);
    else
        std::memcpy(to, from, row);
}

}  // namespace sawtooth::lut_table
#endif
