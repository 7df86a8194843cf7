#include "kernels/figures/comparison.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/core/table.h"
#include "kernels/figures/correctness.h"

namespace sawtooth {
namespace {

constexpr double chance = 0.005;      // the chance that one of two intervals misses the true ratio
constexpr double same_within = 1.05;  // smaller ratios do not matter; the placement of memory may cause them
constexpr double infinity = std::numeric_limits<double>::infinity();

struct Interval {
    double low = 0, high = infinity;
};

// How many of the smallest and of the largest of `count` samples lie outside the interval of the sign test,
// which misses the median with at most that chance. Returns 0 if no interval does.
size_t cut_of_median(size_t count) {
    double exactly = std::pow(0.5, static_cast<double>(count)), tail = 0;
    for (size_t k = 0; 2 * k < count; ++k) {
        tail += exactly;
        if (2 * tail > chance) return k;
        exactly *= static_cast<double>(count - k) / static_cast<double>(k + 1);
    }
    return 0;
}

// The same for the ratios of all pairs of one of `count` samples and one of as many others, by the
// distribution of the rank sum of Mann and Whitney, which is exact for few samples.
size_t cut_of_ratios(size_t count) {
    constexpr size_t few = 24;
    constexpr double normal_quantile = 2.807;  // the two-sided quantile of that chance
    const auto n = static_cast<double>(count);
    if (count > few) {
        const double cut = n * n / 2 - normal_quantile * n * std::sqrt((2 * n + 1) / 12);
        return static_cast<size_t>(std::max(0.0, std::floor(cut)));
    }
    // orders[u] is the number of orders in which u ratios are below 1, a coefficient of the product of
    //   (1 - x^(n+i)) / (1 - x^i).
    std::vector<double> orders(count * count + 1, 0);
    orders[0] = 1;
    for (size_t i = 1; i <= count; ++i) {
        for (size_t u = orders.size(); u-- > count + i;) orders[u] -= orders[u - count - i];
        for (size_t u = i; u < orders.size(); ++u) orders[u] += orders[u - i];
    }
    double all = 0, tail = 0;
    for (const double each : orders) all += each;
    for (size_t u = 0; u < orders.size(); ++u) {
        tail += orders[u];
        if (2 * tail > chance * all) return u;
    }
    return 0;
}

Interval between(std::vector<double> values, size_t cut) {
    if (cut == 0 || 2 * cut > values.size()) return {};
    std::sort(values.begin(), values.end());
    return {values[cut - 1], values[values.size() - cut]};
}

// Chooses evenly from the samples so that the work is bounded.
std::vector<double> thinned(const std::vector<double>& samples, size_t count) {
    constexpr size_t most = 200;
    const size_t kept = std::min(most, count);
    std::vector<double> some;
    for (size_t i = 0; i < kept; ++i) some.push_back(samples[i * count / kept]);
    return some;
}

// The interval of the ratios of all pairs: a disturbance of some repeats changes few of them.
Interval interval_of_all(const TimeStatistics& first, const TimeStatistics& second) {
    const size_t count = std::min(first.samples.size(), second.samples.size());
    const std::vector<double> ones = thinned(first.samples, count), others = thinned(second.samples, count);
    std::vector<double> ratios;
    for (const double one : ones)
        for (const double other : others) ratios.push_back(other / one);
    return between(std::move(ratios), cut_of_ratios(ones.size()));
}

Comparison judged(double ratio, const Interval& interval, double within) {
    Comparison comparison{Pace::cannot_tell, ratio, interval.low, interval.high};
    if (interval.low >= 1 / same_within && interval.high <= same_within)
        comparison.pace = Pace::same;
    else if (interval.low > within)
        comparison.pace = Pace::faster;
    else if (interval.high < 1 / within)
        comparison.pace = Pace::slower;
    return comparison;
}

bool are_positive(const TimeStatistics& time) {
    return !time.samples.empty() && std::all_of(time.samples.begin(), time.samples.end(),
                                                [](double us) { return us > 0 && us < infinity; });
}

double median_of(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : std::sqrt(values[middle - 1] * values[middle]);
}

double with_digits(double value, int digits) {
    const double scale = std::pow(10, std::floor(std::log10(value)) + 1 - digits);
    return std::round(value / scale) * scale;
}

// "2.41", "153", "1,200"
std::string text_of(double value) {
    return value >= 1000 ? with_thousands(std::llround(value)) : rounded(value, 3);
}

// A slower first plan as a faster second one.
Comparison turned(const Comparison& slower) {
    return {Pace::faster, 1 / slower.ratio, 1 / slower.high, 1 / slower.low};
}

// Rounds the ratio to as many digits as the interval allows, and to more if it would otherwise leave the
// interval.
double told_ratio(const Comparison& comparison) {
    constexpr int most = 3;
    const double ratio = comparison.ratio, low = comparison.low, high = comparison.high;
    int digits = high > low ? static_cast<int>(std::ceil(-std::log10((high - low) / ratio))) : most;
    digits = std::clamp(digits, 1, most);
    const auto is_outside = [&](double told) { return told < low || told > high; };
    while (digits < most && is_outside(with_digits(ratio, digits))) ++digits;
    return with_digits(ratio, digits);
}

}  // namespace

std::string_view name_of(Pace pace) {
    switch (pace) {
        case Pace::faster:
            return "faster";
        case Pace::slower:
            return "slower";
        case Pace::same:
            return "same";
        case Pace::cannot_tell:
            return "cannot_tell";
    }
    return "";
}

Comparison compare_in_turns(const TimeStatistics& first, const TimeStatistics& second) {
    const bool fits = first.samples.size() == second.samples.size();
    if (!fits || !are_positive(first) || !are_positive(second)) return {Pace::cannot_tell, 0, 0, infinity};
    std::vector<double> ratios;
    for (size_t round = 0; round < first.samples.size(); ++round)
        ratios.push_back(second.samples[round] / first.samples[round]);
    const Interval of_rounds = between(ratios, cut_of_median(ratios.size())),
                   of_all = interval_of_all(first, second);
    const Interval both{std::max(of_rounds.low, of_all.low), std::min(of_rounds.high, of_all.high)};
    return judged(median_of(ratios), both.low <= both.high ? both : Interval{}, same_within);
}

Comparison compare_apart(const TimeStatistics& first, const TimeStatistics& second) {
    const auto is_disturbed = [](const TimeStatistics& time) {
        return 3 * time.disturbed.size() > time.samples.size();
    };
    if (!are_positive(first) || !are_positive(second) || is_disturbed(first) || is_disturbed(second))
        return {Pace::cannot_tell, 0, 0, infinity};
    return judged(second.median / first.median, interval_of_all(first, second), apart_within);
}

Comparison compare(const Result& result, const VariantResult& first, const VariantResult& second) {
    if (!has_speed(first) || !has_speed(second)) return {Pace::cannot_tell, 0, 0, infinity};
    return result.in_turns ? compare_in_turns(*first.time, *second.time)
                           : compare_apart(*first.time, *second.time);
}

std::string ratio_words(const Comparison& comparison) {
    constexpr double too_wide = 0.5;  // not even one digit
    if (comparison.pace == Pace::cannot_tell) return "cannot tell";
    if (comparison.pace == Pace::same) return "same";
    const std::string ratio = text_of(told_ratio(comparison));
    if (comparison.high - comparison.low <= too_wide * comparison.ratio && ratio != "1") return ratio + "x";
    return text_of(with_digits(comparison.low, 2)) + "x to " + text_of(with_digits(comparison.high, 2)) + "x";
}

std::string pace_words(const Comparison& comparison) {
    if (comparison.pace == Pace::faster) return ratio_words(comparison) + " faster";
    if (comparison.pace == Pace::slower) return ratio_words(turned(comparison)) + " slower";
    return ratio_words(comparison);
}

std::string comparison_words(const std::string& first, const std::string& second,
                             const Comparison& comparison) {
    switch (comparison.pace) {
        case Pace::same:
            return first + " and " + second + " take the same time";
        case Pace::cannot_tell:
            return "it cannot be told whether " + first + " or " + second + " is faster";
        case Pace::faster:
            return first + " is " + ratio_words(comparison) + " faster than " + second;
        case Pace::slower:
            break;
    }
    return second + " is " + ratio_words(turned(comparison)) + " faster than " + first;
}

std::vector<size_t> may_be_fastest(const std::vector<const TimeStatistics*>& times, bool in_turns) {
    if (times.empty()) return {};
    const auto least = std::min_element(times.begin(), times.end(), [](const auto* one, const auto* other) {
        return one->median < other->median;
    });
    std::vector<size_t> fastest = {static_cast<size_t>(least - times.begin())};
    for (size_t i = 0; i < times.size(); ++i) {
        if (i == fastest.front()) continue;
        const Comparison comparison =
            in_turns ? compare_in_turns(**least, *times[i]) : compare_apart(**least, *times[i]);
        if (comparison.pace != Pace::faster) fastest.push_back(i);
    }
    return fastest;
}

std::vector<const VariantResult*> fastest_right(const Result& result) {
    std::vector<const VariantResult*> right, fastest;
    std::vector<const TimeStatistics*> times;
    for (const VariantResult& variant : result.variants) {
        if (!variant.time || !variant.exact || variant.verdict() != Verdict::right) continue;
        right.push_back(&variant);
        times.push_back(&*variant.time);
    }
    for (const size_t i : may_be_fastest(times, result.in_turns)) fastest.push_back(right[i]);
    return fastest;
}

std::string fastest_words(const std::vector<const VariantResult*>& fastest) {
    std::vector<std::string> names;
    for (const VariantResult* variant : fastest) names.push_back(variant->name);
    return either_of(names) + (names.size() > 1 ? " (which of them cannot be told), " : ", ") +
           time_words(*fastest.front()->time);
}

std::string either_of(const std::vector<std::string>& names) {
    std::string words;
    for (size_t i = 0; i < names.size(); ++i)
        words += (i == 0 ? "" : i + 1 == names.size() ? " or " : ", ") + names[i];
    return words;
}

std::string unstable_badge(const TimeStatistics& time) {
    constexpr double stable = 1.5;
    if (!(time.q3 > stable * time.q1)) return "";
    const double ratio = time.q3 / time.q1;
    return "unstable: " + (ratio < 9.95 ? rounded(ratio, 2) : with_thousands(std::llround(ratio))) + "x";
}

std::string time_words(const TimeStatistics& time) {
    const std::string unstable = unstable_badge(time);
    return short_time(time.median) + (unstable.empty() ? "" : " (" + unstable + ")");
}

}  // namespace sawtooth
