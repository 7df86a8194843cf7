#include "kernels/lut/table_uses.h"

namespace sawtooth::lut::describe {

TableUses::TableUses(const PlanRequest& request)
    : sizes_(request.parameters), internal_(request.parameters.is("gradient_policy", "internal")) {
    const Array* const given = find(request.inputs, "synapse_weights");
    synapses_ = sizes_.sparse && given ? given->count() : 0;
}

Uses TableUses::weights() const {
    if (!sizes_.sparse) return {{"weights", shape()}};
    return {offsets(), targets(), {"synapse_weights", shape()}};
}

LaunchInfo TableUses::weight_gradients(std::string meaning, const Uses& sorted, const Buffer& dy,
                                       double choices) const {
    const Buffer written = {"dweights", shape()};
    Uses reads = sorted + Uses{dy}, writes = {written};
    double bytes = bytes_of(sorted) + 4 * choices * row() + written.bytes();
    if (internal_) {
        reads = std::move(reads) + weights();
        writes.push_back(weights_after());
        bytes += 2 * written.bytes();
    }
    return with_bytes(launch_info("weight_gradients", std::move(meaning), std::move(reads), std::move(writes),
                                  choices * row()),
                      bytes);
}

}  // namespace sawtooth::lut::describe
