// The double-precision reference of Block Two-Pass: cases worked out by hand, products with transfer
// matrices, and derivatives.

#include <cmath>

#include "tests/kernels/btp/run_btp.h"
#include "tests/kit/catch.h"
#include "tests/kit/run_judge.h"

namespace sawtooth {
namespace {

using namespace btp_facts;

double pow2(int64_t exponent) { return std::ldexp(1.0, static_cast<int>(exponent)); }

// Calls check(t, i, block) for every position t, the i-th of its block of 16.
template <class Check>
void for_each_position(int64_t length, Check&& check) {
    for (int64_t t = 0; t < length; ++t) {
        INFO("position " << t);
        check(t, t % 16, t / 16);
    }
}

// With gates of 1/2 and inputs of 1, v_i = 2 - 2^-i exactly.
TEST_CASE("gates of one half give sums of powers of two", "[btp]") {
    constexpr int64_t length = 43;
    const double last = 2 - pow2(-15);
    const auto carry_of = [&](const Value& order, int64_t block) {
        if (order == one || block == 0) return 0.0;
        return order == two ? last : 2 - pow2(1 - 16 * block);
    };
    for (const Value& order : {one, two, full}) {
        const Constant c(order, length, 0.5f);
        const Arrays outputs = reference_for(c.parameters, c.inputs);
        const auto x = find(outputs, "x")->as<double>(), carry = find(outputs, "carry")->as<double>();
        REQUIRE(carry.size() == 3);
        INFO("order " << to_text(order));
        for_each_position(length, [&](int64_t t, int64_t i, int64_t block) {
            CHECK(carry[static_cast<size_t>(block)] == carry_of(order, block));
            CHECK(x[static_cast<size_t>(t)] == 2 - pow2(-i) + pow2(-i - 1) * carry_of(order, block));
        });
    }
}

// Gates of 1 add: every gradient is a count of positions.
TEST_CASE("gates of one give prefix sums of a block, of two blocks or of all", "[btp]") {
    constexpr int64_t length = 43;
    const auto block_length = [](int64_t block) { return static_cast<double>(block == 2 ? 11 : 16); };
    for (const Value& order : {one, two, full}) {
        const Constant c(order, length, 1);
        const Arrays outputs = reference_for(c.parameters, c.inputs);
        const auto number = [&](const char* name, int64_t t) { return find(outputs, name)->value(t).real(); };
        INFO("order " << to_text(order));
        for_each_position(length, [&](int64_t t, int64_t i, int64_t block) {
            const auto before = static_cast<double>(i);  // positions of the block before t
            const double n = block_length(block), next = block < 2 ? block_length(block + 1) : 0;
            const double carry = order == one   ? 0
                                 : order == two ? (block > 0 ? 16 : 0)
                                                : static_cast<double>(16 * block);
            const double after = order == one   ? 0  // positions of later blocks that t reaches
                                 : order == two ? next
                                                : static_cast<double>(length) - 16.0 * block - n;
            CHECK(number("x", t) == before + 1 + carry);
            CHECK(number("du", t) == n - before + after);
            // da is what passes the gate times the positions behind it; a carry does not pass two blocks.
            const double passes_on = order == full ? before + carry : before;
            CHECK(number("da", t) == (n - before) * (before + carry) + after * passes_on);
        });
    }
}

TEST_CASE("gates of zero forget everything, and have gradients", "[btp]") {
    for (const Value& order : {one, two, full}) {
        const auto parameters = parameters_with({{"B", int64_t{2}},
                                                 {"H", int64_t{3}},
                                                 {"L", int64_t{70}},
                                                 {"DH", int64_t{5}},
                                                 {"BL", int64_t{32}},
                                                 {"order", order},
                                                 {"backward", true}});
        Arrays inputs = generated_inputs(parameters);
        fill(*find(inputs, "a"), 0);
        const Arrays outputs = reference_for(parameters, inputs);
        const Array &u = *find(inputs, "u"), &dx = *find(inputs, "dx"), &da = *find(outputs, "da");
        INFO("order " << to_text(order));
        CHECK(distance(*find(outputs, "x"), u) == 0);
        CHECK(distance(*find(outputs, "du"), dx) == 0);
        for (int64_t head = 0; head < 6; ++head)
            for (int64_t t = 0; t < 70; ++t) {
                double wanted = 0;
                for (int64_t channel = 0; channel < 5; ++channel) {
                    const int64_t at = (head * 5 + channel) * 70 + t;
                    if (t > 0) wanted += dx.value(at).real() * u.value(at - 1).real();
                }
                if (order == one && t % 32 == 0) wanted = 0;
                CHECK(da.value(head * 70 + t).real() == Approx(wanted).epsilon(1e-14));
            }
    }
}

Parameters three_blocks(const Value& order, int64_t block, bool backward = false) {
    return parameters_with({{"B", int64_t{2}},
                            {"H", int64_t{2}},
                            {"L", 2 * block + 5},
                            {"DH", int64_t{3}},
                            {"BL", block},
                            {"order", order},
                            {"gate", 0.7},
                            {"backward", backward}});
}

struct ByMatrices {
    std::vector<double> x, carry;
};
// Computes one channel from a [length] and u [length] with the matrices of the definition.
ByMatrices by_matrices(const Value& order, int64_t block, std::span<const float> a,
                       std::span<const float> u) {
    const auto length = static_cast<int64_t>(a.size());
    // Returns a_last ... a_first, or 1 if there are none.
    const auto product = [&](int64_t last, int64_t first) {
        double all = 1;
        for (int64_t t = last; t >= first; --t) all *= a[static_cast<size_t>(t)];
        return all;
    };
    ByMatrices made;
    double c = 0;
    for (int64_t first = 0; first < length; first += block) {
        made.carry.push_back(c);
        double v = 0;
        for (int64_t i = first; i < std::min(first + block, length); ++i) {
            v = 0;
            for (int64_t j = first; j <= i; ++j) v += product(i, j + 1) * u[static_cast<size_t>(j)];
            made.x.push_back(v + product(i, first) * c);
        }
        c = order == one ? 0 : order == two ? v : made.x.back();
    }
    return made;
}

TEST_CASE("the recurrence gives the products with the transfer matrices", "[btp]") {
    const Value order = GENERATE(one, two, full);
    const int64_t block = GENERATE(16, 32, 64), length = 2 * block + 5;
    const auto parameters = three_blocks(order, block);
    const Arrays inputs = with_special_gates(generated_inputs(parameters));
    const Arrays outputs = reference_for(parameters, inputs);
    CHECK(outputs.size() == 2);
    const auto a = find(inputs, "a")->as<float>(), u = find(inputs, "u")->as<float>();
    for (int64_t head = 0; head < 4; ++head)
        for (int64_t channel = 0; channel < 3; ++channel) {
            const auto count = static_cast<size_t>(length);
            const int64_t row = head * 3 + channel;
            const ByMatrices wanted =
                by_matrices(order, block, a.subspan(static_cast<size_t>(head * length), count),
                            u.subspan(static_cast<size_t>(row * length), count));
            INFO("order " << to_text(order) << " BL " << block << " head " << head << " channel " << channel);
            // Sums of at most 64 numbers of order 1.
            for (size_t t = 0; t < count; ++t)
                CHECK(find(outputs, "x")->value(row * length + static_cast<int64_t>(t)).real() ==
                      Approx(wanted.x[t]).epsilon(1e-13).margin(1e-14));
            for (size_t b = 0; b < 3; ++b)
                CHECK(find(outputs, "carry")
                          ->value((head * 3 + static_cast<int64_t>(b)) * 3 + channel)
                          .real() == Approx(wanted.carry[b]).epsilon(1e-13).margin(1e-14));
        }
}

TEST_CASE("order full of the reference is the recurrence over the whole sequence", "[btp]") {
    const int64_t block = GENERATE(16, 32, 64), length = 2 * block + 5;
    const auto parameters = three_blocks(full, block);
    const Arrays inputs = with_special_gates(generated_inputs(parameters));
    const Arrays outputs = reference_for(parameters, inputs);
    const Array &a = *find(inputs, "a"), &u = *find(inputs, "u");
    for (int64_t row = 0; row < 12; ++row) {
        double x = 0;
        for (int64_t t = 0; t < length; ++t) {
            x = a.value(row / 3 * length + t).real() * x + u.value(row * length + t).real();
            CHECK(find(outputs, "x")->value(row * length + t).real() ==
                  Approx(x).epsilon(1e-13).margin(1e-14));
        }
    }
}

TEST_CASE("the carry is the local or the corrected value at the end of the previous block", "[btp]") {
    const int64_t block = GENERATE(16, 32, 64), length = 2 * block + 5;
    const auto local_parameters = three_blocks(one, block);
    const Arrays inputs = with_special_gates(generated_inputs(local_parameters));
    const Arrays local = reference_for(local_parameters, inputs);
    for (const Value& order : {one, two, full}) {
        const Arrays outputs = reference_for(three_blocks(order, block), inputs);
        const Array& carry = *find(outputs, "carry");
        CHECK(carry.shape == Shape{2, 2, 3, 3});
        const Array& from = *find(order == full ? outputs : local, "x");
        INFO("order " << to_text(order) << " BL " << block);
        for (int64_t i = 0; i < carry.count(); ++i) {
            const int64_t channel = i % 3, b = i / 3 % 3, head = i / 9;
            const int64_t last = (head * 3 + channel) * length + b * block - 1;
            CHECK(carry.value(i).real() == (order == one || b == 0 ? 0 : from.value(last).real()));
        }
    }
}

// x is affine in every single gate, and in every single input: its difference between 1 and 0 is the
// derivative.
TEST_CASE("gradients of btp agree with differences of the reference", "[btp]") {
    const Value order = GENERATE(one, two, full);
    const int64_t block = GENERATE(16, 32);
    const auto parameters = three_blocks(order, block, true), forward = three_blocks(order, block);
    Arrays inputs = with_special_gates(generated_inputs(parameters));
    const Arrays gradients = reference_for(parameters, inputs);
    CHECK(gradients.size() == 4);
    const Array dx = *find(inputs, "dx");
    const auto loss = [&] {
        const Arrays outputs = reference_for(forward, inputs);
        double sum = 0;
        for (int64_t i = 0; i < dx.count(); ++i) sum += outputs[0].value(i).real() * dx.value(i).real();
        return sum;
    };
    for (const char* name : {"a", "u"}) {
        const Array& gradient = *find(gradients, std::string("d") + name);
        Array& input = *find(inputs, name);
        REQUIRE(gradient.shape == input.shape);
        for (size_t i = 0; i < input.as<float>().size(); ++i) {
            float& number = input.as<float>()[i];
            const float value = number;
            number = 1;
            const double at_one = loss();
            number = 0;
            const double at_zero = loss();
            number = value;
            INFO("order " << to_text(order) << " BL " << block << " " << name << "[" << i << "] = " << value);
            // The loss adds up to 828 numbers of order 1: each rounds to about 1e-14.
            CHECK(gradient.value(static_cast<int64_t>(i)).real() ==
                  Approx(at_one - at_zero).epsilon(1e-12).margin(1e-12));
        }
    }
}

// A step of the recurrence with NaN is NaN: no gate stops it, only the border of a block where no carry goes.
TEST_CASE("a NaN reaches as far as information", "[btp]") {
    constexpr int64_t length = 70, at = 20;
    const Value order = GENERATE(one, two, full);
    Constant c(order, length, 0);
    const int64_t reached = order == one ? 32 : order == two ? 48 : length;
    find(c.inputs, "u")->as<float>()[at] = NAN;
    const Arrays outputs = reference_for(c.parameters, c.inputs);
    for_each_position(length, [&](int64_t t, int64_t, int64_t) {
        CHECK(std::isnan(find(outputs, "x")->value(t).real()) == (t >= at && t < reached));
        CHECK(std::isfinite(find(outputs, "du")->value(t).real()));
    });
}

TEST_CASE("an infinite gradient reaches back as far as information", "[btp]") {
    constexpr int64_t length = 70, at = 40;
    const Value order = GENERATE(one, two, full);
    Constant c(order, length, 0.5f);
    const int64_t reached = order == one ? 32 : order == two ? 16 : 0;
    // Nothing passes the first of these gates, but 0 times infinity is NaN: the carry into the first block is
    // 0.
    const int64_t first_gate = order == full ? 0 : reached + 1;
    find(c.inputs, "dx")->as<float>()[at] = INFINITY;
    const Arrays outputs = reference_for(c.parameters, c.inputs);
    for_each_position(length, [&](int64_t t, int64_t, int64_t) {
        CHECK(std::isfinite(find(outputs, "du")->value(t).real()) == (t < reached || t > at));
        CHECK(std::isfinite(find(outputs, "da")->value(t).real()) == (t < first_gate || t > at));
    });
}

TEST_CASE("only a carry meets the gate of the first position of a block", "[btp]") {
    constexpr int64_t length = 40;
    const Value order = GENERATE(one, two, full);
    const int64_t block = GENERATE(0, 1);
    Constant c(order, length, 0.5f);
    find(c.inputs, "a")->as<float>()[static_cast<size_t>(16 * block)] = NAN;
    const Arrays outputs = reference_for(c.parameters, c.inputs);
    // The carry into the first block is 0, and NaN times 0 is NaN.
    for_each_position(length, [&](int64_t t, int64_t, int64_t block_of_t) {
        const bool is_reached = order != one && (order == full ? block_of_t >= block : block_of_t == block);
        CHECK(std::isnan(find(outputs, "x")->value(t).real()) == is_reached);
    });
}

TEST_CASE("the reference of btp stops on request", "[btp]") {
    const auto parameters = parameters_with({{"backward", true}});
    std::stop_source stop;
    stop.request_stop();
    const auto outcome = btp::reference(parameters, generated_inputs(parameters), stop.get_token());
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().kind == Error::Kind::cancelled);
}

// Sums inputs[at], gates[at] inputs[at - step], … as kernels on CUDA cores do, up to the end of a block.
float sum_of_terms(const float* gates, const float* inputs, int64_t at, int64_t step, int64_t length) {
    float entry = 1, sum = 0;
    for (int64_t k = at; k >= 0 && k < length; k -= step) {
        sum = std::fma(entry, inputs[k], sum);
        entry *= gates[step > 0 ? k : k + 1];  // one more number is readable
    }
    return sum;
}

TEST_CASE("sums of long blocks are right if the terms next to the diagonal come first", "[btp]") {
    constexpr int64_t length = 255;
    const auto parameters = parameters_with({{"B", int64_t{2}},
                                             {"H", int64_t{16}},
                                             {"L", length},
                                             {"DH", int64_t{4}},
                                             {"BL", length},
                                             {"order", one},
                                             {"backward", true}});
    Arrays inputs = generated_inputs(parameters);
    Random random(1, "gates");
    for (float& gate : find(inputs, "a")->as<float>()) gate = static_cast<float>(random.uniform(0.9, 1));
    Arrays outputs = run("fused", parameters, inputs).outputs;
    const auto x = find(outputs, "x")->as<float>(), du = find(outputs, "du")->as<float>();
    const float* const u = find(inputs, "u")->as<float>().data();
    const float* const dx = find(inputs, "dx")->as<float>().data();
    for (int64_t row = 0; row < std::ssize(x) / length; ++row) {
        const auto a = find(inputs, "a")->as<float>().subspan(static_cast<size_t>(row / 4 * length), length);
        std::vector<float> gates(a.begin(), a.end());
        gates.push_back(0);
        for (int64_t i = 0; i < length; ++i) {
            const int64_t at = row * length + i;
            x[static_cast<size_t>(at)] = sum_of_terms(gates.data(), u + row * length, i, 1, length);
            du[static_cast<size_t>(at)] = sum_of_terms(gates.data(), dx + row * length, i, -1, length);
        }
    }
    check_verdicts(judged(btp_family(), "fused", parameters, inputs, outputs));
}

// With 4.2e6 numbers or more the judge sees only some heads; the others have only the reference.
TEST_CASE("of many heads some are judged, the first and the last among them", "[btp]") {
    const auto parameters = parameters_with({{"B", int64_t{2}},
                                             {"H", int64_t{33}},
                                             {"L", int64_t{5003}},
                                             {"DH", int64_t{13}},
                                             {"BL", int64_t{16}}});
    const auto inputs = generated_inputs(parameters);
    const int64_t head = int64_t{13} * 5003, judged_heads = (1 << 22) / head;
    Arrays outputs = run("fused", parameters, inputs).outputs;
    const auto x = find(outputs, "x")->as<float>();
    Definitions definitions;
    const auto verdict_on_x = [&] {
        return judged(btp_family(), "fused", parameters, inputs, outputs, Backend::cpu, &definitions)[0];
    };
    const OutputVerdict right = verdict_on_x();
    CHECK(right.verdict == Verdict::right);
    CHECK(right.judged == judged_heads * head);
    x.back() += 1;
    const OutputVerdict wrong = verdict_on_x();
    CHECK(wrong.verdict == Verdict::wrong);
    CHECK(wrong.elements == 1);
    REQUIRE(wrong.worst);
    CHECK(wrong.worst->index == Shape{1, 32, 12, 5002});
    x[0] += 1;
    CHECK(verdict_on_x().elements == 2);
}

}  // namespace
}  // namespace sawtooth
