// Gumbel gates, the scan from the end, and what the steps of the AR-SSM layer pass on.

#include <cmath>

#include "tests/kernels/ar_ssm/run_ar_ssm.h"
#include "tests/kernels/families/schema_facts.h"
#include "tests/kit/contains.h"
#include "tests/kit/run_judge.h"

namespace sawtooth {
namespace {

using namespace ar_ssm_facts;
using Numbers = std::vector<double>;

Numbers numbers(const Arrays& arrays, std::string_view name) {
    const Array* const array = find(arrays, name);
    REQUIRE(array);
    Numbers all;
    for (int64_t i = 0; i < array->count(); ++i) all.push_back(array->value(i).real());
    return all;
}

TEST_CASE("gumbel gates are the sigmoid of logit plus noise over the temperature",
          "[ar_ssm][cpu][cuda][gpu]") {
    const auto parameters = parameters_with({{"length", int64_t{2}},
                                             {"d_model", int64_t{1}},
                                             {"max_rank", int64_t{2}},
                                             {"gate_mode", "gumbel"},
                                             {"gate_temperature", 0.5},
                                             {"backward", true}});
    Arrays inputs = inputs_for(parameters);
    const auto set = [&](const char* name, const std::vector<float>& values) {
        std::ranges::copy(values, find(inputs, name)->as<float>().begin());
    };
    // The hidden unit is 0, so that logits are 1 and -1. With the noise they are 1.25, 0.25, 0.5 and -2.
    for (const char* name : {"gate_w1", "gate_b1", "gate_w2"}) fill(*find(inputs, name), 0);
    set("gate_b2", {1, -1});
    set("gate_noise", {0.25f, 1.25f, -0.5f, -1});
    set("x", {1, 2});
    set("u_proj", {1, 1});
    set("v_proj", {1, 1});
    set("out_proj", {1, 1});
    set("dy", {1, 0});
    // 1 / (1 + exp(-2.5)), 1 / (1 + exp(-0.5)), 1 / (1 + exp(-1)) and 1 / (1 + exp(4)).
    const Numbers gates = {0.92414181997875655, 0.62245933120185459, 0.73105857863000488,
                           0.017986209962091559};
    // y[0] = t + sum of g^2, so that the gradient of a logit is 2 g g (1 - g) / 0.5.
    const Numbers dgate_b2 = {0.25914310478108415, 0.58512101410783046};
    const auto check = [&](const Arrays& outputs, double tolerance) {
        for (const auto& [name, wanted] : {std::pair("gates", gates), std::pair("dgate_b2", dgate_b2)}) {
            INFO(name);
            const Numbers got = numbers(outputs, name);
            REQUIRE(got.size() == wanted.size());
            for (size_t i = 0; i < got.size(); ++i) CHECK(got[i] == Approx(wanted[i]).epsilon(tolerance));
        }
    };
    check(reference_for(parameters, inputs), 1e-14);
    for (const Implementation& implementation : implementations(ar_ssm_family())) {
        INFO(implementation.name);
        check(implementation.run(parameters, inputs), 2e-6);
    }
}

TEST_CASE("gumbel gates without noise at temperature 1 are soft ones", "[ar_ssm][cpu][cuda][gpu]") {
    const std::string dtype = GENERATE("f32", "bf16");
    const auto settings = [&](const char* mode) {
        return parameters_with(sized(150, 24, 33, 5, {{"gate_mode", mode}, {"dtype", dtype}}));
    };
    Arrays inputs = inputs_for(settings("gumbel"));
    fill(*find(inputs, "gate_noise"), 0);
    for (const Implementation& implementation : implementations(ar_ssm_family())) {
        INFO(implementation.name << " " << dtype);
        const Arrays noisy = copied(implementation.run(settings("gumbel"), inputs));
        CHECK(same_bits(noisy, implementation.run(settings("soft"), inputs)));
    }
}

TEST_CASE("gumbel gates are right at every temperature, in every direction", "[ar_ssm][cpu][cuda][gpu]") {
    const double temperature = GENERATE(0.05, 0.7, 20.0);
    const bool anticausal = GENERATE(false, true);
    const auto parameters = parameters_with(sized(150, 24, 33, 40,
                                                  {{"gate_mode", "gumbel"},
                                                   {"gate_temperature", temperature},
                                                   {"bidirectional", true},
                                                   {"use_anticausal", anticausal}}));
    check_on_every_backend(parameters, inputs_for(parameters));
}

TEST_CASE("generated noise has the mean and the variance of the Gumbel distribution", "[ar_ssm]") {
    const auto parameters = parameters_with({{"gate_mode", "gumbel"}});
    const Numbers noise = numbers(inputs_for(parameters), "gate_noise");
    double sum = 0, squares = 0;
    for (const double number : noise) sum += number, squares += number * number;
    const auto count = static_cast<double>(noise.size());  // 16384: the mean is off by about 0.01
    const double mean = sum / count;
    CHECK(mean == Approx(0.5772).margin(0.04));                            // Euler's constant
    CHECK(squares / count - mean * mean == Approx(1.6449).epsilon(0.06));  // pi^2 / 6
}

TEST_CASE("without its anticausal part a bidirectional layer is the causal one", "[ar_ssm][cpu][cuda][gpu]") {
    const auto settings = [](const Settings& more) { return parameters_with(sized(150, 12, 5, 3, more)); };
    const Arrays inputs = inputs_for(settings({}));
    const auto causal = settings({}),
               without = settings({{"bidirectional", true}, {"use_anticausal", false}}),
               both = settings({{"bidirectional", true}});
    for (const Implementation& implementation : implementations(ar_ssm_family())) {
        INFO(implementation.name);
        const Arrays outputs = copied(implementation.run(causal, inputs));
        CHECK(same_bits(implementation.run(without, inputs), outputs));
        CHECK_FALSE(same_bits(implementation.run(both, inputs), outputs));
    }
}

TEST_CASE("the intermediates of unfused are right and make up y", "[ar_ssm][cpu][cuda][gpu]") {
    const bool bidirectional = GENERATE(false, true);
    const int64_t length = GENERATE(1, 65, 150), rank = GENERATE(5, 16);
    const std::string dtype = GENERATE("f32", "bf16");
    const auto parameters = parameters_with(sized(
        length, 12, rank, 3, {{"bidirectional", bidirectional}, {"dtype", dtype}, {"intermediates", true}}));
    const Arrays inputs = inputs_for(parameters);
    check_on_every_backend(parameters, inputs);
    const Arrays reference = reference_for(parameters, inputs);
    CHECK((find(reference, "c_rev") != nullptr) == bidirectional);
    const Numbers y = numbers(reference, "y"), t = numbers(reference, "t"), uv = numbers(reference, "uv"),
                  u = numbers(reference, "u"), c = numbers(reference, "c");
    const Numbers uv_rev = bidirectional ? numbers(reference, "uv_rev") : Numbers(y.size());
    for (size_t i = 0; i < y.size(); ++i)
        CHECK(y[i] == Approx((t[i] + uv[i] + uv_rev[i]) / (bidirectional ? 2 : 1)).margin(1e-12));
    const auto ranks = static_cast<size_t>(rank), row = static_cast<size_t>(length) * ranks;
    for (size_t i = 0; i < c.size(); ++i)
        CHECK(c[i] == Approx(u[i] + (i % row >= ranks ? c[i - ranks] : 0)).margin(1e-12));
    for (const Chip& chip : {processor, schema_facts::h200}) {
        CHECK_FALSE(ar_ssm_family().variant("unfused")->refusal(parameters, chip));
        CHECK(contains(*ar_ssm_family().variant("fused")->refusal(parameters, chip), "run unfused for them"));
    }
}

TEST_CASE("intermediates change no bit of other outputs", "[ar_ssm][cpu][cuda][gpu]") {
    const auto settings = [](bool returned) {
        return parameters_with(sized(150, 12, 5, 3, {{"bidirectional", true}, {"intermediates", returned}}));
    };
    const Arrays inputs = inputs_for(settings(true));
    for (const Implementation& implementation : implementations(ar_ssm_family())) {
        if (implementation.variant.name == "fused") continue;
        INFO(implementation.name);
        const Arrays with_them = copied(implementation.run(settings(true), inputs));
        for (const Array& output : implementation.run(settings(false), inputs))
            CHECK(same_bits(*find(with_them, output.name), output));
    }
}

}  // namespace
}  // namespace sawtooth
