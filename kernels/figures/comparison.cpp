#include "kernels/figures/comparison.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/core/table.h"
#include "kernels/figures/correctness.h"
#include "kernels/figures/intervals.h"

namespace sawtooth {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// The factors by which the interval must leave 1 for a winner, and within which times are the same.
struct Limits {
    double winner = 1, same = 1;
};
// In one round equal plans may differ by the placement of memory, or apart by a change of the machine.
constexpr Limits one_round_in_turns{1.05, 1.05}, one_round_apart{apart_within, 1.05};
// With several rounds these are the least factors for a winner.
constexpr Limits rounds_in_turns{1.01, 1.03}, rounds_apart{1.05, 1.03};

Comparison judged(double ratio, const Interval& interval, const Limits& limits) {
    Comparison comparison{Pace::cannot_tell, ratio, interval.low, interval.high};
    if (interval.low > limits.winner)
        comparison.pace = Pace::faster;
    else if (interval.high < 1 / limits.winner)
        comparison.pace = Pace::slower;
    else if (interval.low >= 1 / limits.same && interval.high <= limits.same)
        comparison.pace = Pace::same;
    return comparison;
}

bool are_positive(std::span<const TimeStatistics> times) {
    return std::all_of(times.begin(), times.end(), [](const TimeStatistics& time) {
        return !time.samples.empty() && std::all_of(time.samples.begin(), time.samples.end(),
                                                    [](double us) { return us > 0 && us < infinity; });
    });
}

bool are_disturbed(std::span<const TimeStatistics> times) {
    size_t disturbed = 0, all = 0;
    for (const TimeStatistics& time : times) disturbed += time.disturbed.size(), all += time.samples.size();
    return 3 * disturbed > all;
}

bool have_as_many_samples(std::span<const TimeStatistics> first, std::span<const TimeStatistics> second) {
    return std::equal(
        first.begin(), first.end(), second.begin(), second.end(),
        [](const auto& one, const auto& other) { return one.samples.size() == other.samples.size(); });
}

std::vector<double> samples_of(std::span<const TimeStatistics> times) {
    std::vector<double> samples;
    for (const TimeStatistics& time : times)
        samples.insert(samples.end(), time.samples.begin(), time.samples.end());
    return samples;
}

// Takes all samples as those of one round.
Comparison compare_together(const std::vector<double>& first, const std::vector<double>& second, Met met) {
    const Interval of_all = interval_of_all_pairs(first, second);
    const double ratio = ratio_of({first, second, met == Met::in_turns});
    if (met == Met::apart) return judged(ratio, of_all, one_round_apart);
    const Interval of_turns = interval_of_median(ratios_of(first, second));
    const Interval both{std::max(of_turns.low, of_all.low), std::min(of_turns.high, of_all.high)};
    return judged(ratio, both.low <= both.high ? both : Interval{}, one_round_in_turns);
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

// Rounds the ratio to as many digits as the interval allows, and to more if that would otherwise move it by
// more than a quarter of the interval.
double told_ratio(const Comparison& comparison) {
    constexpr int most = 3;
    const double ratio = comparison.ratio, low = comparison.low, high = comparison.high;
    int digits = high > low ? static_cast<int>(std::ceil(-std::log10((high - low) / ratio))) : most;
    digits = std::clamp(digits, 1, most);
    const auto is_moved = [&](double told) { return std::abs(told - ratio) > (high - low) / 4; };
    while (digits < most && is_moved(with_digits(ratio, digits))) ++digits;
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

std::string few_repeats_words(int repeats) {
    if (repeats >= least_repeats_to_tell) return "";
    return std::to_string(repeats) + (repeats == 1 ? " repeat is" : " repeats are") +
           " too few to tell times apart; use at least " + std::to_string(least_repeats_to_tell);
}

std::string disturbance_words(Backend backend) {
    return backend == Backend::cpu ? "a thread of the run waited for a core" : "the clock of the GPU changed";
}

Comparison compare_rounds(std::span<const TimeStatistics> first, std::span<const TimeStatistics> second,
                          Met met) {
    const Comparison unknown{Pace::cannot_tell, 0, 0, infinity};
    if (first.empty() || first.size() != second.size() || !are_positive(first) || !are_positive(second))
        return unknown;
    if (met == Met::in_turns && !have_as_many_samples(first, second)) return unknown;
    if (met == Met::apart && (are_disturbed(first) || are_disturbed(second))) return unknown;
    if (first.size() < least_rounds_to_tell)
        return compare_together(samples_of(first), samples_of(second), met);
    std::vector<RoundSamples> rounds;
    std::vector<double> ratios;
    for (size_t i = 0; i < first.size(); ++i) {
        rounds.push_back({first[i].samples, second[i].samples, met == Met::in_turns});
        ratios.push_back(ratio_of(rounds.back()));
    }
    Limits limits = met == Met::in_turns ? rounds_in_turns : rounds_apart;
    limits.winner = std::max(limits.winner, std::sqrt(quartile_ratio(ratios)));
    return judged(median_of_ratios(ratios), interval_of_rounds(rounds), limits);
}

Comparison compare_in_turns(const TimeStatistics& first, const TimeStatistics& second) {
    return compare_rounds({&first, 1}, {&second, 1}, Met::in_turns);
}

Comparison compare_apart(const TimeStatistics& first, const TimeStatistics& second) {
    return compare_rounds({&first, 1}, {&second, 1}, Met::apart);
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

bool does_all(const Result& result, const VariantResult& variant) {
    return variant.ran() && variant.work.bytes >= result.work.bytes;
}

std::vector<const VariantResult*> fastest_right(const Result& result) {
    std::vector<const VariantResult*> right, fastest;
    for (const VariantResult& variant : result.variants)
        if (variant.time && variant.exact && variant.verdict() == Verdict::right) right.push_back(&variant);
    const auto does_part = [&](const VariantResult* variant) { return !does_all(result, *variant); };
    if (!std::ranges::all_of(right, does_part)) std::erase_if(right, does_part);
    std::vector<const TimeStatistics*> times;
    for (const VariantResult* variant : right) times.push_back(&*variant->time);
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
