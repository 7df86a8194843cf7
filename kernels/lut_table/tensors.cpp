#include "kernels/lut_table/tensors.h"

#include <utility>

namespace sawtooth::lut_table {

FoundArrays::FoundArrays(PlanBuilder& builder, const std::string& prefix)
    : lookup_index(builder.output(prefix + "lookup_index")),
      min_delta(builder.output(prefix + "min_delta")),
      min_delta_index(builder.output(prefix + "min_delta_index")) {}

Found FoundArrays::pointers() const {
    return {lookup_index.as<int32_t>(), min_delta.as<float>(), min_delta_index.as<int32_t>()};
}

EventArrays EventArrays::in_groups(int64_t groups) const {
    EventArrays arrays = *this;
    arrays.count = count.part({groups});
    return arrays;
}

Tensors::Tensors(PlanBuilder& builder)
    : Sizes(builder.parameters()),
      normalises(lut_table::normalises(builder.parameters())),
      limits(builder.parameters()),
      x(builder.input("x")),
      found(builder, ""),
      bits(found.pointers()) {
    const Parameters& p = builder.parameters();
    items = count_of(x.shape) / inputs;
    output_blocks = p.integer("output_blocks");
    lr = p.real("lr");
    anchor_pairs = builder.input("anchors");
    weights = builder.input(sparse ? "synapse_weights" : "weights");
    if (sparse) {
        offsets = builder.input("synapse_offsets");
        targets = builder.input("synapse_targets");
    }
    y = builder.output("y");
    dx = builder.output("dx");
    dweights = builder.output("dweights");
    weights_after = builder.output("weights_after");
    if (dx) dy = builder.input("dy");
    if (dx && sparse) {
        metas = builder.input("synapse_meta");
        meta_rates = builder.input("meta_lr");
    }
    table = {weights.as<float>(), offsets.as<int32_t>(), targets.as<int32_t>(), metas.as<int32_t>(),
             meta_rates.as<float>()};
    pairs = anchor_pairs.as<int32_t>();
    dy_rows = dy.as<float>();
}

Buffer Tensors::sums_of(PlanBuilder& builder, const Buffer& output) const {
    return integer && output ? builder.take<int64_t>(output.name, output.shape) : output;
}

Buffer Tensors::take_sums(PlanBuilder& builder, std::string name, Shape shape) const {
    return integer ? builder.take<int64_t>(std::move(name), std::move(shape))
                   : builder.take<float>(std::move(name), std::move(shape));
}

Buffer Tensors::take_zeroed_sums(PlanBuilder& builder, std::string name, Shape shape) const {
    void* const memory = builder.take_zeroed<std::byte>(count_of(shape) * sum_bytes());
    return {std::move(name), std::move(shape), sum_bytes(), Storage::f32, memory};
}

void Tensors::restore_weights(PlanBuilder& builder) const {
    builder.restore(weights_after.address, weights.address, 4 * count_of(weights.shape));
}

Sorted Tensors::take_sorted(PlanBuilder& builder, const char* items_name, int64_t choices) const {
    if (!dx) return {};
    return {builder.take<int32_t>("sorted_rows", {detectors, choices}),
            builder.take<int32_t>(items_name, {detectors, choices})};
}

}  // namespace sawtooth::lut_table
