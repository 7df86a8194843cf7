#include "kernels/lut_sequence/cuda/job.h"

#include "kernels/core/common_parameters.h"
#include "kernels/lut/cuda/launches.h"
#include "kernels/lut/overflow.h"
#include "kernels/lut_sequence/describe.h"
#include "kernels/lut_sequence/faults.h"

namespace sawtooth::lut_sequence {

CudaJob::CudaJob(cuda::PlanBuilder& builder) : Sizes(builder.parameters()) {
    const Parameters& p = builder.parameters();
    const auto numbers = [&](const char* name) { return builder.output<int32_t>(name); };
    x = builder.input("x");
    given.batch = batch;
    given.length = length;
    given.inputs = inputs;
    given.outputs = outputs;
    given.detectors = detectors;
    given.rows = rows;
    given.positional_bits = positional;
    given.pairs = pairs();
    given.output_blocks = p.integer("output_blocks");
    given.group = p.integer("synapse_group_size");
    given.positional = builder.input("positional");
    given.anchors = static_cast<const int32_t*>(builder.input("anchors", Storage::f32));
    given.table = lut::table_of(builder);
    given.found = {numbers("lookup_index"), builder.output("min_delta"), numbers("min_delta_index")};
    given.distances = {numbers("positional_lookup_index"), builder.output("positional_min_delta"),
                       numbers("positional_min_delta_index")};
    given.scale = lut::scale_of(p);
    given.lr = p.real("lr");
    given.fault = lut::take_overflows(builder);
    weights = lut::count_of_weights(builder.request());
    if (runs_backward(p)) given.dy = builder.input("dy");
}

cuda::Defines CudaJob::defines() const {
    cuda::Defines defines = lut::defines_of(*this);
    defines.push_back({"POSITIONAL", positional});
    return defines;
}

cuda::KernelSource CudaJob::source(const char* file, const char* entry, int64_t threads) const {
    return {std::string("kernels/lut_sequence/cuda/") + file, entry, defines(), threads};
}

lut::Arguments CudaJob::of_lut() const {
    lut::Arguments arguments = {};
    arguments.batch = positions();
    arguments.inputs = inputs;
    arguments.outputs = outputs;
    arguments.detectors = detectors;
    arguments.rows = rows;
    arguments.x = x;
    arguments.anchors = given.anchors;
    arguments.table = given.table;
    arguments.found = given.found;
    arguments.dy = given.dy;
    arguments.dweights = given.dweights;
    arguments.weights_after = given.weights_after;
    arguments.sorted_rows = given.sorted_rows;
    arguments.sorted_items = given.sorted_positions;
    arguments.scale = given.scale;
    arguments.lr = given.lr;
    arguments.fault = given.fault;
    return arguments;
}

void add_checks(cuda::PlanBuilder& builder, const CudaJob& job) {
    const int64_t block = builder.parameters().integer("block_size");
    const Side of_detectors = pieces("T", job.detectors, "block_size", block);
    cuda::KernelSource check{"kernels/lut/cuda/detectors.cu", "check_detectors", lut::defines_of(job), block};
    check.defines.push_back({"INPUTS", lut::staged_inputs(1, job.inputs)});
    builder.launch(describe::check_detectors_for_sequence(builder.request()),
                   {of_detectors, lut::side_y("B S", job.positions())}, check, job.of_lut());
    if (job.distances() == 0) return;
    builder.launch(describe::check_positional_embeddings(builder.request()),
                   {of_detectors, side("S - 1", job.distances())},
                   job.source("positional.cu", "check_positional_embeddings", block), job.given);
}

void add_launches_without_pairs(cuda::PlanBuilder& builder, const CudaJob& job) {
    const PlanRequest& request = builder.request();
    const int64_t block = builder.parameters().integer("block_size");
    const auto clear = [&](const char* name, ArrayUse array) {
        array.element_bytes = 4;
        if (float* const at = builder.output(name)) lut::add_clear(builder, array, at, block);
    };
    clear("y", describe::y(request));
    if (!job.backward()) return;
    clear("dx", describe::dx(request));
    clear("dpositional", describe::dpositional(request));
    clear("dweights", describe::dweights(request));
    if (float* const after = builder.output("weights_after"))
        builder.restore(after, job.given.table.weights, 4 * job.weights);
}

}  // namespace sawtooth::lut_sequence
