// Monte Carlo arithmetic: its draws, its sums, and what it keeps in 16 bits.

#include "kernels/core/noisy.h"

#include <set>
#include <vector>

#include "tests/kit/catch.h"

namespace sawtooth {
namespace {

constexpr double unit = 0x1p-24;

// Returns the roundings of 1 * 1, in units of f32.
std::vector<double> roundings(uint64_t seed, int count) {
    const NoiseScope noise({}, seed);
    std::vector<double> all;
    for (int i = 0; i < count; ++i) all.push_back(((Noisy(1) * Noisy(1)).value() - 1) / unit);
    return all;
}

TEST_CASE("draws of noisy arithmetic share no numbers, not even shifted", "[core]") {
    std::set<double> met;
    for (const uint64_t seed : {1, 2, 3, 9}) {
        for (const double rounding : roundings(seed, 100)) {
            CHECK(std::abs(rounding) <= 1.42);  // sqrt(1/2) for each half of the error
            CHECK(met.insert(rounding).second);
        }
        CHECK(roundings(seed, 5) == roundings(seed, 5));
    }
}

TEST_CASE("the error of a long chain is no smaller than that of blocks that repeat", "[core]") {
    // 28 blocks of 512 factors round alike, as in a kernel that multiplies repeating numbers.
    constexpr int blocks = 28, steps = 512;
    double squares = 0;
    constexpr int draws = 40;
    for (int seed = 1; seed <= draws; ++seed) {
        const NoiseScope noise({}, static_cast<uint64_t>(seed));
        Noisy product = 1;
        for (int i = 0; i < blocks * steps; ++i) product *= Noisy(1 + 1e-5 * (i % 7));
        double exact = 1;
        for (int i = 0; i < blocks * steps; ++i) exact *= 1 + 1e-5 * (i % 7);
        const double error = (product.value() / exact - 1) / unit;
        squares += error * error;
    }
    // The blocks drift together: 28 times the error of one, which is about sqrt(512) / sqrt(3) units.
    CHECK(12 * std::sqrt(squares / draws) > 2.5 * blocks * std::sqrt(steps / 3.0));
}

TEST_CASE("a sum of products rounds like its operations", "[core]") {
    constexpr int terms = 50, draws = 4000;
    const auto mean_square = [](auto sum_of_terms) {
        double squares = 0;
        for (int seed = 1; seed <= draws; ++seed) {
            const NoiseScope noise({}, static_cast<uint64_t>(seed));
            const double error =
                value_of(sum_of_terms()) / (terms * (1.5 + 0.75 * 0.01 * (terms - 1) / 2)) - 1;
            squares += error * error;
        }
        return squares / draws;
    };
    const double together = mean_square([] {
        SumOfProducts<Noisy> sum;
        for (int i = 0; i < terms; ++i) sum.add(Noisy(0.75), Noisy(2 + 0.01 * i));
        return sum.total();
    });
    const double one_by_one = mean_square([] {
        Noisy sum = 0;
        for (int i = 0; i < terms; ++i) sum += Noisy(0.75) * Noisy(2 + 0.01 * i);
        return sum;
    });
    // The standard error of either is 2 %.
    CHECK(together == Approx(one_by_one).epsilon(0.15));
    SumOfProducts<double> exact;
    for (int i = 0; i < terms; ++i) exact.add(0.75, 2);
    CHECK(exact.total() == terms * 1.5);
}

TEST_CASE("a noisy sum that may leave the range of f32 is unknown", "[core]") {
    const NoiseScope noise({}, 1);
    SumOfProducts<Noisy> back, beyond;
    for (const double term : {3e38, 3e38, -6e38}) back.add(Noisy(1), Noisy(term));
    CHECK(isnan(back.total()));
    beyond.add(Noisy(1), Noisy(INFINITY));
    CHECK(beyond.total().value() == INFINITY);
}

TEST_CASE("noisy numbers are kept in 16 bits where the rounding says so", "[core]") {
    const Rounding f16 = {.narrow = 0x1p-11, .stored = 0, .largest = 65504, .finest = 0x1p-25};
    const NoiseScope noise(f16, 1);
    double largest = 0, largest_of_small = 0;
    for (int i = 0; i < 100; ++i) {
        largest = std::max(largest, std::abs(narrow(Noisy(1)).value() - 1));
        largest_of_small = std::max(largest_of_small, std::abs(narrow(Noisy(0x1p-23)).value() - 0x1p-23));
    }
    CHECK(largest <= 1.42 * 0x1p-11);
    CHECK(largest > 0x1p-13);
    CHECK(largest_of_small <= 1.42 * 0x1p-25);
    CHECK(largest_of_small > 0x1p-27);
    CHECK(stored(Noisy(1.0 / 3)).value() == 1.0 / 3);
    CHECK(narrow(Noisy(0)).value() == 0);
    CHECK(narrow(Noisy(-70000)).value() == -INFINITY);
    CHECK(narrow(1.0 / 3) == 1.0 / 3);
}

}  // namespace
}  // namespace sawtooth
