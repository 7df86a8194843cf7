// The definition in float64, computed for one position j, detector and earlier position i after another. The
// bits Q of position j, K of position i and PE of the distance, which are set where positional[j - i - 1] >
// eps, choose the neuron n = (Q << (C + P)) | (K << P) | PE of the detector; y(j)_o += w(n, o). In the
// gradients, n' is n with the weakest bit of Q flipped if |delta Q| < |delta K|, otherwise with that of K:
//   g = sum_o dy(j)_o w(n, o) - sum_o dy(j)_o w(n', o); du = g up'(delta), or 0 if |du| <= eps or
//   delta is NaN, to the two anchors of that bit at position j or i; dw(n, o) += dy(j)_o lr.
// If the weakest bit of PE is weaker than both, the same with that bit flipped is added to dpositional.

#include <algorithm>
#include <type_traits>
#include <vector>

#include "kernels/core/common_parameters.h"
#include "kernels/lut_sequence/parts.h"
#include "kernels/lut_table/definition.h"

namespace sawtooth::lut_sequence {
namespace {

using namespace lut_table::definitions;

// The bits of each detector for several positions or distances, which are outputs.
class FoundBits {
  public:
    FoundBits(const std::string& prefix, Shape shape)
        : detectors_(shape.back()),
          arrays_{Array::zeros(prefix + "lookup_index", Dtype::int32, shape),
                  Array::zeros(prefix + "min_delta", Dtype::f64, shape),
                  Array::zeros(prefix + "min_delta_index", Dtype::int32, shape)},
          bits_(static_cast<size_t>(count_of(shape))) {}

    const Bits& at(int64_t place, int64_t detector) const {
        return bits_[static_cast<size_t>(place * detectors_ + detector)];
    }
    void set(int64_t place, int64_t detector, const Bits& bits) {
        const auto at = static_cast<size_t>(place * detectors_ + detector);
        bits_[at] = bits;
        arrays_[0].as<int32_t>()[at] = bits.index;
        arrays_[1].as<double>()[at] = bits.weakest;
        arrays_[2].as<int32_t>()[at] = bits.weakest_bit;
    }
    const Arrays& arrays() const { return arrays_; }

  private:
    int64_t detectors_;
    Arrays arrays_;
    std::vector<Bits> bits_;
};

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
          positional_(*find(inputs, "positional")),
          positions_("", {sizes_.batch, sizes_.length, sizes_.detectors}),
          distances_("positional_", {sizes_.distances(), sizes_.detectors}),
          y_(terms_, "y", {sizes_.batch, sizes_.length, sizes_.outputs}),
          dx_(terms_, "dx", backward_ ? Shape{sizes_.batch, sizes_.length, sizes_.inputs} : Shape{0}),
          dpositional_(terms_, "dpositional", backward_ ? positional_.shape : Shape{0}),
          dweights_(parameters, inputs, in_steps) {}

    Outcome<Arrays> compute(const std::stop_token& stop) {
        check_positions();
        check_distances();
        for (int64_t item = 0; item < sizes_.batch; ++item)
            for (int64_t j = 1; j < sizes_.length; ++j) {
                if (stop.stop_requested()) return Error::cancelled();
                for_each_detector<Real>(sizes_.detectors, [&](int64_t detector) {
                    for (const Pair& pair : pairs_of(item, j, detector)) compute_pair(pair);
                });
            }
        return finish();
    }

  private:
    // A pair of positions, by their numbers in the batch, for one detector.
    struct Pair {
        int64_t i, j, distance, detector;
        const Bits *q, *k, *positional;
    };

    const int32_t* anchors(int64_t detector) const { return anchors_ + detector * sizes_.anchors * 2; }
    int64_t neuron(const Pair& pair, int64_t q, int64_t k, int64_t positional) const {
        const int64_t row =
            (q << (sizes_.anchors + sizes_.positional)) | (k << sizes_.positional) | positional;
        return pair.detector * sizes_.rows + row;
    }

    void check_positions() {
        for (int64_t position = 0; position < sizes_.batch * sizes_.length; ++position)
            for (int64_t detector = 0; detector < sizes_.detectors; ++detector)
                positions_.set(
                    position, detector,
                    bits_of(x_ + position * sizes_.inputs, anchors(detector), sizes_.anchors, sizes_.eps));
    }

    void check_distances() {
        const float* numbers = positional_.as<float>().data();
        for (int64_t distance = 0; distance < sizes_.distances(); ++distance)
            for (int64_t detector = 0; detector < sizes_.detectors; ++detector) {
                Bits bits;
                for (int64_t r = 0; r < sizes_.positional; ++r) bits.add(r, *numbers++, sizes_.eps);
                distances_.set(distance, detector, bits);
            }
    }

    // The pairs of position j and an earlier one. Kernels may add those that choose the same neuron together,
    // which has larger partial sums than the order of positions. So does the noise.
    std::vector<Pair> pairs_of(int64_t item, int64_t j, int64_t detector) const {
        std::vector<Pair> pairs;
        const int64_t first = item * sizes_.length;
        for (int64_t i = 0; i < j; ++i)
            pairs.push_back({first + i, first + j, j - i - 1, detector, &positions_.at(first + j, detector),
                             &positions_.at(first + i, detector), &distances_.at(j - i - 1, detector)});
        if constexpr (std::is_same_v<Real, Noisy>)
            std::ranges::stable_sort(pairs, {}, [&](const Pair& pair) { return chosen_by(pair); });
        return pairs;
    }
    int64_t chosen_by(const Pair& pair) const {
        return neuron(pair, pair.q->index, pair.k->index, pair.positional->index);
    }

    void compute_pair(const Pair& pair) {
        const int64_t chosen = chosen_by(pair);
        table_.for_each_synapse(chosen, [&](int64_t synapse, int64_t output) {
            y_.add(pair.j * sizes_.outputs + output, table_.weight(synapse));
        });
        if (backward_) backward(pair, chosen);
    }

    void backward(const Pair& pair, int64_t chosen) {
        const float* const dy = dy_ + pair.j * sizes_.outputs;
        table_.for_each_synapse(chosen, [&](int64_t synapse, int64_t output) {
            dweights_.add(synapse, table_.gradient(synapse, dy[output]));
        });
        const Bits &q = *pair.q, &k = *pair.k, &positional = *pair.positional;
        const bool flips_q = q.magnitude() < k.magnitude();
        const Bits& flipped = flips_q ? q : k;
        if (flipped.weakest_bit >= 0) {
            const int64_t other = flips_q ? neuron(pair, q.flipped(), k.index, positional.index)
                                          : neuron(pair, q.index, k.flipped(), positional.index);
            const Real du = propagated(gather_.difference(chosen, other, dy), flipped.weakest, sizes_.eps);
            const int32_t* const anchor = anchors(pair.detector) + 2 * flipped.weakest_bit;
            const int64_t position = flips_q ? pair.j : pair.i;
            dx_.add(position * sizes_.inputs + anchor[0], du);
            dx_.add(position * sizes_.inputs + anchor[1], -du);
        }
        if (positional.weakest_bit >= 0 && positional.magnitude() < q.magnitude() &&
            positional.magnitude() < k.magnitude()) {
            const int64_t other = neuron(pair, q.index, k.index, positional.flipped());
            dpositional_.add(
                (pair.distance * sizes_.detectors + pair.detector) * sizes_.positional +
                    positional.weakest_bit,
                propagated(gather_.difference(chosen, other, dy), positional.weakest, sizes_.eps));
        }
    }

    Outcome<Arrays> finish() {
        if (gather_.overflows()) return terms_.overflow("gradient_sums");
        Arrays found = positions_.arrays();
        for (const Array& array : distances_.arrays()) found.push_back(array);
        if (!backward_) return finished<Real>(found, {&y_}, nullptr);
        return finished<Real>(found, {&y_, &dx_, &dpositional_}, &dweights_);
    }

    Sizes sizes_;
    bool backward_;
    Terms<Real> terms_;
    lut_table::definitions::Table<Real> table_;
    Gather<Real> gather_;
    const float *x_, *dy_;
    const int32_t* anchors_;
    const Array& positional_;
    FoundBits positions_, distances_;
    Sums<Real> y_, dx_, dpositional_;
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

}  // namespace sawtooth::lut_sequence
