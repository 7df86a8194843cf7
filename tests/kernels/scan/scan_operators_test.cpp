// The operators logcumsumexp and complex_linear of the family scan.

#include <cmath>
#include <numbers>

#include "tests/kernels/scan/run_scan.h"
#include "tests/kit/run_judge.h"

namespace sawtooth {
namespace {

using Complex = std::complex<float>;

Parameters sized(const char* op, int64_t length, int64_t channels, const Settings& more = {}) {
    return scan_parameters(with({{"batch", int64_t{2}},
                                 {"length", length},
                                 {"channels", channels},
                                 {"op", op},
                                 {"block_size", int64_t{128}}},
                                more));
}

// The numbers are from numpy.logaddexp in double.
TEST_CASE("logcumsumexp of a small example", "[scan][cpu]") {
    const std::vector<double> expected = {1, 1.048587352, 1.504596902, 3.202253448, 3.79937852, 3.8277157};
    const auto parameters = scan_parameters(
        {{"batch", int64_t{1}}, {"length", int64_t{6}}, {"channels", int64_t{1}}, {"op", "logcumsumexp"}});
    const Arrays inputs = {floats("x", {1, 6, 1}, {1, -2, 0.5f, 3, 3, 0.25f})};
    for (const std::string& variant : variant_names()) {
        const Ran ran = run(variant, parameters, inputs);
        for (int64_t t = 0; t < 6; ++t)
            CHECK(ran["y"].value(t).real() == Approx(expected[static_cast<size_t>(t)]).margin(1e-6));
    }
}

TEST_CASE("logcumsumexp of a shifted input is shifted alike, without overflow", "[scan][cpu]") {
    const int64_t length = GENERATE(1, 129, 1000), channels = GENERATE(1, 3, 17);
    const float shift = GENERATE(-20000.0f, 88.0f, 20000.0f);
    const auto parameters = sized("logcumsumexp", length, channels);
    const Arrays inputs = generated_inputs(parameters);
    Arrays shifted = copied(inputs);
    for (float& x : shifted[0].as<float>()) x += shift;
    // Inputs and outputs are rounded at the size of the shift.
    const double margin = 4 * 0x1p-24 * std::abs(shift) + 1e-5;
    for (const std::string& variant : variant_names()) {
        const Ran plain = run(variant, parameters, inputs), moved = run(variant, parameters, shifted);
        int64_t wrong = 0;
        for (int64_t i = 0; i < plain["y"].count(); ++i)
            wrong += !(std::abs(moved["y"].value(i).real() - shift - plain["y"].value(i).real()) <= margin);
        INFO(variant << " shifted by " << shift);
        CHECK(wrong == 0);
    }
}

TEST_CASE("logcumsumexp of equal values is the value and the logarithm of their number", "[scan][cpu]") {
    const float value = GENERATE(0.0f, -3e38f, 3e38f, INFINITY, -INFINITY);
    const auto parameters = sized("logcumsumexp", 1000, GENERATE(1, 4));
    Arrays inputs = generated_inputs(parameters);
    fill(inputs[0], value);
    const int64_t channels = parameters.integer("channels");
    for (const std::string& variant : variant_names()) {
        const Ran ran = run(variant, parameters, inputs);
        INFO(variant << " of " << value);
        int64_t wrong = 0;
        for (int64_t t = 0; t < 1000; ++t) {
            const double wanted = value + std::log(static_cast<double>(t + 1));
            const double got = ran["y"].value(t * channels).real();
            wrong += !(got == wanted || std::abs(got - wanted) <= 4e-7 * std::abs(wanted));
        }
        CHECK(wrong == 0);
    }
}

TEST_CASE("complex_linear with real gates is linear in both parts", "[scan][cpu]") {
    const int64_t length = GENERATE(1, 128, 129, 1001), channels = GENERATE(1, 3, 16);
    const Settings backward = {{"backward", true}, {"direction", "both"}};
    const auto complex = sized("complex_linear", length, channels, backward);
    const auto real = sized("linear", length, channels, backward);
    const Arrays of_real = generated_inputs(real, true), others = generated_inputs(real, true, 2);
    Arrays inputs;  // real gates, and two independent columns as parts of the rest
    for (size_t k = 0; k < of_real.size(); ++k) {
        const bool is_gate = of_real[k].name == "a";
        Array both = Array::uninitialised(of_real[k].name, Dtype::complex64, of_real[k].shape);
        for (size_t i = 0; i < both.as<Complex>().size(); ++i)
            both.as<Complex>()[i] = {of_real[k].as<float>()[i], is_gate ? 0 : others[k].as<float>()[i]};
        inputs.push_back(std::move(both));
    }
    for (const std::string& variant : variant_names()) {
        const Ran ran = run(variant, complex, inputs), wanted = run(variant, real, of_real);
        for (const char* name : {"y", "y_reverse", "dx"}) {
            INFO(variant << " " << name);
            Array parts = Array::uninitialised(name, Dtype::f32, wanted[name].shape);
            for (size_t i = 0; i < parts.as<float>().size(); ++i)
                parts.as<float>()[i] = ran[name].as<Complex>()[i].real();
            CHECK(distance(parts, wanted[name]) < 1e-6);
        }
    }
}

TEST_CASE("gates on the unit circle turn the initial state", "[scan][cpu]") {
    const int64_t length = 2000, channels = GENERATE(1, 5);
    const auto parameters = sized("complex_linear", length, channels, {{"block_size", int64_t{1024}}});
    Arrays inputs = generated_inputs(parameters, true);
    constexpr int64_t turn = 16;  // steps per turn
    const auto at_angle = [](int64_t steps) {
        const double angle = 2 * std::numbers::pi * static_cast<double>(steps) / turn;
        return Complex(std::polar(1.0, angle));
    };
    std::ranges::fill(find(inputs, "a")->as<Complex>(), at_angle(1));
    std::ranges::fill(find(inputs, "x")->as<Complex>(), Complex());
    std::ranges::fill(find(inputs, "initial")->as<Complex>(), Complex(1));
    for (const std::string& variant : variant_names()) {
        const Ran ran = run(variant, parameters, inputs);
        INFO(variant);
        double off = 0;
        for (int64_t t = 0; t < length; ++t)
            off = std::max(
                off, std::abs(ran["y"].value(t * channels) - std::complex<double>(at_angle((t + 1) % turn))));
        CHECK(off < 5e-4);  // the gate itself is rounded, 2000 times
    }
}

TEST_CASE("long scans of the complex recurrence and of exponentials are right", "[scan][cpu]") {
    const std::string op = GENERATE("complex_linear", "logcumsumexp");
    const auto parameters = scan_parameters({{"batch", int64_t{1}},
                                             {"length", GENERATE(int64_t{8192}, int64_t{65537})},
                                             {"channels", GENERATE(int64_t{1}, int64_t{3})},
                                             {"op", op}});
    check_variants(parameters, generated_inputs(parameters, true));
}

TEST_CASE("a logcumsumexp without its running maximum is judged wrong", "[scan][cpu]") {
    const auto parameters = sized("logcumsumexp", 500, 4);
    Arrays inputs = generated_inputs(parameters);
    for (float& x : inputs[0].as<float>()) x = 40 * x;
    Ran ran = run("sequential", parameters, inputs);
    const auto verdict = [&] {
        return judged(scan_family(), "sequential", parameters, inputs, ran.outputs)[0].verdict;
    };
    CHECK(verdict() == Verdict::right);
    const auto x = inputs[0].as<float>();
    const auto y = ran.outputs[0].as<float>();
    for (size_t c = 0; c < 8; ++c) {
        float sum = 0;
        for (size_t t = 0; t < 500; ++t) {
            const size_t at = (c / 4 * 500 + t) * 4 + c % 4;
            y[at] = std::log(sum += std::exp(x[at]));
        }
    }
    CHECK(verdict() == Verdict::wrong);
}

TEST_CASE("generated complex gates have magnitudes of 0.5 to 1 and any angle", "[scan]") {
    const Arrays inputs = generated_inputs(sized("complex_linear", 1000, 3));
    int64_t quadrants[4] = {};
    for (const Complex& gate : find(inputs, "a")->as<Complex>()) {
        CHECK(std::abs(gate) >= 0.4999f);
        CHECK(std::abs(gate) <= 1.0001f);
        ++quadrants[(gate.real() > 0 ? 1 : 0) + (gate.imag() > 0 ? 2 : 0)];
    }
    for (const int64_t count : quadrants) CHECK(count > 1000);
}

// A kernel multiplies gates with one another before the initial state: a part of such a product is flushed,
// which a later gate makes visible.
TEST_CASE("what a product of gates loses below the range of f32 may be enlarged by a later gate", "[scan]") {
    constexpr size_t length = 200, channels = 16;
    const auto parameters = sized("complex_linear", length, channels, {{"block_size", int64_t{1024}}});
    Arrays inputs = generated_inputs(parameters, true);
    const auto gates = find(inputs, "a")->as<Complex>();
    for (size_t i = 0; i < gates.size(); ++i) {
        const size_t t = i / channels % length, decays = 130 + i % channels;
        gates[i] = t < decays ? Complex(0.545f, 0.02f) : t == decays ? 1000.0f : 0.9f;
    }
    std::ranges::fill(find(inputs, "x")->as<Complex>(), 0);
    std::ranges::fill(find(inputs, "initial")->as<Complex>(), Complex(1, -377));
    check_variants(parameters, inputs);
}

}  // namespace
}  // namespace sawtooth
