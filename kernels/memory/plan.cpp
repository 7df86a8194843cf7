// Makes a plan from a request on both backends: the arrays, the launches of the strategy, then those of every
// level.

#include <algorithm>

#include "kernels/core/integers.h"
#include "kernels/memory/cpu/job.h"
#include "kernels/memory/cuda/strategies.h"
#include "kernels/memory/launches.h"
#include "kernels/memory/strategies.h"

namespace sawtooth::memory {
namespace {

// The numbers that the arrays of a range may have on the CPU: 32 MiB. A chunk that needs more gets more and
// is a range of its own.
constexpr int64_t usual_room = 8 << 20;

// The number of tokens of a range: whole chunks, as many as fit the room.
int64_t tokens_of_range(const Strategy& strategy, const CpuJob& job, int64_t chunks_at_a_time) {
    const auto tokens_of = [&](int64_t count) {
        return count >= ceil_divide(job.length, job.chunk) ? job.length : count * job.chunk;
    };
    if (chunks_at_a_time > 0) return tokens_of(chunks_at_a_time);
    // The windows of the last tokens reach back the farthest.
    const auto wanted = [&](int64_t tokens) {
        Room counted;
        strategy.on_cpu(job, {job.length - tokens, job.length}, counted);
        return counted.numbers();
    };
    if (wanted(job.length) <= usual_room) return job.length;
    return tokens_of(std::max<int64_t>(usual_room / wanted(tokens_of(1)), 1));
}

void add_fold(cpu::PlanBuilder& builder, const Strategy& strategy, const Tensors& t,
              int64_t chunks_at_a_time) {
    const CpuJob& job = builder.keep(CpuJob(builder, t));
    const int64_t step = tokens_of_range(strategy, job, chunks_at_a_time);
    Room room(&builder);
    const AddRange add = strategy.on_cpu(job, {job.length - step, job.length}, room);
    each_range(builder, {0, job.length}, step, [&](Range tokens) { add(builder, tokens); });
}

void add_pulse(cpu::PlanBuilder& builder, const Tensors& level, const Buffer& pulse, int64_t first) {
    builder.launch(
        launches::pulse(pulse), side("1", 1),
        [to = pulse.as<int32_t>() + first, length = level.length, chunk = level.chunk](const cpu::Item&) {
            for (int64_t token = 0; token < length; ++token) to[token] = token % chunk == 0;
        });
}

// Level n runs the strategy with chunk C_n and with states of its own, none of which is an output. Its tokens
// read the memory at its last boundary.
template <class Builder, class AddLaunches>
void add_levels(Builder& builder, const Tensors& t, const AddLaunches& add_launches) {
    const std::vector<int64_t> chunks = levels_of(builder.parameters());
    const Buffer y = builder.output("level_y", t.storage);
    if (chunks.empty() || !y) return;
    const Buffer pulse = builder.output("pulse");
    Tensors level = t;
    level.reads_boundary = true;
    level.m.to = level.s.to = level.boundaries = {};
    level.y = y.part({t.batch, t.length, t.d});
    level.y_stride = static_cast<int64_t>(chunks.size()) * t.length * t.d;
    for (size_t n = 0; n < chunks.size(); ++n) {
        const auto first = static_cast<int64_t>(n) * t.length;
        level.chunk = std::min(chunks[n], t.length);
        level.y_first = first * t.d;
        add_pulse(builder, level, pulse.part({t.length}), first);
        add_launches(builder, level);
    }
}

template <class Builder, class AddLaunches>
Outcome<Plan> plan_with(const PlanRequest& request, const AddLaunches& add_launches) {
    Builder builder(request);
    const Tensors t(builder, strategy_of(request.variant));
    add_launches(builder, t);
    add_levels(builder, t, add_launches);
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
    return plan_with<cpu::PlanBuilder>(request, [&](cpu::PlanBuilder& builder, const Tensors& t) {
        add_fold(builder, strategy, t, chunks_at_a_time);
    });
}

Outcome<Plan> plan_on_cuda(const PlanRequest& request) {
    return plan_with<cuda::PlanBuilder>(request, strategy_of(request.variant).on_cuda.add_launches);
}

}  // namespace sawtooth::memory
