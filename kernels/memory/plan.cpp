// From a request to a plan, on both backends: the job with its inputs and outputs, the launches of its
// strategy, then the launches of every level.

#include <algorithm>

#include "kernels/core/integers.h"
#include "kernels/memory/cpu/job.h"
#include "kernels/memory/cuda/strategies.h"
#include "kernels/memory/launches.h"
#include "kernels/memory/strategies.h"

namespace sawtooth::memory {

int64_t Sizes::state_rows() const { return slot_count ? slot_count : compress ? compress : d; }

double Sizes::operations_a_token() const {
    const double a_number = rule->operations + rule->operations_of_windows * static_cast<double>(window);
    return static_cast<double>(batch) * a_number * static_cast<double>(state_rows() * d);
}

double Sizes::bytes_a_token() const {
    const int vectors = rule->reads_x ? 5 : 4, gates = rule->forgets + rule->has_momentum + rule->has_step;
    return static_cast<double>(batch * (vectors * d * bytes_of(storage) + 4 * gates));
}

Sizes sizes_of(const Parameters& parameters) {
    Sizes sizes;
    sizes.rule = &rule_of(parameters);
    sizes.batch = parameters.integer("batch");
    sizes.length = parameters.integer("length");
    sizes.d = parameters.integer("d");
    if (sizes.rule->is(State::slots)) sizes.slot_count = parameters.integer("slot_count");
    if (sizes.rule->is(State::trellis)) {
        sizes.compress = parameters.integer("compress");
        sizes.lambda_k = static_cast<float>(parameters.real("lambda_k"));
        sizes.lambda_v = static_cast<float>(parameters.real("lambda_v"));
    }
    if (sizes.rule->is_windowed) {
        sizes.omega_window = parameters.integer("omega_window");
        sizes.window = std::min(sizes.omega_window, sizes.length);
    }
    sizes.local_tokens = std::min(parameters.integer("C_L"), sizes.length);
    sizes.normalises = parameters.flag("normalise");
    sizes.reads_boundary = parameters.is("readout", "boundary");
    sizes.storage = storage_named(parameters.text("dtype"));
    sizes.precision = parameters.text("precision");
    return sizes;
}

Job job_of(const Parameters& parameters, const Strategy& strategy) {
    Job job;
    static_cast<Sizes&>(job) = sizes_of(parameters);
    job.chunk = strategy.chunk_of(parameters);
    job.boundary_count = ceil_divide(job.length, job.chunk) + 1;
    job.y_stride = job.length * job.d;
    return job;
}

Job job_of(PlanBuilder& builder, const Strategy& strategy) {
    Job job = job_of(builder.parameters(), strategy);
    job.k = builder.input("k", job.storage).address;
    job.v = builder.input("v", job.storage).address;
    job.q = builder.input("q", job.storage).address;
    job.x = builder.input("x", job.storage).address;
    job.y = builder.output("y", job.storage).address;
    job.gates = {builder.input("alpha").as<float>(), builder.input("eta").as<float>(),
                 builder.input("theta").as<float>()};
    job.gates.share = 1 / static_cast<float>(job.omega_window);  // also while the window is filling
    job.w_omega = builder.input("w_omega").as<float>();
    const bool is_trellis = job.rule->is(State::trellis), is_slots = job.rule->is(State::slots);
    job.m.from = builder.input(is_slots ? "slots" : is_trellis ? "sk0" : "m0").as<float>();
    job.s.from = builder.input(is_trellis ? "sv0" : "s0").as<float>();
    job.m.to = builder.output(is_trellis ? "sk" : "m").as<float>();
    job.s.to = builder.output(is_trellis ? "sv" : "s").as<float>();
    job.boundaries = builder.output("boundaries").as<float>();
    return job;
}

Chain matrix_chain(const Job& job) {
    Chain chain;
    static_cast<States&>(chain) = job;
    chain.keys = "k";
    chain.values = "v";
    chain.batch = job.batch;
    chain.length = job.length;
    chain.rows = chain.columns = job.d;
    chain.window = job.window;
    chain.reads_memory = job.rule->reads_memory;
    chain.has_momentum = job.rule->has_momentum;
    chain.gates = job.gates;
    return chain;
}

Chain slot_chain(const Job& job) {
    Chain chain = matrix_chain(job);
    chain.given = "slots";
    chain.rows = job.slot_count;
    return chain;
}

Chain key_chain(const Job& job) {
    Chain chain = matrix_chain(job);
    chain.name = "sk";
    chain.given = "sk0";
    chain.suffix = "_keys";
    chain.keys = "x";
    chain.values = "k";
    chain.rows = job.compress;
    chain.rows_word = "c";
    chain.gates.lambda = job.lambda_k;
    chain.s = {};
    return chain;
}

Chain value_chain(const Job& job) {
    Chain chain = matrix_chain(job);
    chain.name = "sv";
    chain.given = "sv0";
    chain.suffix = "_values";
    chain.keys = "z";
    chain.columns = job.compress;
    chain.gates.lambda = job.lambda_v;
    chain.m = std::exchange(chain.s, {});
    return chain;
}

namespace {

// Room per chunk_forward call on the CPU, 32 MiB. A chunk that needs more gets more and runs in a call of its
// own.
constexpr int64_t usual_room = 8 << 20;

// Tokens per chunk_forward call: whole chunks, as many as fit the room.
int64_t tokens_a_call(const Strategy& strategy, const CpuJob& job, int64_t chunks_at_a_time) {
    const auto tokens_of = [&](int64_t count) {
        return count >= ceil_divide(job.length, job.chunk) ? job.length : count * job.chunk;
    };
    if (chunks_at_a_time > 0) return tokens_of(chunks_at_a_time);
    const auto room = strategy.on_cpu.room;
    if (!room) return job.length;
    // The windows of the last tokens reach back the farthest.
    const auto wanted = [&](int64_t tokens) { return room(job, {job.length - tokens, job.length}); };
    if (wanted(job.length) <= usual_room) return job.length;
    return tokens_of(std::max<int64_t>(usual_room / wanted(tokens_of(1)), 1));
}

void add_fold(cpu::PlanBuilder& builder, const Strategy& strategy, const Job& job, int64_t chunks_at_a_time) {
    const CpuJob& own = builder.keep(CpuJob(builder, job));
    const int64_t step = tokens_a_call(strategy, own, chunks_at_a_time);
    const Strategy::OnCpu& on_cpu = strategy.on_cpu;
    float* const room =
        on_cpu.room ? builder.take<float>(on_cpu.room(own, {job.length - step, job.length})) : nullptr;
    each_range(builder, {0, job.length}, step,
               [&](Range tokens) { on_cpu.chunk_forward(builder, own, tokens, room); });
}

void add_pulse(cpu::PlanBuilder& builder, const Job& level, int32_t* to) {
    builder.launch(describe::pulse(level.length), side("1", 1),
                   [to, length = level.length, chunk = level.chunk](const cpu::Item&) {
                       for (int64_t token = 0; token < length; ++token) to[token] = token % chunk == 0;
                   });
}

// Level n runs the strategy with chunk C_n, read at its last boundary, with its own states, none of them
// output.
template <class Builder, class AddLaunches>
void add_levels(Builder& builder, const Job& job, const AddLaunches& add_launches) {
    const std::vector<int64_t> chunks = levels_of(builder.parameters());
    auto* const y = static_cast<std::byte*>(builder.output("level_y", job.storage).address);
    if (chunks.empty() || !y) return;
    int32_t* const pulse = builder.output("pulse").template as<int32_t>();
    Job level = job;
    level.reads_boundary = true;
    level.m.to = level.s.to = level.boundaries = nullptr;
    level.y_name = "level_y";
    level.y_stride = static_cast<int64_t>(chunks.size()) * job.length * job.d;
    for (size_t n = 0; n < chunks.size(); ++n) {
        const auto at = static_cast<int64_t>(n) * job.length;
        level.chunk = std::min(chunks[n], job.length);
        level.y = y + at * job.d * bytes_of(job.storage);
        add_pulse(builder, level, pulse + at);
        add_launches(builder, level);
    }
}

template <class Builder, class AddLaunches>
Outcome<Plan> plan_with(const PlanRequest& request, const AddLaunches& add_launches) {
    Builder builder(request);
    const Job job = job_of(builder, strategy_of(request.variant));
    add_launches(builder, job);
    add_levels(builder, job, add_launches);
    builder.follow(follow_of(request.parameters));
    return builder.finish();
}

}  // namespace

Follow follow_of(const Parameters& parameters) {
    if (parameters.is("launch", "sync")) return Follow::wait;
    if (parameters.is("launch", "graph")) return Follow::graph;
    return parameters.is("launch", "graph_pdl") ? Follow::graph_programmatic : Follow::stream;
}

Outcome<Plan> plan_on_cpu(const PlanRequest& request) { return plan_fold(request, 0); }

Outcome<Plan> plan_fold(const PlanRequest& request, int64_t chunks_at_a_time) {
    const Strategy& strategy = strategy_of(request.variant);
    return plan_with<cpu::PlanBuilder>(request, [&](cpu::PlanBuilder& builder, const Job& job) {
        add_fold(builder, strategy, job, chunks_at_a_time);
    });
}

Outcome<Plan> plan_on_cuda(const PlanRequest& request) {
    return plan_with<cuda::PlanBuilder>(request, strategy_of(request.variant).on_cuda.add_launches);
}

}  // namespace sawtooth::memory
