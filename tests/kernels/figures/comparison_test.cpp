// Verdicts on speed: which of two is faster, and when that cannot be told.

#include <cmath>
#include <random>

#include "kernels/figures/comparison.h"
#include "kernels/figures/intervals.h"
#include "profiling/measure.h"
#include "tests/kit/catch.h"

namespace {

using namespace sawtooth;

TimeStatistics times(const std::vector<double>& samples) { return statistics_of(samples); }

TimeStatistics constant(double us, size_t count = 9) { return times(std::vector<double>(count, us)); }

TEST_CASE("a ratio that every round agrees on is told with its interval", "[comparison]") {
    const Comparison faster = compare_in_turns(times({10, 11, 10, 10, 10, 10, 10, 10, 10}),
                                               times({24, 25, 25, 24, 24, 24, 24, 24, 24}));
    CHECK(faster.pace == Pace::faster);
    CHECK(faster.ratio == Approx(2.4));
    CHECK(faster.low >= 2.18);
    CHECK(faster.low <= 2.4);
    CHECK(faster.high >= 2.4);
    CHECK(faster.high <= 2.5);
    CHECK(ratio_words(faster) == "2.4x");
    CHECK(comparison_words("a", "b", faster) == "a is 2.4x faster than b");
    const Comparison slower = compare_in_turns(constant(24), constant(10));
    CHECK(slower.pace == Pace::slower);
    CHECK(comparison_words("a", "b", slower) == "b is 2.4x faster than a");
}

TEST_CASE("a wrong result has no speed", "[comparison]") {
    Result result;
    result.in_turns = true;
    result.variants.resize(2);
    result.variants[0].time = constant(10);
    result.variants[1].time = constant(24);
    VariantResult& one = result.variants[0];
    CHECK(compare(result, one, result.variants[1]).pace == Pace::faster);
    one.verdicts = {{.output = "y", .verdict = Verdict::wrong, .judged = 9, .elements = 1}};
    CHECK(compare(result, one, result.variants[1]).pace == Pace::cannot_tell);
    CHECK(compare(result, result.variants[1], one).pace == Pace::cannot_tell);
    one.time.reset();
    CHECK(compare(result, one, result.variants[1]).pace == Pace::cannot_tell);
}

TEST_CASE("a disturbance of both in the same rounds changes no verdict", "[comparison]") {
    const TimeStatistics one = times({10, 100, 10, 90, 10, 10, 70, 10, 10}),
                         other = times({20, 200, 20, 180, 20, 20, 140, 20, 20});
    CHECK(compare_in_turns(one, other).pace == Pace::faster);
    CHECK(ratio_words(compare_in_turns(one, other)) == "2x");
    CHECK(compare_apart(one, other).pace == Pace::cannot_tell);
}

TEST_CASE("one disturbed repeat of nine hides no winner, four do", "[comparison]") {
    std::vector<double> one(9, 10);
    const std::vector<double> other(9, 20);
    one[4] = 500;
    CHECK(compare_in_turns(times(one), times(other)).pace == Pace::faster);
    CHECK(compare_apart(times(one), times(other)).pace == Pace::faster);
    for (const size_t round : {1, 5, 7}) one[round] = 500;
    CHECK(compare_in_turns(times(one), times(other)).pace == Pace::cannot_tell);
    CHECK(compare_apart(times(one), times(other)).pace == Pace::cannot_tell);
}

TEST_CASE("fewer repeats than needed to exclude chance tell nothing", "[comparison]") {
    CHECK(compare_in_turns(constant(1, least_repeats_to_tell), constant(9, least_repeats_to_tell)).pace ==
          Pace::faster);
    CHECK(compare_apart(constant(1, least_repeats_to_tell), constant(9, least_repeats_to_tell)).pace ==
          Pace::faster);
    for (const size_t count : {0, 1, 3, least_repeats_to_tell - 1}) {
        CHECK(compare_in_turns(constant(1, count), constant(9, count)).pace == Pace::cannot_tell);
        CHECK(compare_apart(constant(1, count), constant(9, count)).pace == Pace::cannot_tell);
    }
    CHECK(compare_in_turns(constant(1, 9), constant(9, 8)).pace == Pace::cannot_tell);
    CHECK(compare_in_turns(constant(0), constant(9)).pace == Pace::cannot_tell);
}

TEST_CASE("many repeats tell no less than few", "[comparison]") {
    for (const size_t count : {1000, 1100, 5000}) {
        std::mt19937 random(1);
        std::normal_distribution<double> noise(0, 0.05);
        std::vector<double> ratios;
        for (size_t i = 0; i < count; ++i) ratios.push_back(1.2 * std::exp(noise(random)));
        const Interval interval = interval_of_median(ratios);
        INFO(count);
        CHECK(interval.low > 1.19);
        CHECK(interval.high < 1.21);
    }
}

TEST_CASE("a machine may change between two measurements, so apart only a large difference is told",
          "[comparison]") {
    CHECK(compare_in_turns(constant(100), constant(120)).pace == Pace::faster);
    CHECK(compare_apart(constant(100), constant(140)).pace == Pace::cannot_tell);
    CHECK(compare_apart(constant(100), constant(160)).pace == Pace::faster);
    CHECK(compare_apart(constant(160), constant(100)).pace == Pace::slower);
    TimeStatistics disturbed = constant(900);
    disturbed.disturbed = {0, 2, 5};
    CHECK(compare_apart(constant(100), disturbed).pace == Pace::faster);
    disturbed.disturbed.push_back(7);
    CHECK(compare_apart(constant(100), disturbed).pace == Pace::cannot_tell);
    CHECK(compare_apart(constant(100), constant(102)).pace == Pace::same);
}

TEST_CASE("times within 5 % are the same, and are not called so before that is known", "[comparison]") {
    CHECK(compare_in_turns(constant(100), constant(104)).pace == Pace::same);
    CHECK(comparison_words("a", "b", compare_in_turns(constant(100), constant(104))) ==
          "a and b take the same time");
    const TimeStatistics wide = times({90, 110, 92, 108, 100, 111, 95, 112, 92});
    CHECK(compare_in_turns(constant(100), wide).pace == Pace::cannot_tell);
    CHECK(ratio_words(compare_in_turns(constant(100), wide)) == "cannot tell");
}

TEST_CASE("a ratio has no more digits than its interval", "[comparison]") {
    const auto words = [](double ratio, double low, double high) {
        return ratio_words({Pace::faster, ratio, low, high});
    };
    CHECK(words(2.413, 2.41, 2.415) == "2.41x");
    CHECK(words(2.413, 2.3, 2.5) == "2.4x");
    CHECK(words(2.413, 2.0, 2.9) == "2.4x");  // 2x would be far from the middle of the interval
    CHECK(words(2.05, 1.6, 2.5) == "2x");
    CHECK(words(54.85, 49.9, 56.9) == "55x");
    CHECK(words(2.413, 1.52, 6.31) == "1.5x to 6.3x");
    CHECK(words(153.4, 148, 167) == "150x");
    CHECK(words(1.46, 1.31, 1.62) == "1.5x");  // 1x or 2x would be outside the interval
    CHECK(words(1.46, 1.45, 1.47) == "1.46x");
    CHECK(words(35.6, 34, 37.9) == "36x");
    CHECK(words(1234.5, 1230, 1240) == "1,230x");
    CHECK(words(12345, 3000, 30000) == "3,000x to 30,000x");
}

TEST_CASE("a variant compared with itself has a winner in at most 1 of 100 trials, whatever the noise",
          "[comparison]") {
    std::mt19937_64 random(7);
    std::normal_distribution<double> normal;
    const auto noise = [&](int kind) {
        const double z = normal(random);
        if (kind == 0) return std::exp(0.02 * z);  // a quiet machine
        if (kind == 1) return std::exp(0.5 * z);   // very unstable
        if (kind == 2)
            return 1 + (random() % 4 == 0 ? 3.0 : 0.0) + 0.01 * std::fabs(z);  // interrupted at times
        return 1 / std::fabs(std::fmod(z, 1) + 1e-3);                          // without a mean
    };
    for (const int kind : {0, 1, 2, 3})
        for (const int rounds : {6, 9, 15, 30}) {
            constexpr int trials = 4000;
            int in_turns = 0, apart = 0;
            for (int trial = 0; trial < trials; ++trial) {
                std::vector<double> one, other;
                for (int round = 0; round < rounds; ++round) {
                    const double shared = noise(kind);
                    one.push_back(100 * shared * noise(kind));
                    other.push_back(100 * shared * noise(kind));
                }
                const auto is_winner = [](const Comparison& c) {
                    return c.pace == Pace::faster || c.pace == Pace::slower;
                };
                in_turns += is_winner(compare_in_turns(times(one), times(other)));
                apart += is_winner(compare_apart(times(one), times(other)));
            }
            INFO("noise " << kind << ", " << rounds << " rounds");
            CHECK(in_turns <= trials / 100);
            CHECK(apart <= trials / 100);
        }
}

TEST_CASE("a time whose quartiles lie apart says so beside it", "[comparison]") {
    CHECK(unstable_badge(constant(5)).empty());
    CHECK(unstable_badge(times({10, 10, 10, 14, 14})).empty());
    CHECK(unstable_badge(times({10, 10, 20, 30, 30})) == "unstable: 3x");
    CHECK(unstable_badge(times({1, 1, 1, 118, 118})) == "unstable: 118x");
    CHECK(time_words(constant(5)) == "5 us");
    CHECK(time_words(times({10, 10, 20, 30, 30})) == "20 us (unstable: 3x)");
}

TEST_CASE("the fastest are all that cannot be told from the one with the least time", "[comparison]") {
    const TimeStatistics slow = constant(30), fast = constant(10), close = constant(10.2),
                         unsure = times({5, 6, 40, 9, 50, 8, 30, 60, 7});
    CHECK(may_be_fastest({&slow, &fast}, true) == std::vector<size_t>{1});
    CHECK(may_be_fastest({&close, &slow, &fast}, true) == std::vector<size_t>{2, 0});
    CHECK(may_be_fastest({&slow, &fast, &unsure}, true) == std::vector<size_t>{2, 0, 1});
    CHECK(may_be_fastest({}, true).empty());
    CHECK(either_of({"a"}) == "a");
    CHECK(either_of({"a", "b"}) == "a or b");
    CHECK(either_of({"a", "b", "c"}) == "a, b or c");
}

}  // namespace
