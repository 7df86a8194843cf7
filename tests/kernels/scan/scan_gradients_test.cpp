// Gradients of every operator of the family scan.

#include <algorithm>
#include <cmath>

#include "kernels/core/common_parameters.h"
#include "tests/kernels/scan/run_scan.h"
#include "tests/kit/run_judge.h"

namespace sawtooth {
namespace {

using Complex = std::complex<float>;

const std::vector<std::string> every_op = {"sum",         "product",        "max",         "min", "linear",
                                           "complex_sum", "complex_linear", "logcumsumexp"};

// A single column.
Parameters of_column(const char* op, int64_t length, const char* direction) {
    return scan_parameters({{"batch", int64_t{1}},
                            {"length", length},
                            {"channels", int64_t{1}},
                            {"op", op},
                            {"direction", direction},
                            {"block_size", int64_t{128}},
                            {"backward", true}});
}

void check_close(const Array& got, const std::vector<double>& wanted, double margin) {
    REQUIRE(got.count() == static_cast<int64_t>(wanted.size()));
    for (size_t i = 0; i < wanted.size(); ++i) {
        INFO("element " << i);
        CHECK(got.value(static_cast<int64_t>(i)).real() == Approx(wanted[i]).margin(margin));
    }
}

TEST_CASE("gradients of every operator are right", "[scan][cpu]") {
    const std::string op = GENERATE(from_range(every_op));
    const std::string direction = GENERATE("forward", "reverse", "both");
    const bool with_initial = GENERATE(false, true);
    const int64_t channels = GENERATE(1, 7, 33);
    // One position, one without a following gate, and several tiles with a short one.
    const int64_t length = GENERATE(1, 2, 300);
    const auto parameters = scan_parameters({{"length", length},
                                             {"channels", channels},
                                             {"op", op},
                                             {"direction", direction},
                                             {"block_size", int64_t{128}},
                                             {"backward", true}});
    check_variants(parameters, generated_inputs(parameters, with_initial));
}

TEST_CASE("gradients of narrow types and of ties are right", "[scan][cpu]") {
    const std::string op = GENERATE("sum", "product", "max", "min", "linear", "logcumsumexp");
    const std::string dtype = GENERATE("f16", "bf16");
    const std::string distribution = GENERATE("normal", "impulse", "badly_conditioned");
    const auto parameters = scan_parameters({{"length", int64_t{777}},
                                             {"channels", GENERATE(int64_t{1}, int64_t{5})},
                                             {"op", op},
                                             {"dtype", dtype},
                                             {"distribution", distribution},
                                             {"direction", "both"},
                                             {"block_size", int64_t{256}},
                                             {"backward", true}});
    check_variants(parameters, generated_inputs(parameters, true));
}

// The numbers are from a program that sums dy_t times the derivative of every y_t, one by one.
TEST_CASE("gradients of a small example are those of an independent program", "[scan][cpu]") {
    struct Example {
        const char* op;
        std::vector<double> forward, both;
    };
    const Example example = GENERATE(
        values<Example>({{"sum", {3.5, 2.5, 0.5, 3.5, 3, -1}, {4, 2, 2, 6, 3.5, 2.5}},
                         {"product",
                          {-35.25, 18.125, -64.5, -11.75, -11.25, 9},
                          {-36.375, 17.5625, -57.75, -9.875, -9.875, 28.5}},
                         {"max", {0, 0, 0, 3.5, 0, 0}, {0, 0, 0, 3.5, 0.5, 3}},
                         {"min", {1, 2.5, 0, 0, 0, 0}, {1, 2, 0, 0, 0, 4}},
                         {"logcumsumexp",
                          {1.333422096, 0.016600109, -0.953300103, 1.769830639, 1.361386707, -0.027939448},
                          {1.362996001, 0.014942582, -0.8969929, 2.940305859, 0.652035228, 2.92671323}}}));
    const bool both = GENERATE(false, true);
    Arrays inputs = {floats("x", {1, 6, 1}, {1, -2, 0.5f, 3, 3, 0.25f}),
                     floats("dy", {1, 6, 1}, {1, 2, -3, 0.5f, 4, -1})};
    if (both) inputs.push_back(floats("dy_reverse", {1, 6, 1}, {0.5f, -1, 2, 1, -2, 3}));
    const auto parameters = of_column(example.op, 6, both ? "both" : "forward");
    for (const std::string& variant : variant_names()) {
        INFO(variant << " " << example.op);
        check_close(run(variant, parameters, inputs)["dx"], both ? example.both : example.forward, 1e-5);
    }
}

// dx and the others hold the derivatives by real and imaginary parts, as in PyTorch.
TEST_CASE("gradients of a small complex recurrence are those of an independent program", "[scan][cpu]") {
    const auto numbers = [](const char* name, Shape shape, const std::vector<Complex>& values) {
        return filled(name, Dtype::complex64, std::move(shape), values);
    };
    const Arrays inputs = {
        numbers("a", {1, 4, 1}, {{0.5f, 0.5f}, {0, -1}, 0.25f, {1, -1}}),
        numbers("x", {1, 4, 1}, {1, {0, 2}, {-1, 1}, 3}),
        numbers("initial", {1, 1}, {{2, -1}}),
        numbers("dy", {1, 4, 1}, {{1, 1}, -2, {0, 0.5f}, 1}),
    };
    const std::vector<std::pair<const char*, std::vector<Complex>>> expected = {
        {"y", {{2.5f, 0.5f}, {0.5f, -0.5f}, {-0.875f, 0.875f}, {3, 1.75f}}},
        {"dx", {{0.625f, -0.75f}, {-1.75f, 0.375f}, {1, 1.5f}, 1}},
        {"da", {{2, -0.875f}, {-4.1875f, 1.8125f}, {-0.25f, 1.25f}, {-0.875f, -0.875f}}},
        {"dinitial", {{-0.0625f, -0.6875f}}}};
    for (const std::string& variant : variant_names()) {
        const Ran ran = run(variant, of_column("complex_linear", 4, "forward"), inputs);
        for (const auto& [name, values] : expected) {
            INFO(variant << " " << name);
            CHECK(std::ranges::equal(ran[name].as<Complex>(), values));  // every number is exact in f32
        }
    }
}

TEST_CASE("gradients agree with central differences of the reference", "[scan]") {
    const std::string op = GENERATE("linear", "complex_linear", "complex_sum", "product", "logcumsumexp");
    const std::string direction = GENERATE("forward", "reverse", "both");
    const auto parameters = scan_parameters({{"batch", int64_t{1}},
                                             {"length", int64_t{6}},
                                             {"channels", int64_t{2}},
                                             {"op", op},
                                             {"direction", direction},
                                             {"backward", true}});
    Arrays inputs = generated_inputs(parameters, true);
    const Arrays gradients = reference_for(parameters, inputs);
    const auto loss = [&] {
        const Arrays outputs = reference_for(parameters, inputs);
        double sum = 0;
        for (const char* name : {"y", "y_reverse"})
            if (const Array* const dy = find(inputs, std::string("d") + name))
                for (int64_t i = 0; i < dy->count(); ++i)
                    sum += (find(outputs, name)->value(i) * std::conj(dy->value(i))).real();
        return sum;
    };
    for (const char* name : {"x", "a", "initial"}) {
        Array* const input = find(inputs, name);
        if (!input) continue;
        const Array& gradient = *find(gradients, std::string("d") + name);
        for (size_t i = 0; i < input->as<float>().size(); ++i) {
            // The step is exact in f32. The loss is nearly linear in every input, up to its own curvature.
            constexpr float step = 1.0f / 256;
            const float value = input->as<float>()[i];
            input->as<float>()[i] = value + step;
            const double above = loss();
            input->as<float>()[i] = value - step;
            const double below = loss();
            const double width = static_cast<double>(value + step) - static_cast<double>(value - step);
            input->as<float>()[i] = value;
            INFO(op << " " << direction << " d" << name << " number " << i);
            CHECK(gradient.as<double>()[i] == Approx((above - below) / width).margin(1e-3));
        }
    }
}

TEST_CASE("the gradient of both directions is the sum of those of each", "[scan][cpu]") {
    const std::string op = GENERATE(from_range(every_op));
    Settings settings = {{"length", int64_t{501}}, {"channels", int64_t{3}},     {"op", op},
                         {"backward", true},       {"block_size", int64_t{128}}, {"direction", "both"}};
    const auto both = scan_parameters(settings);
    Arrays inputs = generated_inputs(both, true);
    settings.back().second = "forward";
    const Parameters forward = scan_parameters(settings);
    settings.back().second = "reverse";
    const Parameters reverse = scan_parameters(settings);
    for (const std::string& variant : variant_names()) {
        const Ran sum = run(variant, both, inputs), one = run(variant, forward, inputs);
        Arrays turned = inputs;
        Array dy = *find(inputs, "dy_reverse");
        dy.name = "dy";
        *find(turned, "dy") = dy;
        const Ran other = run(variant, reverse, turned);
        for (const char* name : {"dx", "da", "dinitial"}) {
            if (!find(sum.outputs, name)) continue;
            INFO(variant << " " << op << " " << name);
            int64_t wrong = 0;  // both are stored in f32 and added
            for (size_t i = 0; i < sum[name].as<float>().size(); ++i)
                wrong += sum[name].as<float>()[i] != one[name].as<float>()[i] + other[name].as<float>()[i];
            CHECK(wrong == 0);
        }
    }
}

// A maximum and a logarithm of exponentials rise by c if every input does.
TEST_CASE("gradients of operators that follow a shift of x sum up to those of y", "[scan][cpu]") {
    const std::string op = GENERATE("max", "min", "logcumsumexp");
    const auto parameters = scan_parameters({{"batch", int64_t{2}},
                                             {"length", int64_t{3001}},
                                             {"channels", int64_t{3}},
                                             {"op", op},
                                             {"backward", true}});
    const Arrays inputs = generated_inputs(parameters);
    const auto sum = [](const Array& array) {
        double all = 0;
        for (int64_t i = 0; i < array.count(); ++i) all += array.value(i).real();
        return all;
    };
    for (const std::string& variant : variant_names())
        CHECK(sum(run(variant, parameters, inputs)["dx"]) == Approx(sum(*find(inputs, "dy"))).margin(0.02));
}

// Neighbouring outputs of 16 bits round alike, so that roundings do not cancel where gradients have one sign.
TEST_CASE("gradients of long sequences are right in 16 bits where all of dy is 1", "[scan][cpu][cuda]") {
    const std::string op = GENERATE("product", "max", "linear", "logcumsumexp");
    const std::string dtype = GENERATE("f16", "bf16");
    const auto parameters = scan_parameters({{"batch", int64_t{1}},
                                             {"length", int64_t{4096}},
                                             {"channels", int64_t{4}},
                                             {"op", op},
                                             {"direction", "both"},
                                             {"dtype", dtype},
                                             {"backward", true}});
    Arrays inputs = generated_inputs(parameters);
    for (const char* const name : {"dy", "dy_reverse"})
        std::ranges::fill(find(inputs, name)->as<float>(), 1.0f);
    check_on_every_backend(parameters, inputs);
}

TEST_CASE("the gradient of a product at a zero is the product of the others", "[scan][cpu]") {
    // y_3 = x_0 x_1 x_2 x_3 is 0, its derivative by x_1 is 2 * 3 * 5 = 30; a division would give NaN.
    const Arrays inputs = {floats("x", {1, 4, 1}, {2, 0, 3, 5}), floats("dy", {1, 4, 1}, {0, 0, 0, 1})};
    for (const std::string& variant : variant_names())
        check_close(run(variant, of_column("product", 4, "forward"), inputs)["dx"], {0, 30, 0, 0}, 0);
}

TEST_CASE("a gradient that is not finite reaches only the position that holds the maximum", "[scan][cpu]") {
    const float strange = GENERATE(NAN, INFINITY);
    const std::string direction = GENERATE("forward", "reverse");
    const auto parameters = of_column("max", 1000, direction.c_str());
    Arrays inputs = generated_inputs(parameters);
    auto x = find(inputs, "x")->as<float>();
    x[500] = 100;
    find(inputs, "dy")->as<float>()[direction == "forward" ? 700 : 300] = strange;
    for (const std::string& variant : variant_names()) {
        const Ran ran = run(variant, parameters, inputs);
        for (int64_t i = 0; i < 1000; ++i) CHECK(std::isfinite(ran["dx"].value(i).real()) == (i != 500));
    }
}

TEST_CASE("of equal values and of NaN the first one gets the gradient", "[scan][cpu]") {
    const float value = GENERATE(0.0f, 7.0f, INFINITY, -INFINITY, NAN);
    const std::string op = GENERATE("max", "min");
    const auto parameters = of_column(op.c_str(), 300, "forward");
    Arrays inputs = generated_inputs(parameters);
    fill(*find(inputs, "x"), value);
    fill(*find(inputs, "dy"), 1);
    for (const std::string& variant : variant_names()) {
        const Ran ran = run(variant, parameters, inputs);
        INFO(variant << " " << op << " of " << value);
        CHECK(ran["dx"].value(0).real() == 300);
        CHECK(std::abs(ran["dx"].value(150).real()) == 0);
    }
}

TEST_CASE("a gradient of y_reverse alone asks for the backward pass of both", "[scan]") {
    const Array dy = floats("dy_reverse", {1, 2, 1}, {1, 2});
    CHECK(runs_backward(settled(scan_family(), {{"direction", "both"}}, {dy})));
    CHECK_FALSE(runs_backward(settled(scan_family(), {{"direction", "reverse"}}, {dy})));
}

}  // namespace
}  // namespace sawtooth
