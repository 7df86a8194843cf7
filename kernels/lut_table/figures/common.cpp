#include "kernels/lut_table/figures/common.h"

#include <string_view>

namespace sawtooth::lut_table {

Weights::Weights(const Result& result)
    : sizes_(result.parameters),
      weights_(find(result.inputs, sizes_.sparse ? "synapse_weights" : "weights")->as<float>()) {
    if (!sizes_.sparse) return;
    offsets_ = find(result.inputs, "synapse_offsets")->as<int32_t>();
    targets_ = find(result.inputs, "synapse_targets")->as<int32_t>();
}

double Weights::weight(int64_t detector, int64_t row, int64_t output) const {
    if (!sizes_.sparse)
        return double{
            weights_[static_cast<size_t>((detector * sizes_.rows + row) * sizes_.outputs + output)]};
    double sum = 0;
    const Range own = synapses(detector, row);
    for (auto at = static_cast<size_t>(own.first); at < static_cast<size_t>(own.last); ++at)
        if (targets_[at] == output) sum += double{weights_[at]};
    return sum;
}

Range Weights::synapses(int64_t detector, int64_t row) const {
    const auto neuron = static_cast<size_t>(detector * sizes_.rows + row);
    return {offsets_[neuron], offsets_[neuron + 1]};
}

std::string kernel_label(const std::string& kernel) {
    std::string label = kernel;
    for (const std::string_view end : {"_fully_connected", "_for_sequence"})
        if (label.ends_with(end)) label.resize(label.size() - end.size());
    return label;
}

std::optional<Array> float64_reference(const Result& result, const std::string& output) {
    const Array* const unrounded = find(result.reference, "fused/" + output);
    const Array* const reference = unrounded ? unrounded : find(result.reference, output);
    if (!reference) return {};
    Array array = *reference;
    array.name = output;
    return array;
}

}  // namespace sawtooth::lut_table
