// Processes one token on a strip of 16 rows of a memory in vectors: each row stays in its lane. Also advances
// the coefficients of a tile's sources.

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/memory/cpu/strip.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/memory/cpu/job.h"

HWY_BEFORE_NAMESPACE();
namespace sawtooth::memory::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using cpu::lanes;
using Tag = hn::CappedTag<float, lanes>;
using V = hn::Vec<Tag>;
constexpr Tag tag;
constexpr int width = static_cast<int>(hn::MaxLanes(Tag()));
constexpr int vectors = static_cast<int>(lanes) / width;  // vectors that hold 16 numbers

// Four columns have separate sums, so that no addition waits for the previous one.
constexpr int most_chains = 4;

// Adds 16 rows of m times x to the sums, `chains` columns at a time while so many are left.
template <int chains>
HWY_INLINE void add_products(const float* m, const float* x, int64_t& column, int64_t columns,
                             V (&sums)[most_chains][vectors]) {
    for (; column + chains <= columns; column += chains) HWY_UNROLL(4)
    for (int c = 0; c < chains; ++c) {
        const V spread = hn::Set(tag, x[column + c]);
        HWY_UNROLL(4)
        for (int p = 0; p < vectors; ++p)
            sums[c][p] = hn::MulAdd(spread, hn::LoadU(tag, m + (column + c) * lanes + p * width), sums[c][p]);
    }
}

HWY_INLINE V total(const V (&sums)[most_chains][vectors], int p) {
    return hn::Add(hn::Add(sums[0][p], sums[1][p]), hn::Add(sums[2][p], sums[3][p]));
}

HWY_INLINE void clear(V (&sums)[most_chains][vectors]) {
    HWY_UNROLL(4)
    for (auto& chain : sums) HWY_UNROLL(4)
    for (V& sum : chain) sum = hn::Zero(tag);
}

void error_of(const float* m, const float* k, int64_t columns, const float* v, float* e) {
    V sums[most_chains][vectors];
    clear(sums);
    int64_t column = 0;
    add_products<most_chains>(m, k, column, columns, sums);
    add_products<1>(m, k, column, columns, sums);
    HWY_UNROLL(4)
    for (int p = 0; p < vectors; ++p)
        hn::StoreU(hn::Sub(total(sums, p), hn::LoadU(tag, v + p * width)), tag, e + p * width);
}

template <bool has_momentum, int chains>
HWY_INLINE void step_columns(const StripStep& step, const V (&u)[vectors], int64_t& column,
                             V (&sums)[most_chains][vectors]) {
    const V decay = hn::Set(tag, step.decay), keep = hn::Set(tag, step.keep);
    float* const m = step.m;
    float* const s = step.s;
    for (; column + chains <= step.columns; column += chains) HWY_UNROLL(4)
    for (int c = 0; c < chains; ++c) {
        const V key = hn::Set(tag, step.k[column + c]), query = hn::Set(tag, step.q[column + c]);
        HWY_UNROLL(4)
        for (int p = 0; p < vectors; ++p) {
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
void step_rows(const StripStep& step) {
    V u[vectors], sums[most_chains][vectors];
    HWY_UNROLL(4)
    for (int p = 0; p < vectors; ++p) u[p] = hn::LoadU(tag, step.u + p * width);
    clear(sums);
    int64_t column = 0;
    step_columns<has_momentum, most_chains>(step, u, column, sums);
    step_columns<has_momentum, 1>(step, u, column, sums);
    HWY_UNROLL(4)
    for (int p = 0; p < vectors; ++p) hn::StoreU(total(sums, p), tag, step.y + p * width);
}

void take_step(const StripStep& step) { step.s ? step_rows<true>(step) : step_rows<false>(step); }

void advance(const Coefficients& coefficients, float decay, float keep, float step, int64_t first,
             int64_t count) {
    float *const w = coefficients.w, *const h = coefficients.h;
    const int64_t end = cpu::padded(count);
    for (int64_t i = 0; i < end; i += width)
        hn::StoreU(hn::Mul(hn::LoadU(tag, h + i), hn::Set(tag, keep)), tag, h + i);
    for (int64_t i = first; i < count; ++i) h[i] += step;
    for (int64_t i = 0; i < end; i += width)
        hn::StoreU(hn::MulAdd(hn::Set(tag, decay), hn::LoadU(tag, w + i), hn::LoadU(tag, h + i)), tag, w + i);
}

}  // namespace sawtooth::memory::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/cpu/dispatch.h"

namespace sawtooth::memory {

SAWTOOTH_DISPATCH(error_of, 5)
SAWTOOTH_DISPATCH(take_step, 1)
SAWTOOTH_DISPATCH(advance, 6)

}  // namespace sawtooth::memory
#endif
