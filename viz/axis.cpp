#include "viz/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/core/table.h"

namespace sawtooth {
namespace {

constexpr double least_positive = 1e-300;
constexpr size_t enough = 3;  // this many ticks are enough for an axis

// The smallest number of the form 1, 2 or 5 times a power of ten that is at least `least`.
double round_step(double least) {
    const double power = std::pow(10, std::floor(std::log10(least)));
    for (double factor : {1.0, 2.0, 5.0})
        if (factor * power >= least * (1 - 1e-9)) return factor * power;
    return 10 * power;
}

// A number as mantissa and exponent, without the zeros that printf adds: "1.5e-6".
std::string with_exponent(double value, int digits) {
    std::string text = fmt::format("{:.{}e}", value, digits);
    const size_t e = text.find('e');
    const int exponent = std::stoi(text.substr(e + 1));
    return text.substr(0, e) + "e" + std::to_string(exponent);
}

// The notation of numbers from 10,000 on: 10k, 2M.
struct Thousands {
    int exponent = 0;
    double size = 1;
    std::string suffix;

    explicit Thousands(double largest) {
        if (largest < 9999.5) return;
        exponent = largest < 1e6 ? 3 : largest < 1e9 ? 6 : largest < 1e12 ? 9 : 12;
        size = std::pow(10, exponent);
        suffix = exponent == 3 ? "k" : exponent == 6 ? "M" : exponent == 9 ? "G" : "T";
    }
};

// "12,000.25"
std::string all_digits(double value, int decimals) {
    std::string text = fmt::format("{:.{}f}", std::fabs(value), decimals);
    const size_t whole = std::min(text.find('.'), text.size());
    return (value < 0 ? "-" : "") + with_thousands(std::stoll(text.substr(0, whole))) + text.substr(whole);
}

std::vector<Tick> linear_ticks(Range range, int most) {
    std::vector<Tick> found;
    const double step = round_step((range.high - range.low) / std::max(most, 1));
    if (!std::isfinite(step) || step <= 0) return found;
    const double largest = std::max(std::fabs(range.low), std::fabs(range.high));
    const int step_exponent = static_cast<int>(std::floor(std::log10(step) + 1e-9));
    const int largest_exponent = static_cast<int>(std::floor(std::log10(largest) + 1e-9));
    const bool exponents = largest >= 1e15 || largest < 1e-3;
    const Thousands thousands(exponents ? 0 : largest);
    const int decimals = thousands.exponent - step_exponent;
    const double first = std::ceil(range.low / step - 1e-9), last = std::floor(range.high / step + 1e-9);
    for (double i = first; i <= last && found.size() < 1000; ++i) {
        const double value = i * step;
        if (value == 0)
            found.push_back({0, "0"});
        else if (exponents) {
            const int own = static_cast<int>(std::floor(std::log10(std::fabs(value)) + 1e-9));
            found.push_back(
                {value, with_exponent(value, std::max(0, std::min(own, largest_exponent) - step_exponent))});
        } else if (decimals > 2 && thousands.exponent > 0)  // zoomed in: all digits
            found.push_back({value, all_digits(value, std::max(0, -step_exponent))});
        else
            found.push_back({value, fmt::format("{:.{}f}{}", value / thousands.size, std::max(0, decimals),
                                                thousands.suffix)});
    }
    return found;
}

// Text of a power of ten: 0.01, 1, 1000, then 10k, 1M; large numbers have exponents if `exponents`.
std::string power_of_ten(int exponent, bool exponents) {
    if (exponent <= -4 || exponent >= 15 || (exponents && exponent >= 4))
        return fmt::format("1e{}", exponent);
    const Thousands thousands(std::pow(10, exponent));
    return fmt::format("{:.{}f}{}", std::pow(10, exponent - thousands.exponent), std::max(0, -exponent),
                       thousands.suffix);
}

bool has_exponents(Range range) { return range.low < 0.9e-3; }

// Text of a power of two: 1/8, 1, 8192, then 16k (multiples of 1024), 1M, 1G.
std::string power_of_two(int exponent) {
    if (exponent < -6 || exponent >= 40) return fmt::format("2^{}", exponent);
    if (exponent < 0) return fmt::format("1/{}", 1 << -exponent);
    if (exponent < 14) return std::to_string(1 << exponent);
    const int thousands = exponent / 10;
    return std::to_string(1 << exponent % 10) + " kMG"[thousands];
}

// The powers of the base within the range, thinned to at most `most`.
std::vector<Tick> power_ticks(Scale scale, Range range, int most) {
    const int first = static_cast<int>(std::ceil(place_of(scale, range.low) - 1e-9));
    const int last = static_cast<int>(std::floor(place_of(scale, range.high) + 1e-9));
    const int every = std::max(1, (last - first + most) / std::max(most, 1));
    // Multiples of the stride keep ticks in place while the range moves, unless that would leave out one of
    // three.
    int start = static_cast<int>(std::ceil(static_cast<double>(first) / every)) * every;
    if ((last - start) / every < 2 && (last - first) / every >= 2) start = first;
    std::vector<Tick> found;
    for (int exponent = start; exponent <= last; exponent += every) {
        const std::string text =
            scale == Scale::log2 ? power_of_two(exponent) : power_of_ten(exponent, has_exponents(range));
        found.push_back({value_at(scale, exponent), text});
    }
    return found;
}

// The products of these factors and every power of ten within the range.
std::vector<Tick> decade_ticks(Range range, const std::vector<int>& factors) {
    std::vector<Tick> found;
    const int first = static_cast<int>(std::floor(std::log10(range.low)));
    for (int exponent = first; std::pow(10, exponent) <= range.high; ++exponent)
        for (const int factor : factors) {
            const double value = factor * std::pow(10, exponent);
            if (value < range.low * (1 - 1e-9) || value > range.high * (1 + 1e-9)) continue;
            std::string text = power_of_ten(exponent, has_exponents(range));
            text[text.find('1')] = static_cast<char>('0' + factor);
            found.push_back({value, text});
        }
    return found;
}

}  // namespace

std::string name_of(const std::string& label, const std::string& unit) {
    if (unit.empty()) return label;
    return label.empty() ? unit : label + " (" + unit + ")";
}

std::string name_of(const Axis& axis) { return name_of(axis.label, axis.unit); }

double place_of(Scale scale, double value) {
    if (scale == Scale::linear || std::isnan(value)) return value;
    const double positive = std::max(value, least_positive);
    return scale == Scale::log2 ? std::log2(positive) : std::log10(positive);
}

double value_at(Scale scale, double place) {
    if (scale == Scale::linear) return place;
    return scale == Scale::log2 ? std::exp2(place) : std::pow(10, place);
}

std::vector<Tick> ticks(Scale scale, Range range, int most) {
    if (!(range.low < range.high) || !std::isfinite(range.high - range.low)) return {};
    most = std::max(most, 1);
    if (scale == Scale::linear || range.low <= 0) return linear_ticks(range, most);
    std::vector<Tick> found = power_ticks(scale, range, most);
    // Takes finer ticks instead, as far as there is room for them; returns true if they are enough.
    const auto take = [&](std::vector<Tick> finer) {
        if (finer.size() > found.size() && finer.size() <= static_cast<size_t>(most))
            found = std::move(finer);
        return found.size() >= enough;
    };
    const double decades = std::log10(range.high / range.low);
    if (scale == Scale::log10 && (decades <= 2.5 || found.size() < enough))
        if (take(decade_ticks(range, {1, 2, 5})) || take(decade_ticks(range, {1, 3}))) return found;
    if (found.size() >= enough || decades > 1) return found;
    if (!take(linear_ticks(range, most))) take(decade_ticks(range, {2, 4, 8}));
    return found;
}

namespace {

// The unit of a linear axis of microseconds whose largest value is that.
struct TimeUnit {
    const char* name = "us";
    double size = 1;  // size in microseconds

    explicit TimeUnit(double largest) {
        if (largest >= 1e6)
            name = "s", size = 1e6;
        else if (largest >= 1e3)
            name = "ms", size = 1e3;
    }
};

bool is_time(const Axis& axis) { return axis.unit == "us" && axis.categories.empty(); }

}  // namespace

std::string name_of(const Axis& axis, Range range) {
    if (!is_time(axis)) return name_of(axis);
    return axis.scale == Scale::linear ? name_of(axis.label, TimeUnit(range.high).name) : axis.label;
}

std::vector<Tick> ticks(const Axis& axis, Range range, int most) {
    std::vector<Tick> found;
    if (is_time(axis) && axis.scale == Scale::linear) {
        const double size = TimeUnit(range.high).size;
        found = ticks(axis.scale, {range.low / size, range.high / size}, most);
        for (Tick& tick : found) tick.value *= size;
        return found;
    }
    found = ticks(axis.scale, range, most);
    if (is_time(axis)) {
        for (Tick& tick : found) tick.text = short_time(tick.value);
        if (std::ranges::adjacent_find(found, {}, &Tick::text) != found.end())  // a narrow range
            for (Tick& tick : found) tick.text = place_words(tick.value, axis.unit);
    }
    if (axis.whole)
        std::erase_if(found, [](const Tick& tick) {
            return std::fabs(tick.value - std::round(tick.value)) > 1e-9 * std::fabs(tick.value);
        });
    return found;
}

std::string exact_number(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return value == std::trunc(value) && std::fabs(value) < 1e15 ? fmt::format("{:.0f}", value)
                                                                 : fmt::format("{}", value);
}

std::string readout_number(double value) { return fmt::format("{:.7g}", value); }

std::string readout_words(double value, const std::string& unit) {
    if (unit == "us" && std::isfinite(value)) {
        const TimeUnit shown(std::fabs(value));
        return fmt::format("{:.4g} {}", value / shown.size, shown.name);
    }
    if (unit.empty()) return readout_number(value);
    const bool is_count = value == std::trunc(value) || std::fabs(value) >= 1e4;
    return (is_count ? readout_number(value) : fmt::format("{:.4g}", value)) + " " + unit;
}

std::string place_words(double value, const std::string& unit) {
    if (unit != "us" || !std::isfinite(value)) return readout_words(value, unit);
    const TimeUnit shown(std::fabs(value));
    return fmt::format("{:.7g} {}", value / shown.size, shown.name);
}

Range padded(Scale scale, Range range, double share) {
    double low = place_of(scale, range.low), high = place_of(scale, range.high);
    if (!(low < high)) {
        const double room = scale == Scale::linear ? std::max(std::fabs(low) * 0.1, 1e-12) : 0.5;
        low -= low == 0 && scale == Scale::linear ? 0.5 : room;
        high += high == 0 && scale == Scale::linear ? 0.5 : room;
    } else {
        const double room = (high - low) * share;
        low -= room, high += room;
    }
    return {value_at(scale, low), value_at(scale, high)};
}

Range rounded_outwards(Scale scale, Range range) {
    const double low = place_of(scale, range.low), high = place_of(scale, range.high);
    const double step = scale == Scale::linear ? round_step(high - low) : 1;
    return {value_at(scale, std::floor(low / step + 1e-9) * step),
            value_at(scale, std::ceil(high / step - 1e-9) * step)};
}

}  // namespace sawtooth
