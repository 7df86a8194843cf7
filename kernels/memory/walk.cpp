#include "kernels/memory/walk.h"

#include <algorithm>
#include <cmath>

#include "kernels/memory/scratch.h"
#include "kernels/memory/vectors.h"

namespace sawtooth::memory {
namespace {

constexpr int64_t tokens_a_block = 64;  // loaded at once; the stop token is looked at between blocks

struct Scratch {
    std::vector<float> k, v, q, x, errors, slots, row, scores;
};
thread_local Scratch scratch;

// Calls block(tokens) for pieces of `tokens`.
template <class Block>
void in_blocks(Range tokens, const std::stop_token& stop, Block&& block) {
    for (int64_t first = tokens.first; first < tokens.last && !stop.stop_requested(); first += tokens_a_block)
        block(Range{first, std::min(first + tokens_a_block, tokens.last)});
}

// S = keep S - step * sum of e_i k_i^T over the window, all errors taken at the present M.
void add_window(const Chain& chain, const Gate& gate, const float* m, float* s, const float* k,
                int64_t stride, const float* v, int64_t count) {
    float* const errors = at_least(scratch.errors, count * lanes);
    multiply(
        {.left = {k, stride, 1}, .right = {m}, .target = {errors}, .rows = count, .inner = chain.columns});
    combine(errors, gate.step, errors, -gate.step, v, count * lanes);
    scale(s, gate.keep, chain.strip_size());
    multiply({.left = {k, 1, stride},
              .right = {errors},
              .target = {s},
              .rows = chain.columns,
              .inner = count,
              .into = Into::subtract});
}

void walk_block(const Job& job, int64_t item, float* m, float* s, Range tokens, float* sum) {
    static constexpr float zeros[lanes] = {};
    const Chain& chain = job.memory;
    const int64_t batch = item / chain.strips(), strip = item % chain.strips(), stride = padded(job.width);
    const Range sources{chain.first_source(tokens.first), tokens.last};
    float* const k = at_least(scratch.k, sources.count() * stride);
    float* const v = at_least(scratch.v, sources.count() * lanes);
    float* const q = at_least(scratch.q, tokens.count() * stride);
    job.load_keys(job.k, batch, sources, k);
    job.load_keys(job.q, batch, tokens, q);
    job.load_strip_values(batch, strip, sources, v);
    for (int64_t token = tokens.first; token < tokens.last; ++token) {
        chain.put_boundary(item, token, m);
        const int64_t at = token - sources.first;
        Gate gate = chain.gates.at(batch, token);
        float u[lanes], y[lanes];
        if (job.rule == UpdateRule::atlas_omega) {
            const int64_t from = chain.first_source(token) - sources.first;
            add_window(chain, gate, m, s, k + from * stride, stride, v + from * lanes, at + 1 - from);
            gate.keep = 1;
            std::copy_n(zeros, lanes, u);
        } else if (chain.reads_memory) {
            error_of(m, k + at * stride, chain.columns, v + at * lanes, u);
            scale(u, -gate.step, lanes);
        } else {
            std::copy_n(v + at * lanes, lanes, u);
            scale(u, gate.step, lanes);
        }
        take_step({m, s, chain.columns, gate.decay, gate.keep, u, k + at * stride,
                   q + (token - tokens.first) * stride, y});
        job.y.put(batch, token, strip * lanes, y, lanes);
        if (sum) combine(sum, 1, sum, 1, y, lanes);
    }
}

// s = (1 - g c) s + g v, g = sigmoid(s . k), c = s . v; then normalised.
void step_slots(const Job& job, float* slots, const float* k, const float* v) {
    const int64_t stride = padded(job.width), count = padded(job.slot_count);
    float* const gates = at_least(scratch.scores, count);
    std::fill_n(gates, count, 0.0f);
    for (int64_t i = 0; i < job.slot_count; ++i) gates[i] = dot(slots + i * stride, k, stride);
    sigmoid(gates, count);
    for (int64_t i = 0; i < job.slot_count; ++i) {
        float* const slot = slots + i * stride;
        combine(slot, 1 - gates[i] * dot(slot, v, stride), slot, gates[i], v, stride);
        normalise(slot, stride);
    }
}

// M of one sequence, strip by strip: e = M k - v, M = decay M - step e k^T, y = M q.
void step_matrix(const Chain& chain, int64_t batch, const Gate& gate, const float* k, const float* v,
                 const float* q, float* y) {
    for (int64_t strip = 0; strip < chain.strips(); ++strip) {
        float* const m = chain.strip_of(chain.m, batch * chain.strips() + strip);
        float e[lanes];
        error_of(m, k, chain.columns, v + strip * lanes, e);
        scale(e, -gate.step, lanes);
        take_step({m, nullptr, chain.columns, gate.decay, 0, e, k, q, y + strip * lanes});
    }
}

void apply_matrix(const Chain& chain, int64_t batch, const float* q, float* y) {
    multiply({.left = {q, 0, 1},
              .right = {chain.strip_of(chain.m, batch * chain.strips()), lanes, chain.strip_size()},
              .target = {y},
              .rows = 1,
              .inner = chain.columns,
              .blocks = chain.strips()});
}

}  // namespace

void walk_strip(const Job& job, int64_t item, float* m, float* s, Range tokens, const std::stop_token& stop,
                float* sum) {
    in_blocks(tokens, stop, [&](Range block) { walk_block(job, item, m, s, block, sum); });
}

void load_initial_slot(const Job& job, int64_t item) {
    const int64_t stride = padded(job.width);
    float* const slot = job.live_slots + item * stride;
    std::copy_n(job.slots + item * job.width, job.width, slot);
    std::fill(slot + job.width, slot + stride, 0.0f);
    normalise(slot, stride);
}

void put_slot_boundary(const Job& job, int64_t item, int64_t token, const float* slot) {
    const Chain& chain = job.memory;
    if (!job.slot_boundaries || token % chain.boundary_chunk != 0) return;
    const int64_t at = item / job.slot_count * chain.boundary_count + token / chain.boundary_chunk;
    std::copy_n(slot, job.width,
                job.slot_boundaries + (at * job.slot_count + item % job.slot_count) * job.width);
}

void put_final_slot(const Job& job, int64_t item) {
    const float* const slot = job.live_slots + item * padded(job.width);
    if (job.final_slots) std::copy_n(slot, job.width, job.final_slots + item * job.width);
    if (!job.slot_boundaries) return;
    const int64_t at = (item / job.slot_count + 1) * job.memory.boundary_count - 1;
    std::copy_n(slot, job.width,
                job.slot_boundaries + (at * job.slot_count + item % job.slot_count) * job.width);
}

void read_slots(const Job& job, const float* slots, const float* q, float* y) {
    const int64_t stride = padded(job.width), count = padded(job.slot_count);
    float* const scores = at_least(scratch.scores, count);
    for (int64_t i = 0; i < job.slot_count; ++i) scores[i] = dot(slots + i * stride, q, stride);
    const float largest = *std::max_element(scores, scores + job.slot_count);
    for (int64_t i = 0; i < count; ++i) scores[i] = i < job.slot_count ? scores[i] - largest : 0;
    exponentials(scores, count);
    float sum = 0;
    for (int64_t i = 0; i < job.slot_count; ++i) sum += scores[i];
    multiply({.left = {scores},
              .right = {slots, stride, lanes},
              .target = {y},
              .rows = 1,
              .inner = job.slot_count,
              .blocks = strips_of(job.width)});
    scale(y, 1 / sum, stride);
}

void norm_silu(float* row, int64_t count) {
    silu(row, padded(count));
    normalise(row, padded(count));
    scale(row, std::sqrt(static_cast<float>(count)), padded(count));
}

void walk_slots(const Job& job, int64_t batch, Range tokens, const std::stop_token& stop) {
    const int64_t stride = padded(job.width);
    float* const slots = job.live_slots + batch * job.slot_count * stride;
    in_blocks(tokens, stop, [&](Range block) {
        float* const k = at_least(scratch.k, block.count() * stride);
        float* const v = at_least(scratch.v, block.count() * stride);
        float* const q = at_least(scratch.q, block.count() * stride);
        float* const y = at_least(scratch.row, stride);
        job.load_keys(job.k, batch, block, k);
        job.v.load(batch, block, v, stride);
        job.load_keys(job.q, batch, block, q);
        for (int64_t row = 0; row < block.count(); ++row) {
            for (int64_t i = 0; i < job.slot_count; ++i)
                put_slot_boundary(job, batch * job.slot_count + i, block.first + row, slots + i * stride);
            step_slots(job, slots, k + row * stride, v + row * stride);
            read_slots(job, slots, q + row * stride, y);
            job.y.put(batch, block.first + row, 0, y, stride);
        }
    });
}

void walk_trellis(const Job& job, int64_t batch, Range tokens, const std::stop_token& stop) {
    const int64_t stride = padded(job.width), slots = padded(job.compress);
    in_blocks(tokens, stop, [&](Range block) {
        float* const k = at_least(scratch.k, block.count() * stride);
        float* const v = at_least(scratch.v, block.count() * stride);
        float* const q = at_least(scratch.q, block.count() * stride);
        float* const x = at_least(scratch.x, block.count() * stride);
        float* const z = at_least(scratch.row, 2 * slots + stride);
        float *const r = z + slots, *const y = r + slots;
        job.load_keys(job.k, batch, block, k);
        job.v.load(batch, block, v, stride);
        job.load_keys(job.q, batch, block, q);
        job.x.load(batch, block, x, stride);
        for (int64_t row = 0; row < block.count(); ++row) {
            const int64_t at = row * stride, token = block.first + row;
            std::fill(k + at + job.compress, k + at + stride, 0.0f);
            step_matrix(job.memory, batch, job.memory.gates.at(batch, token), x + at, k + at, x + at, z);
            norm_silu(z, job.compress);
            apply_matrix(job.memory, batch, q + at, r);
            norm_silu(r, job.compress);
            step_matrix(job.values, batch, job.values.gates.at(batch, token), z, v + at, r, y);
            job.y.put(batch, token, 0, y, stride);
        }
    });
}

}  // namespace sawtooth::memory
