#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention/cpu/rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// The math functions need a target to be set.
#include <hwy/contrib/math/math-inl.h>

#include "kernels/attention/cpu/rows.h"
#include "kernels/cpu/products.h"

HWY_BEFORE_NAMESPACE();
namespace sawtooth::attention::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::CappedTag<float, cpu::lanes>;
using V = hn::Vec<Tag>;
constexpr Tag tag;
constexpr int64_t width = static_cast<int64_t>(hn::MaxLanes(Tag()));

float largest(const float* row, int64_t count) {
    V most = hn::Set(tag, -INFINITY);
    for (int64_t i = 0; i < count; i += width) most = hn::Max(most, hn::LoadU(tag, row + i));
    return hn::GetLane(hn::MaxOfLanes(tag, most));
}

float exponentials(float* row, float shift, int64_t count) {
    const V by = hn::Set(tag, shift), least = hn::Set(tag, -87.33654f);  // below it exp is subnormal
    V sum = hn::Zero(tag);
    for (int64_t i = 0; i < count; i += width) {
        const V x = hn::Sub(hn::LoadU(tag, row + i), by);
        V p = hn::Exp(tag, hn::Max(x, least));
        p = hn::IfThenElse(hn::IsNaN(x), x, hn::IfThenZeroElse(hn::Lt(x, least), p));
        sum = hn::Add(sum, p);
        hn::StoreU(p, tag, row + i);
    }
    return hn::GetLane(hn::SumOfLanes(tag, sum));
}

void score_gradients(float* row, const float* p, float delta, float scale, int64_t count) {
    const V subtracted = hn::Set(tag, delta), factor = hn::Set(tag, scale);
    for (int64_t i = 0; i < count; i += width) {
        const V change = hn::Sub(hn::LoadU(tag, row + i), subtracted);
        hn::StoreU(hn::Mul(hn::Mul(hn::LoadU(tag, p + i), change), factor), tag, row + i);
    }
}

float ordered_dot(const float* left, const float* right, int64_t count) {
    const hn::CappedTag<float, 1> one;
    auto sum = hn::Zero(one);
    for (int64_t i = 0; i < count; ++i)
        sum = hn::MulAdd(hn::LoadU(one, left + i), hn::LoadU(one, right + i), sum);
    return hn::GetLane(sum);
}

bool is_finite(const float* row, int64_t count) {
    V zero = hn::Zero(tag);  // stays 0 until a number that is not finite makes it NaN
    for (int64_t i = 0; i < count; i += width)
        zero = hn::MulAdd(hn::LoadU(tag, row + i), hn::Zero(tag), zero);
    return hn::AllFalse(tag, hn::IsNaN(zero));
}

}  // namespace sawtooth::attention::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/cpu/dispatch.h"

namespace sawtooth::attention {

SAWTOOTH_DISPATCH(largest, 2)
SAWTOOTH_DISPATCH(exponentials, 3)
SAWTOOTH_DISPATCH(score_gradients, 5)
SAWTOOTH_DISPATCH(ordered_dot, 3)
SAWTOOTH_DISPATCH(is_finite, 2)

}  // namespace sawtooth::attention
#endif
