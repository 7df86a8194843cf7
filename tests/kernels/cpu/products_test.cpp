// Products on the CPU against sums in f64, in every vector width.

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/core/random.h"
#include "kernels/cpu/products.h"
#include "kernels/cpu/vectors.h"
#include "tests/kernels/cpu/vector_targets.h"
#include "tests/kit/catch.h"

using namespace sawtooth;
using cpu::lanes;

namespace {

std::vector<float> numbers(int64_t count, const char* name) {
    Random random(1, name);
    std::vector<float> all(static_cast<size_t>(count));
    for (float& number : all) number = static_cast<float>(random.normal());
    return all;
}

}  // namespace

TEST_CASE("products have the right sums for any number of rows and blocks", "[products][cpu]") {
    const int64_t rows = GENERATE(1, 7, 8, 19), blocks = GENERATE(1, 2, 5), inner = GENERATE(1, 33);
    const bool is_lower = GENERATE(false, true), turned = GENERATE(false, true);
    const cpu::Into into = GENERATE(cpu::Into::set, cpu::Into::add, cpu::Into::subtract);
    const std::vector<float> left = numbers(rows * inner, "left");
    const std::vector<float> right = numbers(blocks * inner * lanes, "right");
    const std::vector<float> before = numbers(rows * blocks * lanes, "before");
    const cpu::Left factor = {left.data(), turned ? 1 : inner, turned ? rows : 1};
    constexpr int64_t first = 3;  // numbers that the first row of a triangle uses
    for_each_vector_target([&] {
        std::vector<float> to = before;
        const cpu::Product product = {.left = factor,
                                      .right = {right.data(), lanes, inner * lanes},
                                      .target = {to.data(), blocks * lanes, lanes},
                                      .rows = rows,
                                      .inner = inner,
                                      .blocks = blocks,
                                      .into = into};
        is_lower ? cpu::multiply_lower(product, first) : cpu::multiply(product);
        double largest = 0;
        for (int64_t r = 0; r < rows; ++r)
            for (int64_t c = 0; c < blocks * lanes; ++c) {
                double sum = 0;
                for (int64_t k = 0; k < (is_lower ? std::min(inner, first + r) : inner); ++k)
                    sum += double{factor.values[r * factor.row + k * factor.column]} *
                           double{right[static_cast<size_t>((c / lanes * inner + k) * lanes + c % lanes)]};
                const auto at = static_cast<size_t>(r * blocks * lanes + c);
                const double wanted = into == cpu::Into::set   ? sum
                                      : into == cpu::Into::add ? before[at] + sum
                                                               : before[at] - sum;
                largest = std::max(largest, std::abs(to[at] - wanted));
            }
        CHECK(largest < 2e-5);
    });
}

TEST_CASE("exponentials keep results down to the smallest normal number", "[products][cpu]") {
    for_each_vector_target([&] {
        std::vector<float> falling(lanes), sigmoids(lanes);
        for (size_t i = 0; i < falling.size(); ++i)
            falling[i] = sigmoids[i] = -87.3f + 0.05f * static_cast<float>(i);
        const std::vector<float> given = falling;
        cpu::exponentials(falling.data(), lanes);
        cpu::sigmoid(sigmoids.data(), lanes);
        for (size_t i = 0; i < given.size(); ++i) {
            const double wanted = std::exp(double{given[i]});
            CHECK(falling[i] == Approx(wanted).epsilon(1e-6));
            CHECK(sigmoids[i] == Approx(wanted).epsilon(1e-6));
        }
    });
}
