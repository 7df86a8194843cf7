#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>

#include "kernels/core/common_parameters.h"
#include "kernels/core/noisy.h"
#include "kernels/lut_table/sizes.h"

namespace sawtooth::lut_table::definitions {

// Parts of the definitions of both families, for any number type. Only the references use them, so that no
// kernel is judged by its own code.

// The bits of several numbers: bit r is set if number r is above eps. The weakest number is the one with the
// smallest magnitude, the first of them if several are equal.
struct Bits {
    int32_t index = 0;
    float weakest = 0;
    int32_t weakest_bit = -1;  // -1: there is no number

    void add(int64_t r, float number, float eps) {
        if (number > eps) index |= 1 << r;
        if (weakest_bit >= 0 && !(std::abs(number) < std::abs(weakest))) return;
        weakest = number;
        weakest_bit = static_cast<int32_t>(r);
    }
    double magnitude() const { return std::abs(weakest); }
    // The index with the weakest bit flipped.
    int64_t flipped() const { return index ^ (1 << weakest_bit); }
};

// Returns the bits of the differences x[first] - x[second], in f32, for the anchors [count, 2] of a detector.
inline Bits bits_of(const float* x, const int32_t* anchors, int64_t count, float eps) {
    Bits bits;
    for (int64_t r = 0; r < count; ++r) {
        const int32_t first = anchors[2 * r], second = anchors[2 * r + 1];
        if (first >= 0 && second >= 0) bits.add(r, x[first] - x[second], eps);
    }
    return bits;
}

// Returns up'(d) = 0.5 sign(d) / (1 + |d|)^2, with sign(0) = -1.
template <class Real>
Real surrogate_derivative(float d) {
    const Real sign = d > 0 ? 1 : -1, reach = 1 + Real(std::abs(d));
    return 0.5 * sign / (reach * reach);
}

// Returns du = g up'(d), or 0 if its magnitude is at most eps or d is NaN.
template <class Real>
Real propagated(Real g, float d, float eps) {
    const Real du = g * surrogate_derivative<Real>(d);
    return std::isnan(d) || std::abs(value_of(du)) <= double{eps} ? Real(0) : du;
}

// The synapses of all neurons. With full connectivity a neuron has one for each output.
template <class Real>
class Table {
  public:
    Table(const Parameters& parameters, const Arrays& inputs)
        : outputs_(parameters.integer("outputs")), lr_(parameters.real("lr")) {
        const bool sparse = is_sparse(parameters);
        weights_ = numbers<float>(inputs, sparse ? "synapse_weights" : "weights");
        if (!sparse) return;
        offsets_ = numbers<int32_t>(inputs, "synapse_offsets");
        targets_ = numbers<int32_t>(inputs, "synapse_targets");
        meta_ = numbers<int32_t>(inputs, "synapse_meta");
        meta_lr_ = numbers<float>(inputs, "meta_lr");
    }

    // Calls each(synapse, output) for the synapses of the neuron.
    template <class Each>
    void for_each_synapse(int64_t neuron, Each&& each) const {
        const int64_t first = offsets_ ? offsets_[neuron] : neuron * outputs_;
        const int64_t last = offsets_ ? offsets_[neuron + 1] : first + outputs_;
        for (int64_t s = first; s < last; ++s) each(s, targets_ ? targets_[s] : s - first);
    }
    Real weight(int64_t synapse) const { return weights_[synapse]; }
    // Returns what the output gradient dy adds to the gradient of the weight.
    Real gradient(int64_t synapse, Real dy) const {
        if (!meta_) return dy * lr_;
        const double meta_rate = meta_lr_[meta_[synapse]];
        // Kernels may multiply the sum of dy. With an infinite rate this gives an infinity where infinities
        // of both signs give NaN, so that noise leaves out the sign of dy.
        if constexpr (std::is_same_v<Real, Noisy>)
            if (std::isinf(meta_rate)) return Real(meta_rate);
        return dy * lr_ * meta_rate;
    }

  private:
    template <class Number>
    static const Number* numbers(const Arrays& inputs, std::string_view name) {
        const Array* const array = find(inputs, name);
        return array ? array->as<Number>().data() : nullptr;
    }

    int64_t outputs_;
    double lr_;
    const float *weights_, *meta_lr_ = nullptr;
    const int32_t *offsets_ = nullptr, *targets_ = nullptr, *meta_ = nullptr;
};

// The terms of sums. With `arithmetic` = integer they are whole multiples of 2^-20 / rescale, whose sums f64
// holds exactly as long as they fit into int32; otherwise any numbers.
template <class Real>
class Terms {
  public:
    explicit Terms(const Parameters& parameters)
        : integer_(parameters.is("arithmetic", "integer")), rescale_(parameters.real("rescale")) {}

    Real term(Real value) const {
        return integer_ ? Real(std::rint(value_of(value) * rescale_ * 0x1p20)) : value;
    }
    Real value(Real sum) const { return integer_ ? Real(value_of(sum) / 0x1p20 / rescale_) : sum; }
    // Numbers that are not finite overflow too.
    bool overflows(double sum) const {
        using Limits = std::numeric_limits<int32_t>;
        return integer_ && !(sum >= Limits::min() && sum <= Limits::max());
    }
    Error overflow(const std::string& array) const {
        return Error::failure("A sum of " + array + " does not fit into 32 bits with rescale = " +
                              to_text(Value(rescale_)) + ". Use a smaller rescale.");
    }

  private:
    bool integer_;
    double rescale_;
};

// The sums of weight times dy over the synapses of neurons.
template <class Real>
class Gather {
  public:
    Gather(const Table<Real>& table, const Terms<Real>& terms) : table_(table), terms_(terms) {}

    // sum_o dy_o w(neuron, o).
    Real operator()(int64_t neuron, const float* dy) {
        Real sum = 0;
        table_.for_each_synapse(neuron, [&](int64_t synapse, int64_t output) {
            sum += terms_.term(table_.weight(synapse) * dy[output]);
        });
        overflows_ = overflows_ || terms_.overflows(value_of(sum));
        return terms_.value(sum);
    }
    // sum_o dy_o w(neuron, o) - sum_o dy_o w(other, o). Kernels may subtract the weights first. This gives an
    // infinity where two infinite sums give NaN, so that noise does so, too.
    Real difference(int64_t neuron, int64_t other, const float* dy) {
        const Real sum = (*this)(neuron, dy), of_other = (*this)(other, dy);
        if constexpr (std::is_same_v<Real, Noisy>)
            if (std::isinf(value_of(sum)) && std::isinf(value_of(of_other))) return sum;
        return sum - of_other;
    }
    // Whether a sum has overflowed so far.
    bool overflows() const { return overflows_; }

  private:
    Table<Real> table_;
    Terms<Real> terms_;
    bool overflows_ = false;
};

// Calls visit(detector) for all detectors. Kernels add what they choose in any order, and if a large row
// comes first, all later sums round more. So the noise begins with any detector.
template <class Real, class Visit>
void for_each_detector(int64_t count, Visit visit) {
    int64_t first = 0;
    if constexpr (std::is_same_v<Real, Noisy>) first = NoiseScope::choice(count);
    for (int64_t n = 0; n < count; ++n) visit((first + n) % count);
}

// The sums that become an output.
template <class Real>
class Sums {
  public:
    Sums(const Terms<Real>& terms, const char* name, Shape shape)
        : terms_(terms),
          array_(Array::zeros(name, Dtype::f64, std::move(shape))),
          sums_(array_.as<double>().data()) {}

    void add(int64_t at, Real value) { sums_[at] = value_of(sums_[at] + terms_.term(value)); }

    // Returns the numbers that the sums stand for. Error: a sum overflows.
    Outcome<Array> finish() {
        for (double& sum : array_.as<double>()) {
            if (terms_.overflows(sum)) return terms_.overflow(array_.name);
            sum = value_of(terms_.value(sum));
        }
        return array_;
    }

  private:
    Terms<Real> terms_;
    Array array_;
    double* sums_;
};

// Divides gradients, as kernels store them, by their largest magnitude, but at least by 1e-16; NaN is the
// largest.
template <class Real>
void normalise(Array& gradients) {
    double largest = 1e-16;
    for (double& gradient : gradients.as<double>()) {
        gradient = value_of(narrow(Real(gradient)));
        const double magnitude = std::abs(gradient);
        if (!std::isnan(largest) && !(magnitude <= largest)) largest = magnitude;
    }
    for (double& gradient : gradients.as<double>()) gradient = value_of(Real(gradient) / Real(largest));
}

// Computes dweights, and with the policy `internal` also weights_after.
template <class Real>
class WeightGradients {
  public:
    // With `in_steps` every gradient is subtracted from the weights as it comes, as atomics on a GPU do,
    // instead of their sum at the end.
    WeightGradients(const Parameters& parameters, const Arrays& inputs, bool in_steps)
        : weights_(*find(inputs, is_sparse(parameters) ? "synapse_weights" : "weights")),
          dweights_(Terms<Real>(parameters), "dweights",
                    runs_backward(parameters) ? weights_.shape : Shape{0}),
          limits_(parameters),
          normalises_(normalises(parameters)),
          in_steps_(in_steps) {
        if (!runs_backward(parameters) || !parameters.is("gradient_policy", "internal")) return;
        after_ = Array::uninitialised("weights_after", Dtype::f64, weights_.shape);
        std::copy_n(weights_.as<float>().data(), weights_.count(), after_->as<double>().data());
    }

    void add(int64_t at, Real gradient) {
        dweights_.add(at, gradient);
        if (after_ && in_steps_) subtract(at, gradient);
    }

    // Adds dweights and weights_after to the outputs. Error: a sum overflows.
    std::optional<Error> finish(Arrays& outputs) {
        const auto dweights = dweights_.finish();
        if (!dweights) return dweights.error();
        outputs.push_back(*dweights);
        if (!after_) return {};
        for (int64_t i = 0; !in_steps_ && i < after_->count(); ++i)
            subtract(i, narrow(Real(dweights->template as<double>()[static_cast<size_t>(i)])));
        for (double& weight : after_->as<double>())
            if (!std::isnan(weight)) weight = std::clamp(weight, double{limits_.least}, double{limits_.most});
        outputs.push_back(*after_);
        return {};
    }
    bool normalise_all() const { return normalises_; }

  private:
    void subtract(int64_t at, Real gradient) {
        double& weight = after_->as<double>()[static_cast<size_t>(at)];
        weight = value_of(weight - gradient);
    }

    const Array& weights_;
    Sums<Real> dweights_;
    std::optional<Array> after_;
    WeightLimits limits_;
    bool normalises_, in_steps_;
};

// Returns the outputs completed by those of the sums. `gradients` is null without a backward pass. Error: a
// sum overflows.
template <class Real>
Outcome<Arrays> finished(Arrays outputs, std::initializer_list<Sums<Real>*> all,
                         WeightGradients<Real>* gradients) {
    for (Sums<Real>* const sums : all) {
        auto array = sums->finish();
        if (!array) return array.error();
        outputs.push_back(std::move(*array));
    }
    if (gradients)
        if (const auto error = gradients->finish(outputs)) return *error;
    if (gradients && gradients->normalise_all())
        for (const char* name : {"dweights", "dpositional"})
            if (Array* const array = find(outputs, name)) normalise<Real>(*array);
    return outputs;
}

// Returns what a variant computes. The class Reference is given the parameters, the inputs, and whether
// weights are updated in steps.
template <template <class> class Reference>
Outcome<Arrays> definition_by(const DefinitionRequest& request) {
    const bool in_steps = request.variant.is_unordered(request.parameters);
    if (request.noisy)
        return Reference<Noisy>(request.parameters, request.inputs, in_steps).compute(request.stop);
    return Reference<double>(request.parameters, request.inputs, in_steps).compute(request.stop);
}

// Returns the float64 outputs without rounded terms as "VARIANT/NAME" if the reference rounds its terms, for
// the errors of the variants; nothing otherwise.
template <template <class> class Reference>
Outcome<Arrays> unrounded_by(const Parameters& parameters, const Arrays& inputs, std::stop_token stop) {
    Arrays named;
    if (!parameters.is("arithmetic", "integer")) return named;
    Parameters unrounded = parameters;
    unrounded.set("arithmetic", std::string("float"));
    const auto outputs = Reference<double>(unrounded, inputs, false).compute(stop);
    if (!outputs) return outputs.error();
    for (const char* variant : {"unfused", "fused"})
        for (Array array : *outputs) {
            array.name = variant + ("/" + array.name);
            named.push_back(std::move(array));
        }
    return named;
}

}  // namespace sawtooth::lut_table::definitions
