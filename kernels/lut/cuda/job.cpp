#include "kernels/lut/cuda/job.h"

#include <array>

#include "kernels/core/common_parameters.h"
#include "kernels/lut/fixed_point.h"

namespace sawtooth::lut {
namespace {

std::string fault_words(int64_t fault, int32_t) {
    constexpr std::array<const char*, faults> arrays = {"y", "gradient_sums", "dx", "dweights", "events"};
    const char* const name = arrays[static_cast<size_t>(fault)];
    return fault == fault_events ? "events: more than batch * detectors" : overflow_words(name);
}

}  // namespace

std::string overflow_words(const std::string& array) {
    return "an integer sum of " + array + " leaves 32 bits; choose a smaller rescale, or arithmetic = float";
}

Table table_of(cuda::PlanBuilder& builder) {
    Table table = {};
    if (is_full(builder.parameters())) {
        table.weights = builder.input("weights");
        return table;
    }
    const auto numbers = [&](const char* name) {
        return static_cast<const int32_t*>(builder.input(name, Storage::f32));
    };
    table.weights = builder.input("synapse_weights");
    table.offsets = numbers("synapse_offsets");
    table.targets = numbers("synapse_targets");
    table.metas = numbers("synapse_meta");
    table.meta_rates = builder.input("meta_lr");
    return table;
}

double scale_of(const Parameters& parameters) {
    return parameters.is("arithmetic", "integer") ? parameters.real("rescale") * FixedPoint::unit : 1;
}

CudaJob::CudaJob(cuda::PlanBuilder& builder) : Sizes(builder.parameters()) {
    const Parameters& p = builder.parameters();
    given.batch = batch;
    given.inputs = inputs;
    given.outputs = outputs;
    given.detectors = detectors;
    given.rows = rows;
    given.output_blocks = p.integer("output_blocks");
    given.group = p.integer("synapse_group_size");
    given.scale = scale_of(p);
    given.lr = p.real("lr");
    given.x = builder.input("x");
    given.anchors = static_cast<const int32_t*>(builder.input("anchors", Storage::f32));
    given.table = table_of(builder);
    given.found.lookup_index = builder.output<int32_t>("lookup_index");
    given.found.min_delta = builder.output("min_delta");
    given.found.min_delta_index = builder.output<int32_t>("min_delta_index");
    given.fault = builder.take_faults(faults, fault_words);
    const Array* const synapses = find(builder.request().inputs, "synapse_weights");
    weights = sparse ? (synapses ? synapses->count() : 0) : neurons() * outputs;
    if (runs_backward(p)) given.dy = builder.input("dy");
}

cuda::Defines CudaJob::defines() const {
    return {{"SPARSE", sparse}, {"INTEGER", integer}, {"ALIGNED", outputs % 4 == 0}, {"ANCHORS", anchors}};
}

int64_t CudaJob::staged_inputs(int64_t items) const {
    constexpr int64_t most_bytes = 32 << 10;
    return items * inputs * 4 <= most_bytes ? inputs : 0;
}

}  // namespace sawtooth::lut
