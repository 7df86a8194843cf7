// Verdicts on speed from several rounds: how often they are wrong, and how often they find what is there.

#include <cmath>

#include "kernels/core/random.h"
#include "kernels/figures/comparison.h"
#include "kernels/figures/intervals.h"
#include "profiling/measure.h"
#include "tests/kit/catch.h"

namespace {

using namespace sawtooth;

// What moves the repeats of two plans, as relative changes of their times.
struct Noise {
    const char* name = "";
    double repeat = 0;      // the deviation of every repeat
    double drift = 0;       // of every round, of both plans alike
    double placement = 0;   // of every round and plan: its memory lies elsewhere
    double outliers = 0;    // the share of repeats that take up to 70 % longer
    double two_modes = 0;   // half of the repeats take that much longer
    double two_places = 0;  // half of the plans take that much longer, each for its whole round
};

constexpr Noise quiet{.name = "quiet", .repeat = 0.01, .drift = 0.02, .outliers = 0.02};
constexpr Noise noises[] = {
    quiet,
    {.name = "outliers", .repeat = 0.02, .outliers = 0.1},
    {.name = "very unstable", .repeat = 0.3},
    {.name = "drift", .repeat = 0.01, .drift = 0.3},
    {.name = "placement", .repeat = 0.003, .drift = 0.05, .placement = 0.03},
    {.name = "little placement", .repeat = 0.01, .drift = 0.05, .placement = 0.01},
    {.name = "two modes", .repeat = 0.005, .two_modes = 0.08},
    {.name = "two places", .repeat = 0.005, .two_places = 0.05},
    {.name = "two places, nothing else", .repeat = 0.0005, .two_places = 0.3},
};

struct Sides {
    std::vector<TimeStatistics> first, second;
};

// Rounds of two plans of 100 us that take turns; the second one is slower by a factor.
Sides measured(const Noise& noise, size_t rounds, int repeats, double slower, Random& random) {
    const auto chosen = [&](double share) { return random.uniform() < share; };
    const auto place = [&] {
        return noise.placement * random.normal() + (chosen(0.5) ? noise.two_places : 0);
    };
    const auto repeat = [&] {
        return noise.repeat * random.normal() + (chosen(noise.outliers) ? random.uniform(0.1, 0.7) : 0) +
               (chosen(0.5) ? noise.two_modes : 0);
    };
    Sides sides;
    for (size_t round = 0; round < rounds; ++round) {
        const double drift = noise.drift * random.normal(), one_place = place(), other_place = place();
        std::vector<double> ones, others;
        for (int i = 0; i < repeats; ++i) {
            ones.push_back(100 * std::exp(drift + one_place + repeat()));
            others.push_back(100 * slower * std::exp(drift + other_place + repeat()));
        }
        sides.first.push_back(statistics_of(std::move(ones)));
        sides.second.push_back(statistics_of(std::move(others)));
    }
    return sides;
}

// How many of the trials say that the second plan is faster, slower or the same.
struct Counts {
    int faster = 0, slower = 0, same = 0;
};

Counts count(const Noise& noise, size_t rounds, double slower, int trials, Met met) {
    Counts counts;
    Random random(7, noise.name);
    for (int trial = 0; trial < trials; ++trial) {
        const Sides sides = measured(noise, rounds, 9, slower, random);
        const Pace pace = compare_rounds(sides.second, sides.first, met).pace;
        counts.faster += pace == Pace::faster;
        counts.slower += pace == Pace::slower;
        counts.same += pace == Pace::same;
    }
    return counts;
}

std::vector<TimeStatistics> rounds_of(const std::vector<double>& medians) {
    std::vector<TimeStatistics> rounds;
    for (const double us : medians) rounds.push_back(statistics_of(std::vector<double>(9, us)));
    return rounds;
}

TEST_CASE("equal plans measured in rounds have a winner in at most 1 of 100 trials, whatever the noise",
          "[comparison]") {
    for (const Noise& noise : noises)
        for (const size_t rounds : {least_rounds_to_tell, size_t{9}}) {
            constexpr int trials = 1000;
            const Counts counts = count(noise, rounds, 1, trials, Met::in_turns);
            INFO(noise.name << ", " << rounds << " rounds");
            CHECK(counts.faster + counts.slower <= trials / 100);
        }
}

TEST_CASE("a plan that is 3 % slower is found in 95 of 100 trials on a quiet machine, and never the same",
          "[comparison]") {
    const Counts slower = count(quiet, 9, 1.03, 1000, Met::in_turns);
    CHECK(slower.slower >= 950);
    CHECK(slower.faster == 0);
    CHECK(slower.same <= 10);
    CHECK(count(quiet, 9, 1 / 1.03, 1000, Met::in_turns).faster >= 950);
    CHECK(count(quiet, 9, 1, 1000, Met::in_turns).same >= 950);
}

TEST_CASE("results measured apart are told by how far those of one plan lie apart", "[comparison]") {
    const Noise apart{.name = "apart", .repeat = 0.01, .placement = 0.01};
    const Counts equal = count(apart, least_rounds_to_tell, 1, 1000, Met::apart);
    CHECK(equal.faster + equal.slower <= 10);
    CHECK(count(apart, least_rounds_to_tell, 1.2, 1000, Met::apart).slower >= 950);
    // One round alone is not enough for this.
    CHECK(count(apart, 1, 1.2, 100, Met::apart).slower == 0);
}

TEST_CASE("rounds that disagree name no winner", "[comparison]") {
    const auto first = rounds_of({100, 100, 100, 100, 100, 100, 100, 100, 100});
    const auto pace = [&](const std::vector<double>& second) {
        return compare_rounds(first, rounds_of(second), Met::in_turns).pace;
    };
    CHECK(pace({104, 104, 104, 104, 104, 104, 104, 104, 104}) == Pace::faster);
    CHECK(pace({96, 96, 96, 96, 96, 96, 96, 96, 96}) == Pace::slower);
    CHECK(pace({102, 108, 103, 110, 102, 109, 102, 111, 103}) == Pace::cannot_tell);
    CHECK(pace({100.5, 100.5, 100.5, 100.5, 100.5, 100.5, 100.5, 100.5, 100.5}) == Pace::same);
    CHECK(pace({104, 104, 104, 104, 104, 104, 104, 104, 300}) == Pace::faster);  // one disturbed round
}

TEST_CASE("few rounds are taken together, and the machine is assumed to change in between", "[comparison]") {
    const auto pace = [&](size_t rounds, double us, Met met) {
        return compare_rounds(rounds_of(std::vector<double>(rounds, 100)),
                              rounds_of(std::vector<double>(rounds, us)), met)
            .pace;
    };
    CHECK(pace(3, 104, Met::in_turns) == Pace::same);
    CHECK(pace(3, 106, Met::in_turns) == Pace::faster);
    CHECK(pace(5, 140, Met::apart) == Pace::cannot_tell);
    CHECK(pace(5, 160, Met::apart) == Pace::faster);
    CHECK(pace(6, 140, Met::apart) == Pace::faster);
    CHECK(pace(6, 104, Met::apart) == Pace::cannot_tell);
    CHECK(pace(6, 102, Met::apart) == Pace::same);
}

TEST_CASE("rounds that do not fit each other tell nothing", "[comparison]") {
    const auto six = rounds_of({1, 1, 1, 1, 1, 1}), five = rounds_of({9, 9, 9, 9, 9}),
               others = rounds_of({9, 9, 9, 9, 9, 9});
    CHECK(compare_rounds(six, others, Met::in_turns).pace == Pace::faster);
    CHECK(compare_rounds(six, five, Met::in_turns).pace == Pace::cannot_tell);
    CHECK(compare_rounds({}, {}, Met::in_turns).pace == Pace::cannot_tell);
    auto shorter = others, zero = others, disturbed = others;
    shorter[2].samples.pop_back();
    CHECK(compare_rounds(six, shorter, Met::in_turns).pace == Pace::cannot_tell);
    CHECK(compare_rounds(six, shorter, Met::apart).pace == Pace::faster);
    zero[5].samples[0] = 0;
    CHECK(compare_rounds(six, zero, Met::in_turns).pace == Pace::cannot_tell);
    for (TimeStatistics& time : disturbed) time.disturbed = {0, 3, 5, 8};
    CHECK(compare_rounds(six, disturbed, Met::apart).pace == Pace::cannot_tell);
}

TEST_CASE("resampling the same rounds gives the same interval, around their median", "[comparison]") {
    Random random(3, "interval");
    const Sides sides = measured(quiet, 9, 9, 1.1, random);
    const Comparison once = compare_rounds(sides.first, sides.second, Met::in_turns),
                     again = compare_rounds(sides.first, sides.second, Met::in_turns);
    CHECK(once.low == again.low);
    CHECK(once.high == again.high);
    CHECK(once.low < once.ratio);
    CHECK(once.ratio < once.high);
    CHECK(once.ratio == Approx(1.1).epsilon(0.02));
    CHECK(median_of_ratios({4, 1, 9}) == 4);
    CHECK(median_of_ratios({9, 4, 1, 1}) == Approx(2));
    CHECK(quartile_ratio({1, 2, 3, 4, 5}) == 2);
    CHECK(quartile_ratio({7}) == 1);
}

}  // namespace
