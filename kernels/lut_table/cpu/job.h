#pragma once

#include <cmath>

#include "kernels/core/range.h"
#include "kernels/lut_table/cpu/detectors.h"
#include "kernels/lut_table/cpu/sums.h"
#include "kernels/lut_table/sizes.h"

namespace sawtooth::lut_table {

// What the variants on the CPU work on. `weights` and `dweights` are the rows of all neurons, or the numbers
// of all synapses. Gradients are null without a backward pass, and `weights_after` unless it is asked for.
struct CpuJob : Sizes {
    explicit CpuJob(PlanBuilder& builder)
        : Sizes(builder.parameters()),
          lr(builder.parameters().real("lr")),
          output_blocks(builder.parameters().integer("output_blocks")),
          anchor_pairs(numbers(builder, "anchors")),
          weights(builder.input(sparse ? "synapse_weights" : "weights").as<float>()),
          offsets(numbers(builder, "synapse_offsets")),
          targets(numbers(builder, "synapse_targets")),
          meta(numbers(builder, "synapse_meta")),
          meta_lr(builder.input("meta_lr").as<float>()),
          dy(builder.input("dy").as<float>()),
          y(builder.output("y").as<float>()),
          dx(builder.output("dx").as<float>()),
          dweights(builder.output("dweights").as<float>()),
          weights_after(builder.output("weights_after").as<float>()),
          check{builder.input("x").as<float>(),
                anchor_pairs,
                inputs,
                detectors,
                anchors,
                builder.output("lookup_index").as<int32_t>(),
                builder.output("min_delta").as<float>(),
                builder.output("min_delta_index").as<int32_t>()},
          weights_count(sparse ? find(builder.request().inputs, "synapse_weights")->count()
                               : neurons() * outputs) {}

    int64_t found_at(int64_t item, int64_t detector) const { return item * detectors + detector; }
    int64_t neuron(int64_t item, int64_t detector) const {
        return detector * rows + check.lookup_index[found_at(item, detector)];
    }
    // With the weakest bit flipped; -1 if the detector skips all pairs.
    int64_t alternative(int64_t item, int64_t detector) const {
        const int32_t weakest = check.min_delta_index[found_at(item, detector)];
        return weakest < 0 ? -1 : neuron(item, detector) ^ (int64_t{1} << weakest);
    }

    // Of the numbers in `weights`.
    Range weights_of(int64_t neuron) const {
        if (!sparse) return {neuron * outputs, (neuron + 1) * outputs};
        return {offsets[neuron], offsets[neuron + 1]};
    }
    Range outputs_of(int64_t block) const {
        return {outputs * block / output_blocks, outputs * (block + 1) / output_blocks};
    }
    const float* dy_of(int64_t item) const { return dy + item * outputs; }
    float meta_rate(int64_t synapse) const { return meta ? meta_lr[meta[synapse]] : 1; }

    // The sum of weight times output gradient.
    template <class Sums>
    typename Sums::Sum gather(const Sums& sums, int64_t neuron, const float* dy_row) const {
        using Real = typename Sums::Real;
        const Range range = weights_of(neuron);
        if (!sparse) return sums.dot(weights + range.first, dy_row, outputs);
        typename Sums::Sum sum = 0;
        for (int64_t s = range.first; s < range.last; ++s)
            sum += sums.term(Real{weights[s]} * Real{dy_row[targets[s]]});
        return sum;
    }

    // The term that dy of an item adds to the gradient of a synapse.
    template <class Sums>
    typename Sums::Sum synapse_gradient(const Sums& sums, int64_t synapse, const float* dy_row) const {
        using Real = typename Sums::Real;
        return sums.term(Real{dy_row[targets[synapse]]} * static_cast<Real>(lr) * Real{meta_rate(synapse)});
    }

    // The term of du: g up'(delta), from the sums of the chosen row and of the alternative one.
    template <class Sums>
    static typename Sums::Sum gradient(const Sums& sums, float delta, typename Sums::Sum main,
                                       typename Sums::Sum alternative) {
        using Real = typename Sums::Real;
        sums.check(main, fault_gradient_sums);
        sums.check(alternative, fault_gradient_sums);
        const Real reach = 1 + std::abs(Real{delta});
        const Real slope = Real(delta > 0 ? 0.5 : -0.5) / (reach * reach);
        return sums.term((sums.value(main) - sums.value(alternative)) * slope);
    }

    // Adds it to the two inputs of a detector's weakest difference.
    template <class Sums>
    void propagate(const Sums& sums, int64_t item, int64_t detector, typename Sums::Sum main,
                   typename Sums::Sum alternative, typename Sums::Sum* to) const {
        const int64_t at = found_at(item, detector), weakest = check.min_delta_index[at];
        if (weakest < 0) return;
        const auto term = gradient(sums, check.min_delta[at], main, alternative);
        const int32_t* const pair = anchor_pairs + (detector * anchors + weakest) * 2;
        to[pair[0]] += term;
        to[pair[1]] -= term;
    }

    // Once they are final: weights_after of a range of the weights.
    void subtract_gradients(Range range) const {
        for (int64_t i = range.first; i < range.last; ++i) weights_after[i] = weights[i] - dweights[i];
    }

    double lr;
    int64_t output_blocks;
    const int32_t* anchor_pairs;
    const float* weights;
    const int32_t *offsets, *targets, *meta;
    const float *meta_lr, *dy;
    float *y, *dx, *dweights, *weights_after;
    DetectorCheck check;
    int64_t weights_count;

  private:
    static const int32_t* numbers(PlanBuilder& builder, std::string_view name) {
        return static_cast<const int32_t*>(builder.input(name, Storage::f32).address);
    }
};

}  // namespace sawtooth::lut_table
