// Block Two-Pass on the CPU: every vector width, products of triangles, and stretches of blocks.

#include <cmath>
#include <limits>

#include "kernels/btp/cpu/products.h"
#include "kernels/btp/cpu/transfer.h"
#include "tests/kernels/btp/run_btp.h"
#include "tests/kernels/cpu/vector_targets.h"
#include "tests/kit/catch.h"

using namespace sawtooth;
using namespace sawtooth::btp_facts;
using btp::Construction;

namespace {

// Returns the largest error of an entry, relative to the entry or to the smallest normal number.
double largest_error(Construction construction, std::span<const float> gates) {
    const std::vector<float> matrix = btp::transfer_matrix(construction, gates);
    const size_t n = gates.size();
    double largest = 0;
    for (size_t i = 0; i < n; ++i) {
        double product = 1;
        for (size_t j = i + 1; j-- > 0; product *= gates[j])
            largest = std::max(largest, std::abs(matrix[i * n + j] - product) / std::max(product, 0x1p-126));
        for (size_t j = i + 1; j < n; ++j) largest = std::max<double>(largest, std::abs(matrix[i * n + j]));
    }
    return largest;
}

}  // namespace

TEST_CASE("stable constructions are right for gates of 0, 1, 1e-30 and any vector width", "[btp][cpu]") {
    std::vector<float> gates;
    for (const size_t n : {1, 7, 16, 33, 64, 65, 200, 256}) {
        gates.clear();
        for (size_t i = 0; i < n; ++i)
            gates.push_back(i % 11 == 3   ? 0
                            : i % 13 == 5 ? 1e-30f
                            : i % 3 == 0  ? 1
                                          : 0.2f + 0.01f * (i % 64));
        for_each_vector_target([&] {
            for (const auto construction :
                 {Construction::log_stable, Construction::masked_cumprod, Construction::exact}) {
                INFO(n << " gates, construction " << static_cast<int>(construction));
                CHECK(largest_error(construction, gates) < 1e-5);
            }
        });
    }
}

TEST_CASE("gates of 1 give a transfer matrix of ones in every construction", "[btp][cpu]") {
    const std::vector<float> gates(GENERATE(64, 256), 1.0f);
    for_each_vector_target([&] {
        for (int construction = 0; construction < 5; ++construction)
            CHECK(largest_error(static_cast<Construction>(construction), gates) == 0);
    });
}

// With ones in the matrix, an infinite input makes its own and all later positions infinite.
TEST_CASE("products skip all pairs outside their triangle", "[btp][cpu]") {
    const int64_t pitch = GENERATE(btp::short_pitch, btp::long_pitch);
    constexpr int64_t count = 37, channels = 9, infinite = 19;
    const btp::BlockShape shape = {channels, count, pitch};
    const auto numbers = static_cast<size_t>(channels * pitch);
    std::vector<float> matrix(static_cast<size_t>(pitch * pitch), 1.0f), from(numbers, 1.0f), to(numbers);
    for (int64_t c = 0; c < channels; ++c) from[static_cast<size_t>(c * pitch + infinite)] = INFINITY;
    for_each_vector_target([&] {
        btp::multiply(matrix.data(), from.data(), shape, 0, to.data());
        for (int64_t at = 0; at < channels * pitch; ++at)
            if (const int64_t i = at % pitch; i < count)
                CHECK(to[static_cast<size_t>(at)] == (i < infinite ? static_cast<float>(i + 1) : INFINITY));
        btp::multiply_transposed(matrix.data(), from.data(), shape, to.data());
        for (int64_t at = 0; at < channels * pitch; ++at)
            if (const int64_t i = at % pitch; i < count)
                CHECK(to[static_cast<size_t>(at)] ==
                      (i > infinite ? static_cast<float>(count - i) : INFINITY));
    });
}

TEST_CASE("two_pass and fused agree with the reference in any vector width", "[btp][cpu]") {
    const Value order = GENERATE(Value(1), Value(2), Value("full"));
    const auto parameters = parameters_with(
        {{"H", 2}, {"L", 1100}, {"BL", 32}, {"DH", 11}, {"order", order}, {"backward", true}});
    const Arrays inputs = generated_inputs(btp_family(), parameters);
    const Arrays wanted = *btp::reference(parameters, inputs, {});
    for_each_vector_target([&] {
        for (const char* variant : {"two_pass", "fused"})
            for (const Array& output : run(btp_family(), variant, parameters, inputs).outputs) {
                INFO(variant << " " << output.name << ", order " << to_text(order));
                CHECK(distance(output, *find(wanted, output.name)) < 1e-6);
            }
    });
}

// A stretch begins with the last value of the block before it, which it computes again from a part of its
// matrix.
TEST_CASE("fused has the bits of two_pass, wherever its stretches end", "[btp][cpu]") {
    const Value order = GENERATE(Value(1), Value(2));
    const int64_t block = GENERATE(1, 7, 16, 64, 200), length = GENERATE(512, 513, 2000);
    const auto parameters = parameters_with({{"L", length}, {"BL", block}, {"order", order}});
    const Arrays inputs = generated_inputs(btp_family(), parameters);
    CHECK(same_bits(run(btp_family(), "fused", parameters, inputs).outputs,
                    run(btp_family(), "two_pass", parameters, inputs).outputs));
}
