// The exact rules, token by token.
//   sequential             one launch per token: the sawtooth
//   sequential_persistent  one launch in total; strips of rows never wait for each other
//   tnt                    shards of C_G tokens, one after another. In a shard, local memories of C_L tokens
//                          run in parallel, each from the global memory without momentum. Then
//                          M = (1 - a) M + mean mean^T, with the means of y and of alpha over the shard
// Items are strips of 16 rows of a sequence; for lattice and trellis, whose norms need all rows, sequences.

#include <algorithm>

#include "kernels/cpu/scratch.h"
#include "kernels/cpu/vectors.h"
#include "kernels/memory/cpu/job.h"
#include "kernels/memory/launches.h"

namespace sawtooth::memory {
namespace {

struct Scratch {
    std::vector<float> k, v, q, errors, local, mean;
};
thread_local Scratch scratch;

// S = keep S - step * sum of e_i k_i^T over the window, with all errors against the current M.
void add_window(const StripChain& chain, const Gate& gate, const float* m, float* s, const float* k,
                int64_t stride, const float* v, int64_t count) {
    float* const errors = cpu::at_least(scratch.errors, count * lanes);
    cpu::multiply(
        {.left = {k, stride, 1}, .right = {m}, .target = {errors}, .rows = count, .inner = chain.columns});
    cpu::combine(errors, gate.step, errors, -gate.step, v, count * lanes);
    cpu::scale(s, gate.keep, chain.strip_size());
    cpu::multiply({.left = {k, 1, stride},
                   .right = {errors},
                   .target = {s},
                   .rows = chain.columns,
                   .inner = count,
                   .into = cpu::Into::subtract});
}

// A strip of a matrix rule: of the job, or of a local memory.
struct Strip {
    int64_t item;
    float *m, *s;               // s null without momentum
    float* sum_of_y = nullptr;  // of a local memory, which stores no boundaries
};

void walk_block(const CpuJob& job, const Strip& strip, Range tokens) {
    static constexpr float zeros[lanes] = {};
    const StripChain& chain = job.memory;
    const int64_t sequence = strip.item / chain.strips(), row = strip.item % chain.strips() * lanes,
                  stride = padded(job.d);
    const Range sources{chain.first_source(tokens.first), tokens.last};
    float* const k = cpu::at_least(scratch.k, sources.count() * stride);
    float* const v = cpu::at_least(scratch.v, sources.count() * lanes);
    float* const q = cpu::at_least(scratch.q, tokens.count() * stride);
    job.load_keys(job.k, sequence, sources, k);
    job.load_keys(job.q, sequence, tokens, q);
    job.load_strip_values(sequence, row / lanes, sources, v);
    for (int64_t token = tokens.first; token < tokens.last; ++token) {
        if (!strip.sum_of_y) chain.put_boundary(strip.item, token, strip.m);
        const int64_t at = token - sources.first;
        Gate gate = chain.gate(sequence, token);
        float u[lanes], y[lanes];
        if (job.rule->is_windowed) {
            const int64_t from = chain.first_source(token) - sources.first;
            add_window(chain, gate, strip.m, strip.s, k + from * stride, stride, v + from * lanes,
                       at + 1 - from);
            gate.keep = 1;
            std::copy_n(zeros, lanes, u);
        } else if (chain.reads_memory) {
            error_of(strip.m, k + at * stride, chain.columns, v + at * lanes, u);
            cpu::scale(u, -gate.step, lanes);
        } else {
            std::copy_n(v + at * lanes, lanes, u);
            cpu::scale(u, gate.step, lanes);
        }
        take_step({strip.m, strip.s, chain.columns, gate.decay, gate.keep, u, k + at * stride,
                   q + (token - tokens.first) * stride, y});
        job.put(sequence, token, row, y, lanes);
        if (strip.sum_of_y) cpu::combine(strip.sum_of_y, 1, strip.sum_of_y, 1, y, lanes);
    }
}

void walk_strip(const CpuJob& job, const Strip& strip, Range tokens, const std::stop_token& stop) {
    in_blocks(tokens, stop, [&](Range block) { walk_block(job, strip, block); });
}

void walk_matrix(const CpuJob& job, int64_t item, Range tokens, const std::stop_token& stop) {
    const StripChain& chain = job.memory;
    if (tokens.first == 0) chain.load_initial(item);
    walk_strip(job, {item, chain.m_of(item), chain.s_of(item)}, tokens, stop);
    if (tokens.last == job.length) chain.put_final(item);
}

void walk(const CpuJob& job, Range tokens, const cpu::Item& item) {
    switch (job.rule->state) {
        case State::matrix:
            walk_matrix(job, item.index, tokens, item.stop);
            break;
        case State::slots:
            walk_lattice(job, item.index, tokens, item.stop);
            break;
        case State::trellis:
            walk_trellis(job, item.index, tokens, item.stop);
            break;
    }
    item.tally.combines += tokens.count();
}

Side items_of(const CpuJob& job) {
    return job.rule->is(State::matrix) ? job.memory.sides() : side("B", job.batch);
}

}  // namespace

void forward::sequential(cpu::PlanBuilder& builder, const CpuJob& job, Range tokens, float*) {
    builder.launch_steps(describe::tokens(job, 1), items_of(job), tokens.count(),
                         [&job, first = tokens.first](int64_t step, const cpu::Item& item) {
                             walk(job, {first + step, first + step + 1}, item);
                         });
}

void forward::sequential_persistent(cpu::PlanBuilder& builder, const CpuJob& job, Range tokens, float*) {
    builder.launch(describe::tokens(job, tokens.count()), items_of(job),
                   [&job, tokens](const cpu::Item& item) { walk(job, tokens, item); });
}

namespace {

int64_t locals_of(const CpuJob& job, Range shard) { return ceil_divide(shard.count(), job.local_tokens); }

// One strip of one local memory over its tokens; `sums` [batch, locals, strips, 16] receives the sum of y.
void run_local(const CpuJob& job, Range shard, const cpu::Item& item, float* sums) {
    const StripChain& chain = job.memory;
    const int64_t strips = chain.strips(), local = item.index / strips % locals_of(job, shard);
    const int64_t global = item.index / (locals_of(job, shard) * strips) * strips + item.index % strips;
    const int64_t size = chain.strip_size();
    float *const m = cpu::at_least(scratch.local, 2 * size), *const s = m + size;
    if (shard.first == 0)
        chain.load_initial(global, m, nullptr);
    else
        std::copy_n(chain.m_of(global), size, m);
    std::fill_n(s, size, 0.0f);
    float* const sum = sums + item.index * lanes;
    std::fill_n(sum, lanes, 0.0f);
    const int64_t first = shard.first + local * job.local_tokens;
    const Range tokens{first, std::min(first + job.local_tokens, shard.last)};
    walk_strip(job, {global, m, chain.has_momentum ? s : nullptr, sum}, tokens, item.stop);
    item.tally.combines += tokens.count();
}

// One strip of the global memory after a shard.
void step_global(const CpuJob& job, Range shard, int64_t item, const float* sums) {
    const StripChain& chain = job.memory;
    const int64_t locals = locals_of(job, shard), row = chain.strips() * lanes;
    const int64_t sequence = item / chain.strips(), strip = item % chain.strips();
    const auto count = static_cast<float>(shard.count());
    float* const mean = cpu::at_least(scratch.mean, row);
    std::fill_n(mean, row, 0.0f);
    for (int64_t local = 0; local < locals; ++local)
        cpu::combine(mean, 1, mean, 1, sums + (sequence * locals + local) * row, row);
    cpu::scale(mean, 1 / count, row);
    double alpha = 0;
    for (int64_t token = shard.first; token < shard.last; ++token)
        alpha += chain.gates.alpha[sequence * chain.length + token];
    if (shard.first == 0) chain.load_initial(item);
    chain.put_boundary(item, shard.first, chain.m_of(item));
    float unread[lanes];
    take_step({chain.m_of(item), nullptr, chain.columns, 1 - static_cast<float>(alpha) / count, 0,
               mean + strip * lanes, mean, mean, unread});
    if (shard.last == job.length) chain.put_final(item);
}

}  // namespace

int64_t room::tnt(const CpuJob& job, Range tokens) {
    return job.memory.items() * locals_of(job, {0, std::min(job.chunk, tokens.count())}) * lanes;
}

void forward::tnt(cpu::PlanBuilder& builder, const CpuJob& job, Range tokens, float* sums) {
    each_range(builder, tokens, job.chunk, [&](Range shard) {
        builder.launch(describe::locals(job, shard),
                       side("B", job.batch) * pieces("C_G", shard.count(), "C_L", job.local_tokens) *
                           pieces("d", job.d, lanes),
                       [&job, shard, sums](const cpu::Item& item) { run_local(job, shard, item, sums); });
        builder.launch(
            describe::global_step(job, shard), job.memory.sides(),
            [&job, shard, sums](const cpu::Item& item) { step_global(job, shard, item.index, sums); });
    });
}

}  // namespace sawtooth::memory
