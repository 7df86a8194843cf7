#pragma once

#include "kernels/core/launch_info.h"
#include "kernels/lut_table/sizes.h"

namespace sawtooth::lut_table::describe {

// "clear_y": zeros, before others add to the array.
LaunchInfo clear(const Buffer& array);
// Those of dweights are also subtracted from the weights if that is the policy.
LaunchInfo convert_integers_to_floats(const PlanRequest& request, const Buffer& array);

enum class Events { main, alternative };

// How launches of both families use tables: the anchors of detectors, and the weights of neurons.
class TableUses {
  public:
    explicit TableUses(const PlanRequest& request);

    // Weights of a neuron: with synapses, on average.
    double row() const {
        return sizes_.sparse ? static_cast<double>(synapses_) / static_cast<double>(sizes_.neurons())
                             : static_cast<double>(sizes_.outputs);
    }
    double row_bytes() const { return row() * (sizes_.sparse ? 8 : 4); }  // with targets
    int64_t sum_bytes() const { return sizes_.integer ? 8 : 4; }
    double sum_row_bytes() const { return row() * static_cast<double>(sum_bytes()); }

    Buffer anchor_pairs() const { return {"anchors", {sizes_.detectors, sizes_.anchors, 2}}; }
    Buffer offsets() const { return {"synapse_offsets", {sizes_.neurons() + 1}}; }
    Buffer targets() const { return {"synapse_targets", {synapses_}}; }
    Uses weights() const;
    Buffer dweights() const { return {"dweights", shape(), sum_bytes()}; }  // sums
    // Where terms are added to dweights, floats are subtracted from the weights; integers once they are
    // floats.
    bool subtracts() const { return internal_ && !sizes_.integer; }
    Uses gradients() const { return subtracts() ? Uses{dweights(), weights_after()} : Uses{dweights()}; }

    // Of the variant fused: dweights of every neuron from dy of the items that chose it, which `sorted`
    // names. `choices`: of all detectors.
    LaunchInfo weight_gradients(std::string meaning, const Uses& sorted, const Buffer& dy,
                                double choices) const;

  private:
    Shape shape() const {
        return sizes_.sparse ? Shape{synapses_} : Shape{sizes_.detectors, sizes_.rows, sizes_.outputs};
    }
    Buffer weights_after() const { return {"weights_after", shape()}; }

    Sizes sizes_;
    int64_t synapses_;
    bool internal_;
};

}  // namespace sawtooth::lut_table::describe
