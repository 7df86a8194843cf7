#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/core/result.h"

namespace sawtooth {

// What the times of two plans say about each other. Nothing else in the program names a winner.
enum class Pace { faster, slower, same, cannot_tell };

std::string_view name_of(Pace pace);  // "faster", "cannot_tell"

struct Comparison {
    Pace pace = Pace::cannot_tell;
    // How many times faster the first is than the second, with an interval that misses the true ratio in at
    // most 1 of 100 comparisons if only chance moves the repeats. It ends at 0 or infinity if there are too
    // few repeats.
    double ratio = 0, low = 0, high = 0;
};

// Fewer repeats cannot exclude chance: with 6 of each, all of one are faster than all of the other in 1 of
// 462 comparisons.
constexpr int least_repeats_to_tell = 6;

// Of two that took turns, so that sample i of both was measured in the same round. The interval is where two
// others overlap, each of which holds 99.5 % and assumes nothing about how times are distributed: that of the
// sign test on the ratios of the rounds, which no disturbance longer than a round changes, and that of
// Mann-Whitney's test on all ratios (Hodges and Lehmann), which a disturbance of few repeats hardly changes.
Comparison compare_in_turns(const TimeStatistics& first, const TimeStatistics& second);

// By as much a machine may change between two measurements.
constexpr double apart_within = 1.5;
// Of two measured one after the other, such as two cells of a sweep: by all ratios. As the machine may have
// changed in between, only a difference of more than half names a winner, and none is named if more than a
// third of the repeats of one were disturbed.
Comparison compare_apart(const TimeStatistics& first, const TimeStatistics& second);

// Of two variants of a result. It cannot be told where one has no time or is wrong.
Comparison compare(const Result& result, const VariantResult& first, const VariantResult& second);

// "2.4x", with the digits that the interval allows, or "1.5x to 6x" where it allows none; "same", "cannot
// tell".
std::string ratio_words(const Comparison& comparison);
// "fused is 2.4x faster than unfused", "fused and unfused take the same time", "it cannot be told whether
// fused or unfused is faster".
std::string comparison_words(const std::string& first, const std::string& second,
                             const Comparison& comparison);

// The indices of those that may be the fastest: the one with the least median, then all that it is not faster
// than, in order.
std::vector<size_t> may_be_fastest(const std::vector<const TimeStatistics*>& times, bool in_turns);
// Of the timed variants, those that are exact and right and may be the fastest of these.
std::vector<const VariantResult*> fastest_right(const Result& result);
// "a, b or c"
std::string either_of(const std::vector<std::string>& names);

// "fused, 12.3 us", or "fused or blelloch (which of them cannot be told), 12.3 us"; the first is the one with
// the time.
std::string fastest_words(const std::vector<const VariantResult*>& fastest);

// "unstable: 3x" if the quartiles of the repeats lie that far apart, otherwise "". It stands wherever the
// time does.
std::string unstable_badge(const TimeStatistics& time);
// "12.3 us", "12.3 us (unstable: 3x)": a median with its badge.
std::string time_words(const TimeStatistics& time);

}  // namespace sawtooth
