#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "kernels/core/row_sum.h"

namespace sawtooth {
namespace {

// Numbers whose products and sums are exact: x counts up, the signs of y alternate.
template <class Number>
std::vector<Number> rising(size_t count) {
    std::vector<Number> x;
    for (size_t i = 0; i < count; ++i) x.push_back(static_cast<double>(i) + 1);
    return x;
}
template <class Number>
std::vector<Number> alternating(size_t count) {
    std::vector<Number> y;
    for (size_t i = 0; i < count; ++i) y.push_back(i % 2 == 0 ? 0.5 : -0.25);
    return y;
}

// More than two vectors of lanes, and every number of lanes that may be left.
constexpr size_t most = 3 * lane_count;

TEST_CASE("a product of vectors is exact for both number types at every length", "[reference]") {
    const NoiseScope none({.arithmetic = 0}, 1);
    for (size_t count = 0; count <= most; ++count) {
        const auto x = rising<double>(count), y = alternating<double>(count);
        double wanted = 0;
        for (size_t i = 0; i < count; ++i) wanted += x[i] * y[i];
        CHECK(dot<double>(x.data(), y.data(), count) == wanted);
        CHECK(dot<Noisy>(x.data(), y.data(), count).value() == wanted);
        CHECK(dot<Noisy>(rising<Noisy>(count).data(), alternating<Noisy>(count).data(), count).value() ==
              wanted);
    }
}

TEST_CASE("the noise of a product of vectors is as large as that of one sum after another", "[reference]") {
    constexpr size_t count = 3 * lane_count + 1;
    const auto x = rising<Noisy>(count), y = alternating<Noisy>(count);
    double exact = 0, square = 0, wanted = 0;
    for (size_t i = 0; i < count; ++i) exact += value_of(x[i]) * value_of(y[i]);
    for (uint64_t seed = 1; seed <= 1000; ++seed) {
        {
            const NoiseScope noise({}, seed);
            square += std::pow(dot<Noisy>(x.data(), y.data(), count).value() - exact, 2);
        }
        const NoiseScope noise({}, seed);
        SumOfProducts<Noisy> sum;
        for (size_t i = 0; i < count; ++i) sum.add(x[i], y[i]);
        wanted += std::pow(sum.total().value() - exact, 2);
    }
    CHECK(wanted > 0);
    CHECK(square > 0.5 * wanted);
    CHECK(square < 2 * wanted);
}

TEST_CASE("a row of sums has the sums of its columns and their noise, and can begin anew", "[reference]") {
    constexpr size_t rows = 3;
    for (size_t width = 0; width <= most; ++width) {
        RowSum<double> exact(width);
        RowSum<Noisy> noisy(width);
        const auto start = rising<double>(width);
        const auto noisy_start = rising<Noisy>(width);
        for (int round = 0; round < 2; ++round) {
            exact.start(start.data());
            noisy.start(noisy_start.data());
            for (size_t s = 0; s < rows; ++s) {
                exact.add(static_cast<double>(s) - 0.5, alternating<double>(width).data());
                noisy.add(static_cast<double>(s) - 0.5, alternating<Noisy>(width).data());
            }
            const NoiseScope noise({}, 7);
            const std::vector<Noisy> totals = noisy.totals();
            const NoiseScope again({}, 7);
            for (size_t j = 0; j < width; ++j) {
                const double y = alternating<double>(width)[j];
                double wanted = start[j];
                SumOfProducts<Noisy> sum(noisy_start[j]);
                for (size_t s = 0; s < rows; ++s) {
                    wanted += (static_cast<double>(s) - 0.5) * y;
                    sum.add(static_cast<double>(s) - 0.5, y);
                }
                CHECK(exact.totals()[j] == wanted);
                CHECK(totals[j].value() == sum.total().value());
            }
        }
    }
}

}  // namespace
}  // namespace sawtooth
