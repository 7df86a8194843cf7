#pragma once

#include <span>
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
// "3 repeats are too few to tell times apart; use at least 6", "" for enough repeats.
std::string few_repeats_words(int repeats);

// What is seen in a disturbed repeat: "a thread of the run waited for a core".
std::string disturbance_words(Backend backend);
// Fewer rounds do not show how far equal plans may lie apart from one round to another: with 3 rounds in
// which the memory of either lies by chance in a fast or in a slow place, 1 of 32 comparisons would name a
// winner.
constexpr size_t least_rounds_to_tell = 6;

// The factor by which a machine may change between two measurements.
constexpr double apart_within = 1.5;

// How two plans were measured: in turns, so that sample i of both was measured in the same short time, or one
// after the other, such as two cells of a sweep.
enum class Met { in_turns, apart };

// Compares two plans that were measured in as many rounds, each with new plans. Every verdict on speed comes
// from here. A winner is named if the interval of the ratio leaves 1 by more than equal plans may lie apart:
// - With enough rounds, by more than half of the distance between the quartiles of their ratios, and by at
//   least 1 % in turns, 5 % apart. The interval comes from resampling rounds and then samples. The same are
//   times within 3 %.
// - With fewer rounds, their samples are taken together, and how far equal plans may lie apart is assumed:
//   5 % in turns, where memory may lie in a slower place; half apart, where the machine may have changed. The
//   interval is the overlap of two of 99.5 % that assume nothing about the distribution of times: that of the
//   sign test on the ratios of samples in turns, which no disturbance longer than a turn changes, and that of
//   Mann-Whitney's test on all ratios (Hodges and Lehmann), which a disturbance of few repeats hardly
//   changes. Apart, it is the latter alone. The same are times within 5 %.
// It cannot be told if numbers of rounds or of samples in turns differ, or if plans were measured apart and
// more than a third of the repeats of one were disturbed.
Comparison compare_rounds(std::span<const TimeStatistics> first, std::span<const TimeStatistics> second,
                          Met met);

// The same for one round.
Comparison compare_in_turns(const TimeStatistics& first, const TimeStatistics& second);
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
// Whether the variant does all of the work; not if it has no gradients and others have.
bool does_all(const Result& result, const VariantResult& variant);
// The variants that are timed, exact and right and do all of the work (if any does), and of these may be the
// fastest.
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
