// Generated inputs.

#include <cmath>

#include "kernels/ar_ssm/parts.h"
#include "kernels/core/fill.h"

namespace sawtooth::ar_ssm {

namespace {

// How often x is loud and quiet in turn, so that gates open and close along the sequence.
constexpr double waves = 3;

double loudness(int64_t position, int64_t length) {
    constexpr double pi = 3.14159265358979;
    constexpr double depth = 0.8;
    const double wave =
        std::cos(2 * pi * waves * static_cast<double>(position) / static_cast<double>(length));
    return (1 - depth * wave) / std::sqrt(1 + depth * depth / 2);  // makes the mean square 1
}

// Scales every position of x [batch, length, d_model] by its loudness.
void make_loud_and_quiet(Array& x) {
    const int64_t length = x.shape[1], width = x.shape[2];
    float* value = x.as<float>().data();
    for (int64_t token = 0; token < x.shape[0] * length; ++token) {
        const auto loud = static_cast<float>(loudness(token % length, length));
        for (int64_t channel = 0; channel < width; ++channel) *value++ *= loud;
    }
}

// The hidden layer of a loud position adds about `gain` to the logits of all ranks. Rank j opens above a
// threshold between first_threshold and last_threshold.
constexpr double gain = 9, first_threshold = 1, last_threshold = 5;

void raise_gates(Array& gate_w2) {
    const auto hidden = static_cast<double>(gate_w2.shape.back());
    for (float& weight : gate_w2.as<float>()) weight += static_cast<float>(gain / hidden);
}

Array thresholds(const std::string& name, int64_t rank) {
    Array bias = Array::zeros(name, Dtype::f32, {rank});
    for (int64_t j = 0; j < rank; ++j)
        bias.as<float>()[static_cast<size_t>(j)] = -static_cast<float>(
            first_threshold +
            (last_threshold - first_threshold) * (static_cast<double>(j) + 0.5) / static_cast<double>(rank));
    return bias;
}

// Numbers of the Gumbel distribution, -log(-log(share)).
void draw_noise(Array& noise, Random random, const std::stop_token& stop) {
    fill(noise.as<float>(), stop, [&] { return -std::log(-std::log(random.uniform(1e-9, 1 - 1e-9))); });
}

}  // namespace

// x and dy have variance 1, weights variance 1 / fan_in, where fan_in is the size of their last dimension.
// Biases are 0, except for gate_b2, which holds the thresholds of the gates.
Array generate(const ArraySpec& spec, const Parameters& parameters, const Arrays& so_far, Random random,
               std::stop_token stop) {
    const Shape shape = spec.shape_for(parameters, so_far);
    if (spec.name == "gate_b2") return thresholds(spec.name, shape.front());
    if (shape.size() == 1) return Array::zeros(spec.name, Dtype::f32, shape);
    const bool is_weight = shape.size() == 2;
    const double scale = is_weight ? 1 / std::sqrt(static_cast<double>(shape.back())) : 1;
    Array array = Array::uninitialised(spec.name, Dtype::f32, shape);
    if (spec.name == "gate_noise") {
        draw_noise(array, random, stop);
        return array;
    }
    fill(array.as<float>(), stop, [&] { return scale * random.normal(); });
    if (spec.name == "x") make_loud_and_quiet(array);
    if (spec.name == "gate_w2") raise_gates(array);
    return array;
}

}  // namespace sawtooth::ar_ssm
