#pragma once

#include <limits>
#include <span>
#include <vector>

namespace sawtooth {

// An interval for a ratio; from 0 to infinity if the samples are too few for one.
struct Interval {
    double low = 0, high = std::numeric_limits<double>::infinity();
};

// The ratios second / first of as many samples.
std::vector<double> ratios_of(std::span<const double> first, std::span<const double> second);

// Positive numbers; of an even count the geometric mean of the two in the middle.
double median_of_ratios(std::vector<double> ratios);

// The interval of the sign test for the median of ratios, which misses it in at most 1 of 200 cases.
Interval interval_of_median(const std::vector<double>& ratios);

// The interval of Mann-Whitney's test for the ratio of two sets of samples, from the ratios second / first of
// all pairs, likewise; of the larger set only as many samples as the other has.
Interval interval_of_all_pairs(const std::vector<double>& first, const std::vector<double>& second);

// Two plans measured in the same round: sample i of both was measured together if they took turns.
struct RoundSamples {
    std::span<const double> first, second;
    bool in_turns = true;  // false: the two have nothing in common, nor need as many samples
};

// The ratio second / first of a round: the median of the ratios of its samples, or if they did not take turns
// the ratio of the medians.
double ratio_of(const RoundSamples& round);

// The interval of the median of the ratios of all rounds that resampling gives: first rounds, then the
// samples within each. 99 of 100 resampled medians lie in it. The same samples give the same interval.
Interval interval_of_rounds(const std::vector<RoundSamples>& rounds);

// How many times the third quartile of some ratios is the first one.
double quartile_ratio(std::vector<double> ratios);

}  // namespace sawtooth
