// From a request to a plan: inputs and outputs, the job, and the fold of a strategy over the sequence.

#include <algorithm>

#include "kernels/core/array.h"
#include "kernels/memory/launches.h"
#include "kernels/memory/strategies.h"

namespace sawtooth::memory {
namespace {

// Room that a strategy is given at once, 32 MiB; a chunk that wants more gets more, and is worked off alone.
constexpr int64_t usual_room = 8 << 20;

const float* values_of(Plan& plan, const Arrays& inputs, std::string_view name) {
    const Array* const array = find(inputs, name);
    return array ? plan.share<float>(*array) : nullptr;
}

// W^T in strips: [strips, 2 padded(d), 16], keys' part first. A layer would keep its weights like this.
const float* strips_of_w(Plan& plan, const Array& w) {
    const int64_t d = w.shape[0], half = padded(d);
    float* const to = plan.take<float>(strips_of(d) * 2 * half * lanes);
    if (plan.dry) return to;
    std::fill_n(to, strips_of(d) * 2 * half * lanes, 0.0f);
    const auto from = w.as<float>();
    for (int64_t row = 0; row < d; ++row)
        for (int64_t column = 0; column < 2 * d; ++column) {
            const int64_t line = column < d ? column : half + column - d;
            to[(row / lanes * 2 * half + line) * lanes + row % lanes] =
                from[static_cast<size_t>(row * 2 * d + column)];
        }
    return to;
}

struct Builder {
    const Strategy& strategy;
    const PlanRequest& request;
    Plan plan;
    Outputs outputs{plan};

    bool gives(std::string_view name) const {
        return std::find(strategy.outputs.begin(), strategy.outputs.end(), name) != strategy.outputs.end();
    }
    void* take(std::string name, Shape shape, cpu::Precision precision = cpu::Precision::f32,
               Dtype dtype = Dtype::f32) {
        return outputs.take(std::move(name), dtype, std::move(shape), precision);
    }
    float* take_state(std::string name, Shape shape) {
        return gives(name) ? static_cast<float*>(take(std::move(name), std::move(shape))) : nullptr;
    }
    void take_live(Chain& chain) {
        chain.m = plan.take<float>(chain.items() * chain.strip_size());
        if (chain.has_momentum) chain.s = plan.take<float>(chain.items() * chain.strip_size());
    }
};

cpu::Precision precision_of(const Parameters& parameters) {
    return cpu::precision_named(parameters.text("dtype"));
}

// The chain without its memory: how large it is and what its rule does.
Chain chain_of(const Job& job, const Parameters& parameters) {
    Chain chain;
    chain.batch = job.batch;
    chain.length = job.length;
    chain.rows = job.rule == UpdateRule::lattice   ? 0
                 : job.rule == UpdateRule::trellis ? job.compress
                                                   : job.width;
    chain.columns = job.width;
    chain.reads_memory = job.rule != UpdateRule::hebbian && job.rule != UpdateRule::atlas;
    chain.has_momentum = job.rule == UpdateRule::titans || job.rule == UpdateRule::atlas ||
                         job.rule == UpdateRule::atlas_omega;
    chain.gates.length = job.length;
    if (job.rule != UpdateRule::atlas_omega) return chain;
    chain.window = std::min(parameters.integer("omega_window"), job.length);
    chain.gates.share = 1 / static_cast<float>(chain.window);
    return chain;
}

void load_inputs(Builder& builder, Job& job) {
    Plan& plan = builder.plan;
    const Parameters& parameters = builder.request.parameters;
    const Arrays& inputs = builder.request.inputs;
    const cpu::Precision precision = precision_of(parameters);
    const auto rows = [&](std::string_view name) { return rows_of(plan, *find(inputs, name), precision); };
    job.k = rows("k");
    job.v = rows("v");
    job.q = rows("q");
    if (job.rule == UpdateRule::trellis) job.x = rows("x");
    if (job.rule == UpdateRule::atlas) job.w_omega = strips_of_w(plan, *find(inputs, "w_omega"));
    if (job.rule == UpdateRule::lattice) job.slots = values_of(plan, inputs, "slots");
    Gates& own = job.memory.gates;
    if (job.rule != UpdateRule::lattice) own.alpha = values_of(plan, inputs, "alpha");
    if (job.memory.has_momentum) own.eta = values_of(plan, inputs, "eta");
    if (job.rule != UpdateRule::lattice && job.rule != UpdateRule::hebbian)
        own.theta = values_of(plan, inputs, "theta");
    const bool is_trellis = job.rule == UpdateRule::trellis;
    job.memory.m0 = values_of(plan, inputs, is_trellis ? "sk0" : "m0");
    if (job.memory.has_momentum) job.memory.s0 = values_of(plan, inputs, "s0");
    if (!is_trellis) return;
    job.values = job.memory;
    std::swap(job.values.rows, job.values.columns);
    job.memory.gates.lambda = static_cast<float>(parameters.real("lambda_k"));
    job.values.gates.lambda = static_cast<float>(parameters.real("lambda_v"));
    job.values.m0 = values_of(plan, inputs, "sv0");
}

void take_outputs(Builder& builder, Job& job, Pulse pulse) {
    const int64_t batch = job.batch, d = job.width;
    const cpu::Precision precision = precision_of(builder.request.parameters);
    job.y = {precision, builder.take("y", {batch, job.length, d}, precision), job.length * d, d};
    job.memory.boundary_chunk = pulse.chunk;
    job.memory.boundary_count = (job.length + pulse.chunk - 1) / pulse.chunk + 1;
    const auto boundaries = [&](int64_t rows) {
        return builder.request.stores_extras
                   ? builder.take_state("boundaries", {batch, job.memory.boundary_count, rows, d})
                   : nullptr;
    };
    if (job.rule == UpdateRule::trellis) {
        job.memory.final_m = builder.take_state("sk", {batch, job.compress, d});
        job.values.final_m = builder.take_state("sv", {batch, d, job.compress});
    } else if (job.rule == UpdateRule::lattice) {
        job.final_slots = builder.take_state("m", {batch, job.slot_count, d});
        job.slot_boundaries = boundaries(job.slot_count);
    } else {
        job.memory.final_m = builder.take_state("m", {batch, d, d});
        if (job.memory.has_momentum) job.memory.final_s = builder.take_state("s", {batch, d, d});
        job.memory.boundaries = boundaries(d);
    }
}

void take_live_state(Builder& builder, Job& job) {
    if (job.rule == UpdateRule::lattice)
        job.live_slots = builder.plan.take<float>(job.batch * job.slot_count * padded(job.width));
    else
        builder.take_live(job.memory);
    if (job.rule == UpdateRule::trellis) builder.take_live(job.values);
}

// Tokens that chunk_forward is given at a time: whole chunks, as many as fit the room.
int64_t tokens_a_call(const Strategy& strategy, const Job& job, Pulse pulse, int64_t chunks) {
    const auto tokens_of = [&](int64_t count) {
        return count >= (job.length + pulse.chunk - 1) / pulse.chunk ? job.length : count * pulse.chunk;
    };
    if (chunks > 0) return tokens_of(chunks);
    if (!strategy.room_for) return job.length;
    // Windows of the last tokens reach back the farthest.
    const auto wanted = [&](int64_t tokens) {
        return strategy.room_for(job, {job.length - tokens, job.length}, pulse);
    };
    if (wanted(job.length) <= usual_room) return job.length;
    return tokens_of(std::max<int64_t>(usual_room / wanted(tokens_of(1)), 1));
}

void add_fold(Plan& plan, const Strategy& strategy, const Job& job, Pulse pulse, int64_t chunks_a_call) {
    const int64_t step = tokens_a_call(strategy, job, pulse, chunks_a_call);
    float* room = nullptr;
    if (strategy.room_for)
        room = plan.take<float>(strategy.room_for(job, {job.length - step, job.length}, pulse));
    for (int64_t first = 0; first < job.length; first += step)
        strategy.chunk_forward(plan, job, {first, std::min(first + step, job.length)}, pulse, room);
}

// The job must outlive the launches, which hold its address.
const Job& kept(Plan& plan, Job job) {
    const auto shared = std::make_shared<const Job>(std::move(job));
    plan.memory.push_back(shared);
    return *shared;
}

void add_pulse(Builder& builder, const std::vector<int64_t>& chunks, int64_t length) {
    const auto levels = static_cast<int64_t>(chunks.size());
    auto* const pulse =
        static_cast<int32_t*>(builder.take("pulse", {levels, length}, cpu::Precision::f32, Dtype::int32));
    add_launch(builder.plan,
               describe("pulse", "Where each level fires.", levels, "levels", {},
                        {{"pulse", {levels, length}}}, {4 * static_cast<double>(levels * length), 0}),
               [pulse, chunks, length](const cpu::Item& item) {
                   const Pulse level{chunks[static_cast<size_t>(item.index)]};
                   for (int64_t token = 0; token < length; ++token)
                       pulse[item.index * length + token] = level.fires(token) ? 1 : 0;
               });
}

// Level n is the strategy with chunk C_n, read at its last boundary; states of its own, none of them output.
void add_levels(Builder& builder, const Job& job, const std::vector<int64_t>& chunks) {
    add_pulse(builder, chunks, job.length);
    const auto levels = static_cast<int64_t>(chunks.size());
    Job level = job;
    level.reads_boundary = true;
    level.memory.final_m = level.memory.final_s = level.memory.boundaries = nullptr;
    level.values.final_m = level.final_slots = level.slot_boundaries = nullptr;
    const int64_t size = job.length * job.width;
    void* const y = builder.take("level_y", {job.batch, levels, job.length, job.width}, job.y.precision);
    level.y.batch_stride = levels * size;
    for (int64_t n = 0; n < levels; ++n) {
        const int64_t bytes = n * size * cpu::bytes_of(job.y.precision);
        level.y.values = y ? static_cast<std::byte*>(y) + bytes : nullptr;
        take_live_state(builder, level);
        const Pulse pulse{std::min(chunks[static_cast<size_t>(n)], job.length)};
        add_fold(builder.plan, builder.strategy, kept(builder.plan, level), pulse, 0);
    }
}

}  // namespace

Job sizes_of(const Parameters& parameters) {
    Job job;
    job.rule = rule_of(parameters);
    job.batch = parameters.integer("batch");
    job.length = parameters.integer("length");
    job.width = parameters.integer("d");
    job.slot_count = job.rule == UpdateRule::lattice ? parameters.integer("slot_count") : 0;
    job.compress = job.rule == UpdateRule::trellis ? parameters.integer("compress") : 0;
    job.normalises = parameters.flag("normalise");
    job.reads_boundary = parameters.is("readout", "boundary");
    job.local_tokens = std::min(parameters.integer("C_L"), job.length);
    job.y.precision = precision_of(parameters);
    job.memory = chain_of(job, parameters);
    return job;
}

int64_t chunk_of(const Parameters& parameters, std::string_view strategy) {
    return std::min(parameters.integer(strategy == "tnt" ? "C_G" : "chunk"), parameters.integer("length"));
}

Plan plan_fold(const Strategy& strategy, const PlanRequest& request, int64_t chunks_a_call) {
    Builder builder{strategy, request, {}};
    builder.plan.dry = request.dry;
    const Pulse pulse{chunk_of(request.parameters, strategy.name)};
    Job job = sizes_of(request.parameters);
    load_inputs(builder, job);
    take_outputs(builder, job, pulse);
    take_live_state(builder, job);
    add_fold(builder.plan, strategy, kept(builder.plan, job), pulse, chunks_a_call);
    if (const auto* levels = std::get_if<std::vector<int64_t>>(&request.parameters.at("levels")))
        if (builder.gives("level_y")) add_levels(builder, job, *levels);
    builder.outputs.finish();
    return std::move(builder.plan);
}

}  // namespace sawtooth::memory
