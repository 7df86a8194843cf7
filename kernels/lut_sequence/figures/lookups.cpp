#include "kernels/lut_sequence/figures/lookups.h"

namespace sawtooth::lut_sequence {
namespace {

void add_bit(Bits& bits, int64_t bit, float delta, float eps) {
    if (delta > eps) bits.value |= 1 << bit;
    if (bits.weakest >= 0 && !(std::abs(delta) < bits.margin())) return;
    bits.weakest = static_cast<int32_t>(bit);
    bits.delta = delta;
}

// Compares x of a position by the anchors of a detector, [anchors, 2].
Bits compared(const float* x, const int32_t* anchors, int64_t count, float eps) {
    Bits bits;
    for (int64_t bit = 0; bit < count; ++bit) {
        const int32_t one = anchors[2 * bit], other = anchors[2 * bit + 1];
        if (one >= 0 && other >= 0) add_bit(bits, bit, x[one] - x[other], eps);
    }
    return bits;
}

Bits of_values(const float* values, int64_t count, float eps) {
    Bits bits;
    for (int64_t bit = 0; bit < count; ++bit) add_bit(bits, bit, values[bit], eps);
    return bits;
}

}  // namespace

Lookups::Lookups(const Result& result, const Drawn& drawn, Range detectors, int64_t count)
    : detectors_(detectors) {
    const float* const x =
        find(result.inputs, "x")->as<float>().data() + drawn.item * drawn.length * drawn.inputs;
    const int32_t* const anchors = find(result.inputs, "anchors")->as<int32_t>().data();
    const float* const positional = find(result.inputs, "positional")->as<float>().data();
    for (int64_t at = 0; at < count; ++at)
        for (int64_t t = detectors.first; t < detectors.last; ++t)
            positions_.push_back(
                compared(x + at * drawn.inputs, anchors + 2 * t * drawn.anchors, drawn.anchors, drawn.eps));
    for (int64_t distance = 0; distance + 1 < count; ++distance)
        for (int64_t t = detectors.first; t < detectors.last; ++t)
            distances_.push_back(of_values(positional + (distance * drawn.detectors + t) * drawn.positional,
                                           drawn.positional, drawn.eps));
}

}  // namespace sawtooth::lut_sequence
