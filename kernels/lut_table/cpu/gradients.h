#pragma once

#include <cmath>

#include "kernels/lut_table/cpu/sums.h"
#include "kernels/lut_table/tensors.h"

namespace sawtooth::lut_table {

// Functions of one neuron for the CPU kernels of both families. The templates are inline as well, because
// otherwise the compiler calls gather for only a few synapses at a time.

// Returns the sum of weight times dy over the outputs of a neuron.
template <class Sums>
inline typename Sums::Sum gather(const Tensors& t, const Sums& sums, int64_t neuron, const float* dy_row) {
    using Real = typename Sums::Real;
    const Range range = t.weights_of(neuron);
    if (!t.sparse) return sums.dot(t.table.weights + range.first, dy_row, t.outputs);
    typename Sums::Sum sum = 0;
    for (int64_t s = range.first; s < range.last; ++s)
        sum += sums.term(Real{t.table.weights[s]} * Real{dy_row[t.table.targets[s]]});
    return sum;
}

// Returns the term that dy of an item adds to the gradient of a synapse.
template <class Sums>
inline typename Sums::Sum synapse_gradient(const Tensors& t, const Sums& sums, int64_t synapse,
                                           const float* dy_row) {
    using Real = typename Sums::Real;
    const float rate = t.table.metas ? t.table.meta_rates[t.table.metas[synapse]] : 1;
    return sums.term(Real{dy_row[t.table.targets[synapse]]} * static_cast<Real>(t.lr) * Real{rate});
}

// Returns du = g up'(delta) as a term, from the sums of the chosen and of the alternative row; 0 if its
// magnitude is at most eps or delta is NaN.
template <class Sums>
inline typename Sums::Sum gradient(const Tensors& t, const Sums& sums, float delta, typename Sums::Sum main,
                                   typename Sums::Sum alternative) {
    using Real = typename Sums::Real;
    sums.check(main, fault_gradient_sums);
    sums.check(alternative, fault_gradient_sums);
    const Real reach = 1 + std::abs(Real{delta});
    const Real slope = Real(delta > 0 ? 0.5 : -0.5) / (reach * reach);
    const Real du = (sums.value(main) - sums.value(alternative)) * slope;
    return std::isnan(delta) || std::abs(du) <= Real{t.eps} ? 0 : sums.term(du);
}

// Adds du to the two inputs of a detector's weakest difference.
template <class Sums>
inline void propagate(const Tensors& t, const Sums& sums, int64_t item, int64_t detector,
                      typename Sums::Sum main, typename Sums::Sum alternative, typename Sums::Sum* to) {
    const int64_t at = t.found_at(item, detector), weakest = t.bits.min_delta_index[at];
    if (weakest < 0) return;
    const auto term = gradient(t, sums, t.bits.min_delta[at], main, alternative);
    const int32_t* const pair = t.pairs + (detector * t.anchors + weakest) * 2;
    to[pair[0]] += term;
    to[pair[1]] -= term;
}

// Computes weights_after for a range of the weights, once their gradients are final.
inline void subtract_gradients(const Tensors& t, Range range) {
    const float *const before = t.table.weights, *const gradients = t.dweights.as<float>();
    float* const after = t.weights_after.as<float>();
    for (int64_t i = range.first; i < range.last; ++i) after[i] = before[i] - gradients[i];
}

}  // namespace sawtooth::lut_table
