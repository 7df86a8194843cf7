// Look-up tables on the CPU in every vector width: rows of any length, terms in fixed point, all variants.

#include <cmath>
#include <limits>

#include "kernels/lut/family.h"
#include "kernels/lut/parts.h"
#include "kernels/lut_table/cpu/rows.h"
#include "tests/kernels/cpu/vector_targets.h"
#include "tests/kit/catch.h"
#include "tests/kit/run_family.h"

using namespace sawtooth;
using lut::FixedPoint;

namespace {

const std::vector<int64_t> lengths = {1, 2, 7, 8, 16, 33, 130, 263};

// Returns integers up to 16, whose sums and products are exact.
std::vector<float> small_integers(int64_t count, uint64_t seed) {
    std::vector<float> numbers(static_cast<size_t>(count));
    Random random(seed, "numbers");
    for (float& number : numbers) number = std::floor(static_cast<float>(random.uniform(-16, 17)));
    return numbers;
}

}  // namespace

TEST_CASE("the minimum of work of sparse tables has the synapses that are given", "[lut]") {
    const Parameters parameters = settled(lut_family(), {{"batch", int64_t{1}},
                                                         {"detectors", int64_t{1}},
                                                         {"anchors_per_detector", int64_t{2}},
                                                         {"connectivity", "sparse"},
                                                         {"synapses_per_neuron", int64_t{6}}});
    const Arrays given = {Array::uninitialised("synapse_weights", Dtype::f32, {4000})};
    const double expected = lut::work(parameters, {}).operations,
                 found = lut::work(parameters, given).operations;
    CHECK(found - expected == 1000 - 3);
}

TEST_CASE("rows of any length are added and multiplied in any vector width", "[lut][cpu]") {
    for_each_vector_target([] {
        for (const int64_t columns : lengths) {
            INFO(columns << " columns");
            const std::vector<float> a = small_integers(columns, 1), b = small_integers(columns, 2);
            std::vector<float> sums(a.size(), 3.0f), copy(a.size());
            double product = 0;
            const float* const rows[] = {a.data(), b.data(), a.data()};
            lut::add_rows(rows, 3, columns, 0.5f, sums.data());
            for (size_t i = 0; i < a.size(); ++i) {
                CHECK(sums[i] == 3 + a[i] + 0.5f * b[i]);
                product += double{a[i]} * b[i];
            }
            CHECK(lut::dot(a.data(), b.data(), columns) == product);
            CHECK(lut::dot(a.data(), b.data(), columns, {0.25}) == std::llrint(product * 0.25 * 0x1p20));
            for (const bool streams : {false, true}) {
                std::fill(copy.begin(), copy.end(), 0.0f);
                lut::put_row(a.data(), columns, copy.data(), streams);
                CHECK(copy == a);
            }
        }
    });
}

TEST_CASE("terms in vectors are those of FixedPoint, ties and what leaves the range included", "[lut][cpu]") {
    const float infinity = INFINITY;
    const std::vector<float> special = {0,        -0.0f,     0x1p-21f,  -0x1p-21f, 0x3p-21f, -0x3p-21f,
                                        0x5p-22f, 0.1f,      -1e-20f,   2047.9f,   2048,     -2048,
                                        0x1p24f,  -0x1p24f,  1e30f,     -1e30f,    infinity, -infinity,
                                        NAN,      123456.7f, -3.14159f, 0x1p-149f, 0x7p-21f, 1.5f};
    for_each_vector_target([&] {
        for (const FixedPoint fixed : {FixedPoint{1}, FixedPoint{0.0625}, FixedPoint{0.3}})
            for (const double factor : {1.0, 0.7}) {
                const float* const row = special.data();
                std::vector<int64_t> sums(special.size(), 5);
                lut::add_rows(&row, 1, std::ssize(special), factor, fixed, sums.data());
                for (size_t i = 0; i < special.size(); ++i) {
                    INFO(special[i]);
                    CHECK(sums[i] == 5 + fixed.term(special[i] * factor));
                }
            }
    });
}

TEST_CASE("sums in fixed point convert exactly, and those past 32 bits are noticed", "[lut][cpu]") {
    constexpr int64_t most = std::numeric_limits<int32_t>::max(), least = std::numeric_limits<int32_t>::min();
    std::vector<int64_t> sums = {0, 1, -1, most, least, 1 << 20, 12345, -987654321, 3};
    std::vector<float> floats(sums.size());
    const FixedPoint fixed{0.3};
    for_each_vector_target([&] {
        CHECK(lut::convert(sums.data(), std::ssize(sums), fixed, floats.data()));
        for (size_t i = 0; i < sums.size(); ++i) CHECK(floats[i] == static_cast<float>(fixed.value(sums[i])));
        for (size_t i = 0; i < sums.size(); ++i)
            for (const int64_t past : {most + 1, least - 1, int64_t{1} << 58}) {
                std::vector<int64_t> one = sums;
                one[i] = past;
                CHECK_FALSE(lut::convert(one.data(), std::ssize(one), fixed, floats.data()));
            }
    });
}

TEST_CASE("variants of lut agree with the reference in any vector width", "[lut][cpu]") {
    for (const char* connectivity : {"full", "sparse"})
        for (const char* arithmetic : {"float", "integer"})
            for (const int64_t outputs : {1, 37, 272}) {
                const Parameters parameters = settled(lut_family(), {{"connectivity", connectivity},
                                                                     {"arithmetic", arithmetic},
                                                                     {"outputs", outputs},
                                                                     {"batch", int64_t{11}},
                                                                     {"backward", true},
                                                                     {"gradient_policy", "internal"}});
                const Arrays inputs = generated_inputs(lut_family(), parameters);
                const Arrays wanted = *lut::reference(parameters, inputs, {});
                for_each_vector_target([&] {
                    for (const std::string& variant : variant_names(lut_family())) {
                        const Ran ran = run(lut_family(), variant, parameters, inputs);
                        for (const Array& array : wanted) {
                            INFO(variant << ' ' << array.name);
                            CHECK(distance(ran[array.name], array) < 2e-6);
                        }
                    }
                });
            }
}
