// The definition in float64, computed for one item and one detector after another:
//   delta_r = x[first_r] - x[second_r] in f32; bit r of the neuron n of a detector is set if delta_r > eps;
//   y_o = sum over detectors of w(n, o).
// In the gradients, n' is n with its weakest bit flipped, the one with the smallest |delta|:
//   g = sum_o dy_o w(n, o) - sum_o dy_o w(n', o); du = g up'(delta), or 0 if |du| <= eps or delta is NaN;
//   dx[first] += du, dx[second] -= du; dw(n, o) += dy_o lr.

#include "kernels/core/common_parameters.h"
#include "kernels/lut/parts.h"
#include "kernels/lut_table/definition.h"

namespace sawtooth::lut {
namespace {

using namespace definitions;

template <class Real>
class Reference {
  public:
    Reference(const Parameters& parameters, const Arrays& inputs, bool in_steps)
        : sizes_(parameters),
          backward_(runs_backward(parameters)),
          terms_(parameters),
          table_(parameters, inputs),
          gather_(table_, terms_),
          x_(find(inputs, "x")->as<float>().data()),
          dy_(backward_ ? find(inputs, "dy")->as<float>().data() : nullptr),
          anchors_(find(inputs, "anchors")->as<int32_t>().data()),
          lookup_index_(Array::zeros("lookup_index", Dtype::int32, {sizes_.batch, sizes_.detectors})),
          min_delta_(Array::zeros("min_delta", Dtype::f64, {sizes_.batch, sizes_.detectors})),
          min_delta_index_(Array::zeros("min_delta_index", Dtype::int32, {sizes_.batch, sizes_.detectors})),
          y_(terms_, "y", {sizes_.batch, sizes_.outputs}),
          dx_(terms_, "dx", backward_ ? Shape{sizes_.batch, sizes_.inputs} : Shape{0}),
          dweights_(parameters, inputs, in_steps) {}

    Outcome<Arrays> compute(const std::stop_token& stop) {
        for (int64_t item = 0; item < sizes_.batch; ++item) {
            if (stop.stop_requested()) return Error::cancelled();
            for_each_detector<Real>(sizes_.detectors, [&](int64_t detector) {
                const Bits bits = check(item, detector);
                forward(item, detector, bits);
                if (backward_) backward(item, detector, bits);
            });
        }
        return finish();
    }

  private:
    const int32_t* anchors(int64_t detector) const { return anchors_ + detector * sizes_.anchors * 2; }

    Bits check(int64_t item, int64_t detector) {
        const Bits bits = bits_of(x_ + item * sizes_.inputs, anchors(detector), sizes_.anchors, sizes_.eps);
        const auto at = static_cast<size_t>(item * sizes_.detectors + detector);
        lookup_index_.as<int32_t>()[at] = bits.index;
        min_delta_.as<double>()[at] = bits.weakest;
        min_delta_index_.as<int32_t>()[at] = bits.weakest_bit;
        return bits;
    }

    void forward(int64_t item, int64_t detector, const Bits& bits) {
        table_.for_each_synapse(detector * sizes_.rows + bits.index, [&](int64_t synapse, int64_t output) {
            y_.add(item * sizes_.outputs + output, table_.weight(synapse));
        });
    }

    void backward(int64_t item, int64_t detector, const Bits& bits) {
        const int64_t first_row = detector * sizes_.rows, neuron = first_row + bits.index;
        const float* const dy = dy_ + item * sizes_.outputs;
        table_.for_each_synapse(neuron, [&](int64_t synapse, int64_t output) {
            dweights_.add(synapse, table_.gradient(synapse, dy[output]));
        });
        if (bits.weakest_bit < 0) return;
        const Real g = gather_.difference(neuron, first_row + bits.flipped(), dy);
        const Real du = propagated(g, bits.weakest, sizes_.eps);
        const int32_t* const pair = anchors(detector) + 2 * bits.weakest_bit;
        dx_.add(item * sizes_.inputs + pair[0], du);
        dx_.add(item * sizes_.inputs + pair[1], -du);
    }

    Outcome<Arrays> finish() {
        if (gather_.overflows()) return terms_.overflow("gradient_sums");
        const Arrays found = {lookup_index_, min_delta_, min_delta_index_};
        if (!backward_) return finished<Real>(found, {&y_}, nullptr);
        return finished<Real>(found, {&y_, &dx_}, &dweights_);
    }

    Sizes sizes_;
    bool backward_;
    Terms<Real> terms_;
    definitions::Table<Real> table_;
    Gather<Real> gather_;
    const float *x_, *dy_;
    const int32_t* anchors_;
    Array lookup_index_, min_delta_, min_delta_index_;
    Sums<Real> y_, dx_;
    WeightGradients<Real> dweights_;
};

}  // namespace

Outcome<Arrays> reference(const Parameters& parameters, const Arrays& inputs, std::stop_token stop) {
    return Reference<double>(parameters, inputs, false).compute(stop);
}

Outcome<Arrays> unrounded_reference(const Parameters& parameters, const Arrays& inputs, bool,
                                    std::stop_token stop) {
    return unrounded_by<Reference>(parameters, inputs, stop);
}

Outcome<Arrays> definition(const DefinitionRequest& request) { return definition_by<Reference>(request); }

}  // namespace sawtooth::lut
