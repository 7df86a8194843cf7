#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/limits.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/core/integers.h"
#include "kernels/cpu/limits.h"

HWY_BEFORE_NAMESPACE();
namespace sawtooth::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;

void copy_block(const float* from, float* to, int64_t count) {
    const Floats d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    int64_t i = 0;
    for (; i + lanes <= count; i += lanes) hn::Stream(hn::Load(d, from + i), d, to + i);
    for (; i < count; ++i) to[i] = from[i];
    hwy::FlushStream();
}

void triad_block(const float* left, const float* right, float* to, int64_t count) {
    const Floats d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    const auto half = hn::Set(d, 0.5f);
    int64_t i = 0;
    for (; i + lanes <= count; i += lanes)
        hn::Stream(hn::MulAdd(half, hn::Load(d, right + i), hn::Load(d, left + i)), d, to + i);
    for (; i < count; ++i) to[i] = left[i] + 0.5f * right[i];
    hwy::FlushStream();
}

// Twelve chains hide the latency of an FMA on two ports. They start from different numbers, otherwise the
// compiler would merge them. Returns the number of multiplies and adds. Writes the sum of the chains to
// `sink` so that the compiler keeps all of them.
double multiply_add_block(double operations, float* sink) {
    const Floats d;
    const double a_round = 12 * 2 * static_cast<double>(hn::Lanes(d));
    const auto rounds = static_cast<int64_t>(operations / a_round) + 1;
    const auto factor = hn::Set(d, 0.999f), term = hn::Set(d, 0.001f);
    const auto start = [d](int chain) HWY_ATTR { return hn::Set(d, 1.0f + static_cast<float>(chain)); };
    auto a = start(0), b = start(1), c = start(2), e = start(3), f = start(4), g = start(5);
    auto h = start(6), i = start(7), j = start(8), k = start(9), l = start(10), m = start(11);
    for (int64_t round = 0; round < rounds; ++round) {
        a = hn::MulAdd(a, factor, term), b = hn::MulAdd(b, factor, term), c = hn::MulAdd(c, factor, term);
        e = hn::MulAdd(e, factor, term), f = hn::MulAdd(f, factor, term), g = hn::MulAdd(g, factor, term);
        h = hn::MulAdd(h, factor, term), i = hn::MulAdd(i, factor, term), j = hn::MulAdd(j, factor, term);
        k = hn::MulAdd(k, factor, term), l = hn::MulAdd(l, factor, term), m = hn::MulAdd(m, factor, term);
    }
    a = hn::Add(hn::Add(hn::Add(a, b), hn::Add(c, e)), hn::Add(hn::Add(f, g), hn::Add(h, i)));
    *sink = hn::GetLane(hn::Add(hn::Add(a, j), hn::Add(hn::Add(k, l), m)));
    return static_cast<double>(rounds) * a_round;
}

const char* target_name() { return hwy::TargetName(HWY_TARGET); }

}  // namespace sawtooth::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>
#include <vector>

namespace sawtooth::cpu {
namespace {

HWY_EXPORT(copy_block);
HWY_EXPORT(triad_block);
HWY_EXPORT(multiply_add_block);
HWY_EXPORT(target_name);

constexpr int64_t block = 64 * 1024;  // floats

int64_t blocks_of(int64_t count) { return ceil_divide(count, block); }
int64_t size_of_block(int64_t index, int64_t count) { return std::min(block, count - index * block); }

}  // namespace

void copy(Pool& pool, const float* from, float* to, int64_t count) {
    pool.dispatch(blocks_of(count), Split::contiguous, [=](const Item& item) {
        const int64_t at = item.index * block;
        HWY_DYNAMIC_DISPATCH(copy_block)(from + at, to + at, size_of_block(item.index, count));
    });
}

void triad(Pool& pool, const float* left, const float* right, float* to, int64_t count) {
    pool.dispatch(blocks_of(count), Split::contiguous, [=](const Item& item) {
        const int64_t at = item.index * block;
        HWY_DYNAMIC_DISPATCH(triad_block)(left + at, right + at, to + at, size_of_block(item.index, count));
    });
}

double multiply_add(Pool& pool, double operations) {
    struct alignas(64) Done {
        double operations = 0;
        float sink = 0;
    };
    std::vector<Done> done(static_cast<size_t>(pool.threads()));
    const double share = operations / pool.threads();
    pool.dispatch(pool.threads(), Split::contiguous, [&done, share](const Item& item) {
        Done& own = done[static_cast<size_t>(item.index)];
        own.operations = HWY_DYNAMIC_DISPATCH(multiply_add_block)(share, &own.sink);
    });
    double sum = 0;
    for (const Done& own : done) sum += own.operations;
    return sum;
}

std::string vector_target() { return HWY_DYNAMIC_DISPATCH(target_name)(); }

}  // namespace sawtooth::cpu
#endif
