// The noise with which kernels are judged: what it changes, how much, and what it leaves unchanged.

#include "kernels/core/noisy.h"

#include <cmath>

#include "kernels/core/storage.h"
#include "tests/kit/catch.h"

namespace sawtooth {
namespace {

constexpr double unit_of_float = 0x1p-24;

// Returns the relative error of a product of `count` factors in one draw.
double error_of_product(uint64_t draw, int count, double factor) {
    const NoiseScope noise({}, draw);
    Noisy product = 1;
    double exact = 1;
    for (int i = 0; i < count; ++i) {
        const double next = factor + i * 1e-3;
        product *= next;
        exact *= next;
    }
    return product.value() / exact - 1;
}

TEST_CASE("the errors of a long product are those of a random walk, and differ in every draw", "[noise]") {
    constexpr int draws = 50, count = 400;
    double square = 0, mean = 0;
    for (uint64_t draw = 1; draw <= draws; ++draw) {
        const double error = error_of_product(draw, count, 0.8);
        square += error * error / draws;
        mean += error / draws;
    }
    const double expected = unit_of_float * std::sqrt(count / 3.0);
    CHECK(std::sqrt(square) > 0.7 * expected);
    CHECK(std::sqrt(square) < 1.4 * expected);
    CHECK(std::abs(mean) < 0.6 * expected);
}

// The numbers become so small that rounding them draws further random numbers.
TEST_CASE("draws stay apart below the range of f32", "[noise]") {
    const double first = error_of_product(1, 150, 0.5);
    int equal = 0;
    for (uint64_t draw = 2; draw <= 20; ++draw) {
        const NoiseScope noise({}, draw);
        Noisy small = 1;
        for (int i = 0; i < 140; ++i) small *= 0.5;  // subnormal
        equal += error_of_product(draw, 150, 0.5) == first;
    }
    CHECK(equal == 0);
}

TEST_CASE("a sum of equal terms drifts, and one of different terms does not", "[noise]") {
    const auto error_of_sum = [](uint64_t draw, auto term) {
        const NoiseScope noise({}, draw);
        Noisy sum = 0;
        double exact = 0;
        for (int i = 0; i < 4000; ++i) {
            sum += term(i);
            exact += term(i);
        }
        return std::abs(sum.value() - exact) / (unit_of_float * std::abs(exact));
    };
    double drift = 0, walk = 0;
    for (uint64_t draw = 1; draw <= 20; ++draw) {
        drift += error_of_sum(draw, [](int) { return 0.1; }) / 20;
        walk += error_of_sum(draw, [](int i) { return 0.1 + 1e-5 * i; }) / 20;
    }
    CHECK(drift > 4 * walk);
    CHECK(walk < 60);
}

// Rows of a product are equal where an input or a weight has one value.
TEST_CASE("errors of equal sums of products add up, and those of different ones do not", "[noise]") {
    const auto error_of_sums = [](uint64_t draw, double step) {
        const NoiseScope noise({}, draw);
        double errors = 0;
        for (int row = 0; row < 400; ++row) {
            SumOfProducts<Noisy> sum;
            double exact = 0;
            for (int i = 0; i < 30; ++i) {
                const double left = 0.1 * i + step * row;
                sum.add(left, 0.3);
                exact += left * 0.3;
            }
            errors += (sum.total().value() - exact) / (unit_of_float * exact);
        }
        return std::abs(errors) / 400;
    };
    double equal = 0, different = 0;
    for (uint64_t draw = 1; draw <= 20; ++draw) {
        equal += error_of_sums(draw, 0) / 20;
        different += error_of_sums(draw, 1e-3) / 20;
    }
    CHECK(equal > 4 * different);
}

TEST_CASE("adding 0 rounds nothing", "[noise]") {
    const NoiseScope noise({}, 1);
    const Noisy number = Noisy(0.1) * Noisy(0.3);
    CHECK((number + Noisy(0)).value() == number.value());
    CHECK((number - Noisy(0)).value() == number.value());
}

TEST_CASE("small numbers keep fewer digits in f16", "[noise]") {
    const Storage storage = GENERATE(Storage::f16, Storage::bf16);
    Rounding rounding{.arithmetic = 0};
    rounding.narrow = unit_of(storage);
    rounding.finest = unit_of(storage) * least_of(storage);
    rounding.largest = largest_of(storage);
    const auto largest_error = [&](double number) {
        double largest = 0;
        for (uint64_t draw = 1; draw <= 100; ++draw) {
            const NoiseScope noise(rounding, draw);
            largest = std::max(largest, std::abs(narrow(Noisy(number)).value() - number));
        }
        return largest;
    };
    CHECK(largest_error(1) > 0.5 * unit_of(storage));
    CHECK(largest_error(1) < 1.5 * unit_of(storage));
    // Half the distance between the smallest numbers, which in f16 are multiples of 2^-24.
    const double least = storage == Storage::f16 ? 0x1p-25 : 1e-6 * unit_of(storage);
    CHECK(largest_error(1e-6) > 0.5 * least);
    CHECK(largest_error(1e-6) < 1.5 * least);
    CHECK(largest_error(0) == 0);
}

TEST_CASE("what is infinite or too large stays or becomes infinite", "[noise]") {
    const NoiseScope noise({}, 1);
    CHECK((Noisy(INFINITY) + Noisy(1)).value() == INFINITY);
    CHECK(narrow(Noisy(-INFINITY)).value() == -INFINITY);
    CHECK((Noisy(1e30) * Noisy(-1e30)).value() == -INFINITY);
    CHECK(isnan(Noisy(INFINITY) - Noisy(INFINITY)));
}

}  // namespace
}  // namespace sawtooth
