#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/core/result.h"

namespace sawtooth {

// What the times of two plans say about each other. The program names a winner nowhere else.
enum class Pace { faster, slower, same, cannot_tell };

std::string_view name_of(Pace pace);  // "faster", "cannot_tell"

struct Comparison {
    Pace pace = Pace::cannot_tell;
    // How many times faster the first is than the second, with an interval that misses the true ratio in at
    // most 1 of 100 comparisons if only chance moves the repeats. It ends at 0 or infinity if there are too
    // few repeats.
    double ratio = 0, low = 0, high = 0;
};

// Fewer repeats cannot exclude chance: with 6 of each, all of one are by chance faster than all of the other
// in 1 of 462 comparisons.
constexpr int least_repeats_to_tell = 6;

// Compares two plans that took turns, so that sample i of both was measured in the same round. The interval
// is the overlap of two intervals of 99.5 % that assume nothing about the distribution of times: that of the
// sign test on the ratios of the rounds, which no disturbance longer than a round changes, and that of
// Mann-Whitney's test on all ratios (Hodges and Lehmann), which a disturbance of few repeats hardly changes.
Comparison compare_in_turns(const TimeStatistics& first, const TimeStatistics& second);

// The factor by which a machine may change between two measurements.
constexpr double apart_within = 1.5;
// Compares two plans that were measured one after the other, such as two cells of a sweep, by all ratios. The
// machine may have changed in between, so only a difference of more than half names a winner, and none is
// named if more than a third of the repeats of one were disturbed.
Comparison compare_apart(const TimeStatistics& first, const TimeStatistics& second);

// Compares two variants of a result; cannot_tell if one has no time or is wrong.
Comparison compare(const Result& result, const VariantResult& first, const VariantResult& second);

// "2.4x", with the digits that the interval allows, or "1.5x to 6x" where it allows none; "same", "cannot
// tell".
std::string ratio_words(const Comparison& comparison);
// The comparison from the side of the first: "2.4x faster", "2.4x slower", "same", "cannot tell".
std::string pace_words(const Comparison& comparison);
// "fused is 2.4x faster than unfused", "fused and unfused take the same time", "it cannot be told whether
// fused or unfused is faster".
std::string comparison_words(const std::string& first, const std::string& second,
                             const Comparison& comparison);

// The indices of the times that may be the fastest: the one with the least median, then all others that it is
// not faster than, in order.
std::vector<size_t> may_be_fastest(const std::vector<const TimeStatistics*>& times, bool in_turns);
// The variants that are timed, exact and right, and of these may be the fastest.
std::vector<const VariantResult*> fastest_right(const Result& result);
// "a, b or c"
std::string either_of(const std::vector<std::string>& names);

// "fused, 12.3 us", or "fused or blelloch (which of them cannot be told), 12.3 us"; the first is the one with
// the time.
std::string fastest_words(const std::vector<const VariantResult*>& fastest);

// "unstable: 3x" if the quartiles of the repeats are that far apart, otherwise "". It is shown wherever the
// time is.
std::string unstable_badge(const TimeStatistics& time);
// "12.3 us", "12.3 us (unstable: 3x)": a median with its badge.
std::string time_words(const TimeStatistics& time);

}  // namespace sawtooth
