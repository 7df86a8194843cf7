#include <algorithm>

#include "kernels/core/common_parameters.h"
#include "kernels/lut_table/parts.h"

namespace sawtooth::lut_table {

Work table_work(const Parameters& parameters, const Arrays& inputs, double choices) {
    const Sizes s(parameters);
    const bool backward = runs_backward(parameters);
    const auto neurons = static_cast<double>(s.neurons());
    const Array* const synapses = find(inputs, "synapse_weights");
    const double row = !s.sparse  ? static_cast<double>(s.outputs)
                       : synapses ? static_cast<double>(synapses->count()) / neurons
                                  : static_cast<double>(parameters.integer("synapses_per_neuron")) / 2;
    const double row_bytes = s.sparse ? 8 * row + 4 : 4 * row;  // targets and an offset included
    Work work;
    work.bytes = 8 * static_cast<double>(s.detectors * s.anchors) +
                 std::min(neurons, (backward ? 2 : 1) * choices) * row_bytes;
    work.operations = choices * row;
    if (!backward) return work;
    work.bytes += 4 * neurons * row;
    work.operations += choices * 6 * row;
    if (parameters.is("gradient_policy", "internal")) {  // rows are updated in place
        work.bytes += 4 * std::min(neurons, choices) * row;
        work.operations += neurons * row;
    }
    return work;
}

}  // namespace sawtooth::lut_table
