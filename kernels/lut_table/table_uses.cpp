#include "kernels/lut_table/table_uses.h"

namespace sawtooth::lut_table::describe {

LaunchInfo clear(const Buffer& array) {
    return launch_info("clear_" + array.name, "Sets " + array.name + " to zero, as others add to it.", {},
                       {array}, 0);
}

LaunchInfo convert_integers_to_floats(const PlanRequest& request, const Buffer& array) {
    Buffer written = array;
    written.element_bytes = 4;
    Uses reads = {array}, writes = {written};
    if (array.name == "dweights" && request.parameters.is("gradient_policy", "internal")) {
        reads.push_back({is_sparse(request.parameters) ? "synapse_weights" : "weights", array.shape});
        writes.push_back({"weights_after", array.shape});
    }
    return launch_info("convert_integers_to_floats",
                       "Divides the integer sums of " + array.name + " by 2^20 and by rescale.",
                       std::move(reads), std::move(writes), 2 * static_cast<double>(count_of(array.shape)));
}

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

}  // namespace sawtooth::lut_table::describe
