// What a Request's parameters and inputs make of the strategies on a GPU: the same steps as plans.cpp takes
// on the CPU.

#include "kernels/memory/cuda.h"
#include "kernels/memory/strategies.h"

namespace sawtooth::memory {
namespace {

using cuda::PlanBuilder;
using cuda::Storage;
using Adder = void (*)(PlanBuilder&, const DeviceJob&);

struct Inputs {
    PlanBuilder& builder;
    const Arrays& arrays;

    const void* rows(std::string_view name, Storage storage) const {
        return builder.input(*find(arrays, name), storage);
    }
    // Null where it is absent; without a GPU all is null.
    const float* floats(std::string_view name) const {
        const Array* const array = find(arrays, name);
        return array ? static_cast<const float*>(builder.input(*array)) : nullptr;
    }
};

void load_inputs(const Inputs& inputs, const Parameters& parameters, DeviceJob& job) {
    const Job& sizes = job.sizes;
    const bool is_lattice = sizes.rule == UpdateRule::lattice, is_trellis = sizes.rule == UpdateRule::trellis;
    job.k = inputs.rows("k", job.storage);
    job.v = inputs.rows("v", job.storage);
    job.q = inputs.rows("q", job.storage);
    job.gates.share = 1 / static_cast<float>(sizes.memory.window);
    if (is_lattice) {
        job.slots = inputs.floats("slots");
        return;
    }
    job.gates.alpha = inputs.floats("alpha");
    if (sizes.memory.has_momentum) job.gates.eta = inputs.floats("eta");
    if (sizes.rule != UpdateRule::hebbian) job.gates.theta = inputs.floats("theta");
    if (sizes.rule == UpdateRule::atlas) job.w_omega = inputs.floats("w_omega");
    job.m0 = inputs.floats(is_trellis ? "sk0" : "m0");
    if (sizes.memory.has_momentum) job.s0 = inputs.floats("s0");
    if (!is_trellis) return;
    job.x = inputs.rows("x", job.storage);
    job.gates.lambda = static_cast<float>(parameters.real("lambda_k"));
    job.lambda_values = static_cast<float>(parameters.real("lambda_v"));
    job.s0 = inputs.floats("sv0");
}

float* take(PlanBuilder& builder, std::string name, Shape shape) {
    return static_cast<float*>(builder.output(std::move(name), Dtype::f32, std::move(shape)));
}

void take_outputs(PlanBuilder& builder, const PlanRequest& request, bool gives_momentum, DeviceJob& job) {
    const Job& sizes = job.sizes;
    const int64_t batch = sizes.batch, d = sizes.width;
    job.y = builder.output("y", Dtype::f32, {batch, sizes.length, d}, job.storage);
    job.y_stride = sizes.length * d;
    job.boundary_count = ceil_divide(sizes.length, job.chunk) + 1;
    if (sizes.rule == UpdateRule::trellis) {
        job.final_m = take(builder, "sk", {batch, sizes.compress, d});
        job.final_s = take(builder, "sv", {batch, d, sizes.compress});
        return;
    }
    const int64_t rows = sizes.rule == UpdateRule::lattice ? sizes.slot_count : d;
    job.final_m = take(builder, "m", {batch, rows, d});
    if (sizes.memory.has_momentum && gives_momentum) job.final_s = take(builder, "s", {batch, d, d});
    if (request.stores_extras)
        job.boundaries = take(builder, "boundaries", {batch, job.boundary_count, rows, d});
}

// Level n is chunkwise_gd with chunk C_n, read at its last boundary; states of its own, none of them output.
void add_levels(PlanBuilder& builder, const DeviceJob& job, const std::vector<int64_t>& chunks) {
    const Job& sizes = job.sizes;
    const auto levels = static_cast<int64_t>(chunks.size());
    auto* const pulse = static_cast<int32_t*>(builder.output("pulse", Dtype::int32, {levels, sizes.length}));
    const int64_t size = sizes.length * sizes.width;
    auto* const y = static_cast<std::byte*>(
        builder.output("level_y", Dtype::f32, {sizes.batch, levels, sizes.length, sizes.width}, job.storage));
    for (int64_t n = 0; n < levels; ++n) {
        const int64_t chunk = chunks[static_cast<size_t>(n)];
        add_pulse(builder, pulse ? pulse + n * sizes.length : nullptr, sizes.length, chunk);
        DeviceJob level = job;
        level.sizes.reads_boundary = true;
        level.chunk = std::min(chunk, sizes.length);
        level.final_m = level.final_s = level.boundaries = nullptr;
        level.y = y ? y + n * size * word_bytes(job) : nullptr;
        level.y_stride = levels * size;
        add_chunkwise_gd(builder, level);
    }
}

Follow follow_of(const Parameters& parameters) {
    if (parameters.is("launch", "sync")) return Follow::wait;
    if (parameters.is("launch", "graph")) return Follow::graph;
    return parameters.is("launch", "graph_pdl") ? Follow::graph_programmatic : Follow::stream;
}

Adder adder_of(const std::string& strategy) {
    static const std::map<std::string, Adder> adders = {{"sequential", add_sequential},
                                                        {"sequential_persistent", add_sequential_persistent},
                                                        {"chunkwise_gd", add_chunkwise_gd},
                                                        {"associative_scan", add_associative_scan},
                                                        {"tnt", add_tnt},
                                                        {"lattice_gla", add_lattice_gla},
                                                        {"atlas_parallel", add_chunkwise_gd},
                                                        {"exact_chunk", add_exact_chunk}};
    return adders.at(strategy);
}

}  // namespace

Outcome<Plan> plan_on_gpu(const Strategy& strategy, const PlanRequest& request) {
    const Parameters& parameters = request.parameters;
    PlanBuilder builder(request);
    DeviceJob job;
    job.sizes = sizes_of(parameters);
    job.storage = cuda::storage_named(parameters.text("dtype"));
    job.precision = parameters.text("precision");
    job.chunk = chunk_of(parameters, strategy.name);
    load_inputs({builder, request.inputs}, parameters, job);
    take_outputs(builder, request, strategy.name != "tnt", job);
    adder_of(strategy.name)(builder, job);
    if (const auto* levels = std::get_if<std::vector<int64_t>>(&parameters.at("levels")))
        if (strategy.name == "chunkwise_gd") add_levels(builder, job, *levels);
    builder.follow(follow_of(parameters));
    return builder.finish();
}

}  // namespace sawtooth::memory
