#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/half.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/cpu/half.h"

HWY_BEFORE_NAMESPACE();
namespace sawtooth::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Words = hn::RebindToUnsigned<Floats>;
using Halves = hn::Rebind<uint16_t, Floats>;

// Calls block() for whole vectors; the last one is padded in a local array.
template <class From, class To, class Block>
void in_blocks(const From* from, To* to, int64_t count, Block&& block) {
    const auto lanes = static_cast<int64_t>(hn::Lanes(Floats()));
    int64_t i = 0;
    for (; i + lanes <= count; i += lanes) block(from + i, to + i);
    if (i == count) return;
    From from_tail[HWY_MAX_BYTES / 4] = {};
    To to_tail[HWY_MAX_BYTES / 4];
    for (int64_t k = i; k < count; ++k) from_tail[k - i] = from[k];
    block(from_tail, to_tail);
    for (int64_t k = i; k < count; ++k) to[k] = to_tail[k - i];
}

void narrow_bf16(const float* from, uint16_t* to, int64_t count) {
    in_blocks(from, to, count, [](const float* source, uint16_t* target) {
        const Words words;
        const auto value = hn::LoadU(Floats(), source);
        const auto bits = hn::BitCast(words, value);
        const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(words, 1));
        const auto rounded = hn::Add(bits, hn::Add(odd, hn::Set(words, 0x7FFF)));
        const auto quiet =
            hn::Or(bits, hn::Set(words, 0x400000));  // rounding could turn a NaN into an infinity
        const auto is_nan = hn::RebindMask(words, hn::IsNaN(value));
        const auto kept = hn::ShiftRight<16>(hn::IfThenElse(is_nan, quiet, rounded));
        hn::StoreU(hn::DemoteTo(Halves(), hn::BitCast(hn::RebindToSigned<Words>(), kept)), Halves(), target);
    });
}

void widen_bf16(const uint16_t* from, float* to, int64_t count) {
    in_blocks(from, to, count, [](const uint16_t* source, float* target) {
        const auto bits = hn::ShiftLeft<16>(hn::PromoteTo(Words(), hn::LoadU(Halves(), source)));
        hn::StoreU(hn::BitCast(Floats(), bits), Floats(), target);
    });
}

}  // namespace sawtooth::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <bit>

namespace sawtooth::cpu {
namespace {

HWY_EXPORT(narrow_bf16);
HWY_EXPORT(widen_bf16);

// f16 through integers, so that subnormal values are equal on every processor.
uint16_t f16_from(float value) {
    const auto bits = std::bit_cast<uint32_t>(value);
    const uint32_t sign = (bits >> 16) & 0x8000u;
    const uint32_t size = bits & 0x7FFFFFFFu;
    if (size > 0x7F800000u) return static_cast<uint16_t>(sign | 0x7E00u);   // NaN
    if (size >= 0x477FF000u) return static_cast<uint16_t>(sign | 0x7C00u);  // 65520 and above: infinity
    if (size <
        0x38800000u) {  // below 2^-14: adding 0.5 leaves the rounded multiple of 2^-24 in the last bits
        const float shifted = std::bit_cast<float>(size) + 0.5f;
        return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3F000000u));
    }
    const uint32_t odd = (size >> 13) & 1u;
    return static_cast<uint16_t>(sign | ((size + 0xFFFu + odd - 0x38000000u) >> 13));
}

float f32_from(uint16_t half) {
    const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
    const uint32_t size = half & 0x7FFFu;
    uint32_t bits;
    if (size >= 0x7C00u) {
        bits = (size << 13) + 0x70000000u;
    } else if (size < 0x400u) {
        bits = std::bit_cast<uint32_t>(static_cast<float>(size) * 0x1p-24f);
    } else {
        bits = (size << 13) + 0x38000000u;
    }
    return std::bit_cast<float>(sign | bits);
}

}  // namespace

void narrow(Storage storage, const float* from, uint16_t* to, int64_t count) {
    if (storage == Storage::bf16)
        HWY_DYNAMIC_DISPATCH(narrow_bf16)(from, to, count);
    else
        for (int64_t i = 0; i < count; ++i) to[i] = f16_from(from[i]);
}

void widen(Storage storage, const uint16_t* from, float* to, int64_t count) {
    if (storage == Storage::bf16)
        HWY_DYNAMIC_DISPATCH(widen_bf16)(from, to, count);
    else
        for (int64_t i = 0; i < count; ++i) to[i] = f32_from(from[i]);
}

void round_to(Storage storage, float* values, int64_t count) {
    if (storage == Storage::f32) return;
    uint16_t block[256];
    for (int64_t i = 0; i < count; i += 256) {
        const int64_t size = count - i < 256 ? count - i : 256;
        narrow(storage, values + i, block, size);
        widen(storage, block, values + i, size);
    }
}

}  // namespace sawtooth::cpu
#endif
