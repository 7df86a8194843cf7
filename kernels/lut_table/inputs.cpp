// Generates the inputs of both families: normally distributed numbers, and the indices that connect them.

#include <algorithm>

#include "kernels/core/fill.h"
#include "kernels/lut_table/parts.h"

namespace sawtooth::lut_table {
namespace {

// Pairs of any two inputs; about three pairs in a hundred are skipped.
void generate_anchors(Array& anchors, int64_t inputs, Random random, const std::stop_token& stop) {
    fill(anchors.as<int32_t>(), stop, [&] { return random.below(64) == 0 ? -1 : random.below(inputs); });
}

// Each neuron has up to `most` synapses.
void generate_offsets(Array& offsets, int64_t most, Random random, const std::stop_token& stop) {
    int64_t next = 0;
    fill(offsets.as<int32_t>(), stop, [&] {
        const int64_t offset = next;
        next += random.below(most + 1);
        return offset;
    });
}

// Adds `dragged_by` to one input of every item; the other numbers are the same whatever is dragged.
// x: [..., inputs].
void drag(Array& x, const Parameters& parameters) {
    const int64_t inputs = parameters.integer("inputs");
    const auto numbers = x.as<float>();
    auto at = static_cast<size_t>(std::min(parameters.integer("dragged_input"), inputs - 1));
    for (; at < numbers.size(); at += static_cast<size_t>(inputs))
        numbers[at] += static_cast<float>(parameters.real("dragged_by"));
}

}  // namespace

Array generate(const ArraySpec& spec, const Parameters& parameters, const Arrays& so_far, Random random,
               std::stop_token stop) {
    Array array = Array::uninitialised(spec.name, spec.dtype, spec.shape_for(parameters, so_far));
    const auto fill_below = [&](int64_t count) {
        fill(array.as<int32_t>(), stop, [&] { return random.below(count); });
    };
    if (spec.name == "anchors")
        generate_anchors(array, parameters.integer("inputs"), random, stop);
    else if (spec.name == "synapse_offsets")
        generate_offsets(array, parameters.integer("synapses_per_neuron"), random, stop);
    else if (spec.name == "synapse_targets")
        fill_below(parameters.integer("outputs"));
    else if (spec.name == "synapse_meta")
        fill_below(generated_metas);
    else if (spec.name == "meta_lr")
        fill(array.as<float>(), stop, [&] { return random.uniform(0, 2); });
    else
        fill(array.as<float>(), stop, [&] { return random.normal(); });
    if (spec.name == "x" && parameters.has("dragged_by")) drag(array, parameters);
    return array;
}

}  // namespace sawtooth::lut_table
