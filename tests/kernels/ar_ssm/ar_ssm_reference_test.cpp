// The double-precision reference of the AR-SSM layer: cases worked out by hand, the definition written
// naively, and derivatives.

#include <cmath>

#include "kernels/core/noisy.h"
#include "tests/kernels/ar_ssm/run_ar_ssm.h"
#include "tests/kit/catch.h"
#include "tests/kit/run_judge.h"

namespace sawtooth {
namespace {

using namespace ar_ssm_facts;

double number(const Arrays& arrays, std::string_view name, int64_t at) {
    return find(arrays, name)->value(at).real();
}

void set(Arrays& arrays, std::string_view name, const std::vector<float>& values) {
    Array& array = *find(arrays, name);
    REQUIRE(array.as<float>().size() == values.size());
    std::ranges::copy(values, array.as<float>().begin());
}

void check(const Arrays& outputs, std::string_view name, const std::vector<double>& wanted) {
    const Array& output = *find(outputs, name);
    REQUIRE(output.count() == static_cast<int64_t>(wanted.size()));
    for (int64_t i = 0; i < output.count(); ++i) {
        INFO(name << "[" << i << "]");
        CHECK(output.value(i).real() == Approx(wanted[static_cast<size_t>(i)]).epsilon(1e-14).margin(1e-14));
    }
}

// Three positions of two channels: U reads the first and V the second. Every logit is 0.
struct ByHand {
    Parameters parameters;
    Arrays inputs;

    explicit ByHand(bool bidirectional = false, const std::string& mode = "soft")
        : parameters(parameters_with({{"length", int64_t{3}},
                                      {"d_model", int64_t{2}},
                                      {"max_rank", int64_t{1}},
                                      {"gate_hidden", int64_t{1}},
                                      {"bidirectional", bidirectional},
                                      {"gate_mode", mode},
                                      {"backward", true}})),
          inputs(inputs_for(parameters)) {
        set(inputs, "x", {1, 4, 2, 5, 3, 6});
        set(inputs, "conv", {1, 10, 100, 1, 10, 100});
        set(inputs, "gate_w1", {1, 1});
        set(inputs, "gate_b1", {-8});
        set(inputs, "gate_w2", {0});
        set(inputs, "gate_b2", {0});
        set(inputs, "u_proj", {1, 0});
        set(inputs, "v_proj", {0, 1});
        set(inputs, "out_proj", {2, -1});
        set(inputs, "out_bias", {0.25f, 0.5f});
        set(inputs, "dy", {1, 0, 0, 0, 0, 0});
    }
    Arrays outputs() const { return reference_for(parameters, inputs); }
};

TEST_CASE("three positions of ar_ssm by hand", "[ar_ssm]") {
    // t = 210 321 32 and 540 654 65.
    const Arrays soft = ByHand().outputs();  // u = 0.5 1 1.5, c = 0.5 1.5 3, v = 2 2.5 3
    check(soft, "gates", {0.5, 0.5, 0.5});
    check(soft, "effective_rank", {0.5, 0.5, 0.5});
    check(soft, "y", {212.25, 539.5, 328.75, 650.75, 50.25, 56.5});
    const Arrays both = ByHand(true).outputs();  // c + c_rev = 3.5 4 4.5
    check(both, "y", {112.25, 267, 170.75, 322.5, 29.75, 26.25});
    const Arrays hard = ByHand(false, "hard").outputs();  // u = 1 2 3, c = 1 3 6, v = 4 5 6
    check(hard, "gates", {1, 1, 1});
    check(hard, "y", {218.25, 536.5, 351.25, 639.5, 104.25, 29.5});
}

TEST_CASE("gradients of the first output of ar_ssm by hand", "[ar_ssm]") {
    // y[0, 0] = 10 x[0, 0] + 100 x[1, 0] + 2 g^2 x[0, 0] x[0, 1] + b_o.
    const Arrays soft = ByHand().outputs();
    check(soft, "dx", {10 + 2, 0.5, 100, 0, 0, 0});
    check(soft, "dconv", {0, 1, 2, 0, 0, 0});
    check(soft, "dout_proj", {1, 0});
    check(soft, "dout_bias", {1, 0});
    check(soft, "du_proj", {2, 8});
    check(soft, "dv_proj", {0.5, 2});
    // The gate's gradient is 4 g x[0, 0] x[0, 1] = 8, that of the sigmoid 1/4; relu of 1 + 4 - 8 is 0.
    check(soft, "dgate_b2", {2});
    check(soft, "dgate_w2", {0});
    check(soft, "dgate_w1", {0, 0});
    // From the end u[1] and u[2] reach y[0] too: 5 x[0, 0] + 50 x[1, 0] + w + b_o, where
    // w = g^2 (2 x[0, 0] + x[1, 0] + x[2, 0]) x[0, 1] = 7.
    const Arrays both = ByHand(true).outputs();
    check(both, "dout_proj", {3.5, 0});
    check(both, "dx", {5 + 2, 1.75, 50 + 1, 0, 1, 0});
    // A gate of 1 is differentiated as the soft gate of 1/2: 4 g x[0, 0] x[0, 1] / 4.
    const Arrays hard = ByHand(false, "hard").outputs();
    check(hard, "dgate_b2", {4});
    check(hard, "dx", {10 + 8, 2, 100, 0, 0, 0});
}

TEST_CASE("gates of ar_ssm are the sigmoid of two layers, hard from one half on", "[ar_ssm]") {
    ByHand by_hand;
    // Hidden units 0, 0 and 1; logits ln 3, ln 3 and -ln 3.
    set(by_hand.inputs, "gate_w2", {static_cast<float>(-2 * std::log(3.0))});
    set(by_hand.inputs, "gate_b2", {static_cast<float>(std::log(3.0))});
    const Arrays soft = by_hand.outputs();
    for (int64_t l = 0; l < 3; ++l)
        CHECK(number(soft, "gates", l) == Approx(l < 2 ? 0.75 : 0.25).epsilon(1e-7));
    by_hand.parameters.set("gate_mode", "hard");
    check(by_hand.outputs(), "gates", {1, 1, 0});
    // The smallest negative logit is below the jump, zero of either sign is not.
    for (const float logit : {-0x1p-149f, -0.0f, 0.0f}) {
        set(by_hand.inputs, "gate_w2", {0});
        set(by_hand.inputs, "gate_b2", {logit});
        const double gate = logit < 0 ? 0 : 1;
        check(by_hand.outputs(), "gates", {gate, gate, gate});
    }
}

// The layer by its definition, one number after another. Hard gates are soft ones plus a constant, so that
// their derivative is the straight-through one.
class Naive {
  public:
    Naive(const Parameters& parameters, const Arrays& inputs)
        : sizes_(parameters), inputs_(inputs), jumps_(soft_gates().size()) {
        if (!sizes_.hard) return;
        const std::vector<double> soft = soft_gates();
        for (size_t i = 0; i < soft.size(); ++i) jumps_[i] = (soft[i] >= 0.5 ? 1 : 0) - soft[i];
    }

    std::vector<double> y() const {
        std::vector<double> gates = soft_gates();
        for (size_t i = 0; i < gates.size(); ++i) gates[i] += jumps_[i];
        const auto factor = [&](const char* projection, int64_t b, int64_t l, int64_t r) {
            return dot(projection, r, b, l) *
                   gates[static_cast<size_t>((b * sizes_.length + l) * sizes_.rank + r)];
        };
        std::vector<double> y;
        for (int64_t b = 0; b < sizes_.batch; ++b)
            for (int64_t l = 0; l < sizes_.length; ++l)
                for (int64_t d = 0; d < sizes_.width; ++d) {
                    double t = 0, uv = in("out_bias", d), uv_rev = uv;
                    for (int64_t k = 0; k < 3; ++k)
                        if (l + k >= 1 && l + k <= sizes_.length)
                            t += in("conv", d * 3 + k) * x(b, l + k - 1, d);
                    for (int64_t r = 0; r < sizes_.rank; ++r)
                        for (int64_t j = 0; j < sizes_.length; ++j) {
                            const double term = factor("u_proj", b, j, r) * factor("v_proj", b, l, r) *
                                                in("out_proj", d * sizes_.rank + r);
                            if (j <= l) uv += term;
                            if (j >= l) uv_rev += term;
                        }
                    y.push_back(sizes_.bidirectional ? (t + uv + uv_rev) / 2 : t + uv);
                }
        return y;
    }

  private:
    double in(const char* name, int64_t at) const { return number(inputs_, name, at); }
    double x(int64_t b, int64_t l, int64_t d) const {
        return in("x", (b * sizes_.length + l) * sizes_.width + d);
    }
    double dot(const char* weight, int64_t row, int64_t b, int64_t l) const {
        double sum = 0;
        for (int64_t d = 0; d < sizes_.width; ++d) sum += in(weight, row * sizes_.width + d) * x(b, l, d);
        return sum;
    }
    std::vector<double> soft_gates() const {
        std::vector<double> gates;
        for (int64_t b = 0; b < sizes_.batch; ++b)
            for (int64_t l = 0; l < sizes_.length; ++l)
                for (int64_t r = 0; r < sizes_.rank; ++r) {
                    double logit = in("gate_b2", r);
                    for (int64_t h = 0; h < sizes_.hidden; ++h)
                        logit += in("gate_w2", r * sizes_.hidden + h) *
                                 std::max(dot("gate_w1", h, b, l) + in("gate_b1", h), 0.0);
                    if (sizes_.gumbel) logit = (logit + in("gate_noise", std::ssize(gates))) / 0.75;
                    gates.push_back(1 / (1 + std::exp(-logit)));
                }
        return gates;
    }

    ar_ssm::Sizes sizes_;
    const Arrays& inputs_;
    std::vector<double> jumps_;
};

// Parameters with inputs of bf16, so that a step away from each number is exact.
Parameters small(bool bidirectional, const std::string& mode) {
    return parameters_with({{"batch", int64_t{2}},
                            {"length", int64_t{5}},
                            {"d_model", int64_t{3}},
                            {"max_rank", int64_t{2}},
                            {"gate_hidden", int64_t{4}},
                            {"bidirectional", bidirectional},
                            {"gate_mode", mode},
                            {"gate_temperature", 0.75},
                            {"dtype", "bf16"},
                            {"backward", true}});
}

TEST_CASE("the reference of ar_ssm gives the numbers of the definition", "[ar_ssm]") {
    const bool bidirectional = GENERATE(false, true);
    const std::string mode = GENERATE("soft", "hard", "gumbel");
    const auto parameters = small(bidirectional, mode);
    const Arrays inputs = inputs_for(parameters);
    check(reference_for(parameters, inputs), "y", Naive(parameters, inputs).y());
}

TEST_CASE("gradients of ar_ssm agree with central differences of the definition", "[ar_ssm]") {
    const bool bidirectional = GENERATE(false, true);
    const std::string mode = GENERATE("soft", "hard", "gumbel");
    const auto parameters = small(bidirectional, mode);
    Arrays inputs = inputs_for(parameters);
    const Arrays gradients = reference_for(parameters, inputs);
    CHECK(gradients.size() == 13);
    const Array dy = *find(inputs, "dy");
    const Naive layer(parameters, inputs);
    const auto loss = [&] {
        const std::vector<double> y = layer.y();
        double sum = 0;
        for (size_t i = 0; i < y.size(); ++i) sum += y[i] * dy.value(static_cast<int64_t>(i)).real();
        return sum;
    };
    constexpr float step = 0x1p-15f;
    std::vector<std::string> names = weights;
    names.emplace_back("x");
    for (const std::string& name : names) {
        const Array& gradient = *find(gradients, "d" + name);
        Array& input = *find(inputs, name);
        REQUIRE(gradient.shape == input.shape);
        for (size_t i = 0; i < input.as<float>().size(); ++i) {
            float& value = input.as<float>()[i];
            const float middle = value;
            value = middle + step;
            const double after = loss();
            value = middle - step;
            const double before = loss();
            value = middle;
            INFO(mode << (bidirectional ? " bidirectional " : " ") << name << "[" << i << "]");
            // The error is the third derivative, of order 1 to 100, times step^2 / 6, plus roundings divided
            // by the step.
            CHECK(gradient.value(static_cast<int64_t>(i)).real() ==
                  Approx((after - before) / (2 * step)).epsilon(1e-7).margin(1e-7));
        }
    }
}

Arrays definition_of(const Variant& variant, const Parameters& parameters, const Arrays& inputs,
                     bool noisy = false) {
    return *ar_ssm::definition(
        {.variant = variant, .parameters = parameters, .inputs = inputs, .noisy = noisy});
}

TEST_CASE("every variant of ar_ssm has the reference as its definition", "[ar_ssm]") {
    const bool bidirectional = GENERATE(false, true);
    const std::string mode = GENERATE("soft", "hard", "gumbel");
    const auto parameters = small(bidirectional, mode);
    const Arrays inputs = inputs_for(parameters), reference = reference_for(parameters, inputs);
    for (const Variant& variant : ar_ssm_family().variants) {
        INFO(variant.name);
        CHECK(same_bits(definition_of(variant, parameters, inputs), reference));
        // Here the noisy definition rounds only to f32, which shows that it has the same formulas.
        const NoiseScope noise({}, 1);
        for (const Array& drawn : definition_of(variant, parameters, inputs, true)) {
            INFO(drawn.name);
            CHECK(distance(drawn, *find(reference, drawn.name)) < 1e-5);
        }
    }
}

// Kernels settle such logits, like hidden units near 0, in double.
TEST_CASE("roundings open and close no hard gate of ar_ssm that is close to one half", "[ar_ssm]") {
    Settings settings = {{"length", int64_t{60}},
                         {"d_model", int64_t{24}},
                         {"max_rank", int64_t{12}},
                         {"gate_hidden", int64_t{20}},
                         {"backward", true}};
    Arrays inputs = inputs_for(parameters_with(settings));
    const Arrays soft = reference_for(parameters_with(settings), inputs);
    // The bias moves the logit of one position to 0, up to its own rounding.
    for (int64_t r = 0; r < 12; ++r) {
        const double gate = number(soft, "gates", 5 * r * 12 + r);
        auto& bias = find(inputs, "gate_b2")->as<float>()[static_cast<size_t>(r)];
        bias = static_cast<float>(bias - std::log(gate / (1 - gate)));
    }
    settings.emplace_back("gate_mode", "hard");
    const auto parameters = parameters_with(settings);
    const Arrays reference = reference_for(parameters, inputs);
    for (uint64_t seed = 1; seed <= 8; ++seed) {
        const NoiseScope noise({}, seed);
        const Arrays drawn = definition_of(ar_ssm_family().variants[0], parameters, inputs, true);
        CHECK(same_bits(*find(drawn, "gates"), *find(reference, "gates")));
        for (const Array& output : drawn) {
            INFO(output.name);
            CHECK(distance(output, *find(reference, output.name)) < 1e-5);
        }
    }
}

TEST_CASE("generated weights of ar_ssm have the variance of 1 / fan_in", "[ar_ssm]") {
    const auto parameters = parameters_with({{"length", int64_t{100}},
                                             {"d_model", int64_t{512}},
                                             {"max_rank", int64_t{32}},
                                             {"gate_hidden", int64_t{128}},
                                             {"backward", true}});
    const auto variance = [&](const std::string& name) {
        const Arrays inputs = generated_inputs(ar_ssm_family(), parameters);
        const Array& array = *find(inputs, name);
        double sum = 0;
        for (int64_t i = 0; i < array.count(); ++i) sum += std::norm(array.value(i));
        return sum / static_cast<double>(array.count());
    };
    // Every array has 1536 numbers or more, so the standard deviation of its mean square is 4 % or less.
    CHECK(variance("x") == Approx(1).epsilon(0.2));
    CHECK(variance("dy") == Approx(1).epsilon(0.2));
    CHECK(variance("conv") == Approx(1.0 / 3).epsilon(0.2));
    CHECK(variance("gate_w1") == Approx(1.0 / 512).epsilon(0.2));
    CHECK(variance("gate_w2") == Approx(1.0 / 128 + 81.0 / (128 * 128)).epsilon(0.2));  // a mean of 9 / 128
    CHECK(variance("u_proj") == Approx(1.0 / 512).epsilon(0.2));
    CHECK(variance("v_proj") == Approx(1.0 / 512).epsilon(0.2));
    CHECK(variance("out_proj") == Approx(1.0 / 32).epsilon(0.2));
    for (const char* bias : {"gate_b1", "out_bias"}) CHECK(variance(bias) == 0);
}

TEST_CASE("the minimum of work of ar_ssm is every array once and the products", "[ar_ssm]") {
    const Settings sizes = {{"batch", int64_t{4}},
                            {"length", int64_t{8192}},
                            {"d_model", int64_t{512}},
                            {"max_rank", int64_t{32}},
                            {"dtype", "bf16"}};
    const Work forward = ar_ssm::work(parameters_with(sizes), {});
    const double x = 4 * 8192 * 512 * 2, gates = 4 * 8192 * 33 * 4;
    const double weights = 2 * (512 * 3 + 128 * 513 + 32 * 129 + 3 * 32 * 512 + 512);
    CHECK(forward.bytes == 2 * x + gates + weights);
    const double products = 2.0 * 4 * 8192 * (512 * (128 + 96) + 128 * 32);
    CHECK(forward.operations == Approx(products).epsilon(0.02));
    Parameters both = parameters_with(sizes);
    both.set("backward", true);
    CHECK(ar_ssm::work(both, {}).bytes == forward.bytes + 3 * x + 2 * weights);
    CHECK(ar_ssm::work(both, {}).operations == Approx(3 * products).epsilon(0.02));
    Parameters more = parameters_with(sizes);
    const double scans = 4 * 8192 * 32 * 4;
    more.set("bidirectional", true);
    const double both_ways = ar_ssm::work(more, {}).bytes;
    more.set("intermediates", true);
    CHECK(ar_ssm::work(more, {}).bytes == both_ways + 3 * x + scans + 2 * scans);
}

TEST_CASE("sequences of ar_ssm that are computed together have the numbers of each one alone", "[ar_ssm]") {
    constexpr int64_t batch = 21;  // so many that several fit in the memory of the outputs
    const auto with_batch = [](int64_t sequences) {
        return parameters_with({{"batch", sequences},
                                {"length", int64_t{7}},
                                {"d_model", int64_t{6}},
                                {"max_rank", int64_t{3}},
                                {"gate_hidden", int64_t{2}},
                                {"gate_mode", "gumbel"},
                                {"bidirectional", true}});
    };
    const Arrays inputs = inputs_for(with_batch(batch));
    const Arrays together = reference_for(with_batch(batch), inputs);
    for (int64_t sequence = 0; sequence < batch; ++sequence) {
        Arrays own = inputs_for(with_batch(1));
        for (Array& input : own) {
            const auto from = find(inputs, input.name)->as<float>();
            const auto count = static_cast<size_t>(input.count());
            const bool is_shared = from.size() == count;
            std::copy_n(from.begin() + (is_shared ? 0 : sequence * input.count()), count,
                        input.as<float>().begin());
        }
        for (const Array& alone : reference_for(with_batch(1), own)) {
            INFO(alone.name << " of sequence " << sequence);
            const auto wanted = alone.as<double>();
            const auto numbers = find(together, alone.name)->as<double>();
            CHECK(std::equal(wanted.begin(), wanted.end(), numbers.begin() + sequence * alone.count()));
        }
    }
}

TEST_CASE("of many long sequences of ar_ssm the first and the last are judged", "[ar_ssm]") {
    // The sequences together have a little more than 2^22 numbers, the most that are judged.
    constexpr int64_t length = 87'400, width = 16;
    const auto parameters = parameters_with({{"batch", int64_t{3}},
                                             {"length", length},
                                             {"d_model", width},
                                             {"max_rank", int64_t{1}},
                                             {"gate_hidden", int64_t{1}},
                                             {"gate_mode", "gumbel"}});
    const Arrays inputs = inputs_for(parameters);
    Arrays outputs = run(ar_ssm_family(), "fused", parameters, inputs).outputs;
    const auto y = find(outputs, "y")->as<float>();
    y.front() += 1;
    y[length * width] += 1;  // the second sequence
    y.back() += 1;
    for (const OutputVerdict& verdict : judged(ar_ssm_family(), "fused", parameters, inputs, outputs)) {
        INFO(verdict.output);
        CHECK(verdict.verdict == (verdict.output == "y" ? Verdict::wrong : Verdict::right));
        if (verdict.output == "gates") CHECK(verdict.judged == 2 * length);
        if (verdict.output == "y") CHECK(verdict.elements == 2);
    }
}

TEST_CASE("the reference of ar_ssm stops on request", "[ar_ssm]") {
    const auto parameters = parameters_with({{"backward", true}});
    std::stop_source stop;
    stop.request_stop();
    const auto outcome = ar_ssm::reference(parameters, inputs_for(parameters), stop.get_token());
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().kind == Error::Kind::cancelled);
}

}  // namespace
}  // namespace sawtooth
