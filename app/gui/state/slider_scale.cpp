#include "app/gui/state/slider_scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/gui/state/effect.h"

namespace sawtooth {
namespace {

constexpr double many_steps = 4096;  // with more steps than this the pixels of a slider are too coarse
constexpr double least_gap = 1e-4;   // the least distance to 1 at the end of a slider

// The distances to 1 at both ends of the slider.
SliderSpan gaps_of(const SliderSpan& span) {
    const double low = std::max(1 - span.low, least_gap);
    return {low, std::clamp(1 - span.high, least_gap, low / 2)};
}

}  // namespace

bool steps_in_powers(const Parameter& row) {
    return row.type == Type::integer && row.step == Step::powers_of_two;
}

// The ends of the slider; exponents if steps are powers of two, where the largest one may lie beyond the end.
SliderSpan span_of(const LabState& lab, const Parameter& row) {
    const double last = last_value(lab, row);
    if (!steps_in_powers(row)) return {row.minimum, last};
    const auto exponent = [](double number) { return std::log2(std::max(number, 1.0)); };
    return {std::ceil(exponent(row.minimum)),
            std::min(std::ceil(exponent(last)), std::floor(exponent(row.maximum)))};
}

bool is_logarithmic(const Parameter& row, const SliderSpan& span) {
    if (row.type == Type::integer) return span.low >= 0 && span.high - span.low > many_steps;
    return span.low >= 0 && span.high > many_steps * std::max(span.low, 1e-6);
}

float share_of(const Parameter& row, const SliderSpan& span, double number) {
    const auto share = [](double value, double low, double high) {
        return high > low ? static_cast<float>(std::clamp((value - low) / (high - low), 0.0, 1.0)) : 0.0f;
    };
    if (row.step == Step::towards_one) {
        const SliderSpan gaps = gaps_of(span);
        return share(-std::log(std::max(1 - number, least_gap / 2)), -std::log(gaps.low),
                     -std::log(gaps.high));
    }
    if (steps_in_powers(row)) return share(std::log2(std::max(number, 1.0)), span.low, span.high);
    if (!is_logarithmic(row, span)) return share(number, span.low, span.high);
    const double zero = row.type == Type::integer ? 0.1 : 1e-3;
    return share(std::log(std::max(number, zero)), std::log(std::max(span.low, zero)), std::log(span.high));
}

double towards_one_at(const SliderSpan& span, double share) {
    if (share <= 0) return span.low;
    if (share >= 1) return span.high;
    const SliderSpan gaps = gaps_of(span);
    const double gap = gaps.low * std::pow(gaps.high / gaps.low, share);
    // Two digits of the gap are the precision of a drag.
    const double unit = std::pow(10, std::floor(std::log10(gap)) - 1);
    return std::clamp(1 - std::round(gap / unit) * unit, span.low, span.high);
}

std::string scale_words(const Parameter& row, const SliderSpan& span) {
    if (row.type != Type::integer && row.type != Type::real) return "";
    if (row.step == Step::towards_one) return fmt::format("logarithmic in 1 - {}", row.name);
    return !steps_in_powers(row) && is_logarithmic(row, span) ? "logarithmic" : "";
}

}  // namespace sawtooth
