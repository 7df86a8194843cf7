// The recurrence token by token: one step function, driven by one launch per token or by one launch for all.

#include <algorithm>

#include "kernels/btp/launches.h"
#include "kernels/btp/parts.h"
#include "kernels/btp/tensors.h"
#include "kernels/cpu/half.h"
#include "kernels/cpu/plan_builder.h"

namespace sawtooth::btp {
namespace {

// The state of one channel: the recurrence inside its block, and what is left of the carry into the block.
struct State {
    float local = 0, carried = 0;
    float x() const { return local + carried; }
};

State step(Order order, const State& state, float gate, float input) {
    return {gate * state.local + input, order == Order::one ? 0 : gate * state.carried};
}

// Returns the carry into the block after `last`.
float carry_from(Order order, const State& last) {
    if (order == Order::one) return 0;
    return order == Order::two ? last.local : last.x();
}

// Takes the step into a block. Only the carry passes the first gate.
State enter(Order order, float carry, float gate, float input) {
    return {input, order == Order::one ? 0 : gate * carry};
}

// Returns the state before the first block, in which carry0 is the last value.
State before_first(const Tensors& job, int64_t row) {
    return {job.carry0 ? job.carry0.as<float>()[row] : 0, 0};
}

void decode(const Tensors& job, const cpu::Item& item) {
    const int64_t head = item.index / job.width, channel = item.index % job.width;
    float gates[longest_block], inputs[longest_block], x[longest_block];
    State state = before_first(job, item.index);
    for (int64_t b = 0; b < job.blocks() && !item.stop.stop_requested(); ++b) {
        const Range positions = job.positions(b);
        const int64_t count = positions.count(), at = job.value_at(head, channel, positions.first);
        cpu::read(job.a, job.gate_at(head, positions.first), count, gates);
        cpu::read(job.u, at, count, inputs);
        const float carry = carry_from(job.order, state);
        job.channels_at(job.carry, head, b)[channel] = carry;
        state = enter(job.order, carry, gates[0], inputs[0]);
        x[0] = state.x();
        for (int64_t i = 1; i < count; ++i) {
            state = step(job.order, state, gates[i], inputs[i]);
            x[i] = state.x();
        }
        cpu::write(x, count, job.x, at);
    }
}

// Moves all channels of a head by one token.
void move(const Tensors& job, State* states, int64_t position, int64_t head) {
    float gate, input;
    cpu::read(job.a, job.gate_at(head, position), 1, &gate);
    for (int64_t channel = 0; channel < job.width; ++channel) {
        const int64_t at = job.value_at(head, channel, position);
        State& state = states[head * job.width + channel];
        cpu::read(job.u, at, 1, &input);
        if (position % job.block == 0) {
            if (position == 0) state = before_first(job, head * job.width + channel);
            const float carry = carry_from(job.order, state);
            job.channels_at(job.carry, head, position / job.block)[channel] = carry;
            state = enter(job.order, carry, gate, input);
        } else {
            state = step(job.order, state, gate, input);
        }
        const float x = state.x();
        cpu::write(&x, 1, job.x, at);
    }
}

}  // namespace

Outcome<Plan> plan_sequential_on_cpu(const PlanRequest& request) {
    cpu::PlanBuilder builder(request);
    const Tensors& job = builder.keep(Tensors(builder));
    const Buffer states = builder.take("state", {job.heads, job.width, 2});
    builder.launch_steps(
        token(job, states), side("B H", job.heads), job.length,
        [&job, states = static_cast<State*>(states.address)](int64_t position, const cpu::Item& item) {
            move(job, states, position, item.index);
        });
    return builder.finish();
}

Outcome<Plan> plan_decode_on_cpu(const PlanRequest& request) {
    cpu::PlanBuilder builder(request);
    const Tensors& job = builder.keep(Tensors(builder));
    builder.launch(btp::decode(job), side("B H", job.heads) * side("DH", job.width),
                   [&job](const cpu::Item& item) { decode(job, item); });
    return builder.finish();
}

}  // namespace sawtooth::btp
