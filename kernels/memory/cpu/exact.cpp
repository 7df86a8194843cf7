// The exact rules, token by token.
//   sequential             one launch per token: the sawtooth
//   sequential_persistent  one launch in total; strips of rows never wait for each other
//   tnt                    shards of C_G tokens, one after another. In a shard, local memories of C_L tokens
//                          run in parallel, each from the global memory without momentum. Then
//                          M = (1 - a) M + mean mean^T, with the means of y and of alpha over the shard;
//                          for lattice and trellis the last local memory becomes the global one
// Items are strips of 16 rows of a sequence; for lattice and trellis, whose norms need all rows, sequences.

#include <algorithm>

#include "kernels/cpu/plan_builder.h"
#include "kernels/cpu/vectors.h"
#include "kernels/memory/cpu/job.h"
#include "kernels/memory/launches.h"

namespace sawtooth::memory {
namespace {

// The scratch to walk one strip of a matrix rule over blocks of at most `tokens` tokens.
struct StripRooms {
    float *k, *v, *q;
    float* values = nullptr;  // the room of load_strip_values, if it needs any
    float* errors = nullptr;  // errors of a window, if there are windows

    StripRooms(cpu::Scratch& scratch, const CpuJob& job, int64_t tokens) {
        const int64_t sources = std::min(tokens + job.memory.window - 1, job.length);
        k = scratch.take<float>(sources * padded(job.d));
        v = scratch.take<float>(sources * lanes);
        q = scratch.take<float>(tokens * padded(job.d));
        if (job.w_omega) values = scratch.take<float>(sources * job.room_of_values());
        if (job.rule->is_windowed) errors = scratch.take<float>(job.memory.window * lanes);
    }
};

// S = keep S - step * (sum of e_i k_i^T over the window). All errors use the current M; step * e_i go to
// `errors`.
void add_window(const StripChain& chain, const TokenGate& gate, const float* m, float* s, const float* k,
                int64_t stride, const float* v, int64_t count, float* errors) {
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

// A strip of a matrix rule: one of the job's memory, or one of a local memory.
struct Strip {
    int64_t item;
    float *m, *s;               // s is null without momentum
    float* sum_of_y = nullptr;  // only for a local memory, which stores no boundaries
    int64_t origin = 0;         // the first token that windows reach
};

void walk_block(const CpuJob& job, const Strip& strip, Range tokens, const StripRooms& rooms) {
    static constexpr float zeros[lanes] = {};
    const StripChain& chain = job.memory;
    const int64_t sequence = strip.item / chain.strips(), row = strip.item % chain.strips() * lanes,
                  stride = padded(job.d);
    const Range sources{std::max(chain.first_source(tokens.first), strip.origin), tokens.last};
    float *const k = rooms.k, *const v = rooms.v, *const q = rooms.q;
    job.load_keys(job.k, sequence, sources, k);
    job.load_keys(job.q, sequence, tokens, q);
    job.load_strip_values(sequence, row / lanes, sources, rooms.values, v);
    for (int64_t token = tokens.first; token < tokens.last; ++token) {
        if (!strip.sum_of_y) chain.put_boundary(strip.item, token, strip.m);
        const int64_t at = token - sources.first;
        TokenGate gate = chain.gate(sequence, token);
        float u[lanes], y[lanes];
        if (job.rule->is_windowed) {
            const int64_t from =
                std::max(chain.first_of_window(sequence, token), strip.origin) - sources.first;
            add_window(chain, gate, strip.m, strip.s, k + from * stride, stride, v + from * lanes,
                       at + 1 - from, rooms.errors);
            gate.keep = 1;
            std::copy_n(zeros, lanes, u);
        } else if (job.rule->reads_memory) {
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

void walk_strip(const CpuJob& job, const Strip& strip, Range tokens, const StripRooms& rooms,
                const std::stop_token& stop) {
    in_blocks(tokens, stop, [&](Range block) { walk_block(job, strip, block, rooms); });
}

void walk_matrix(const CpuJob& job, Range tokens, const cpu::Item& item) {
    const StripChain& chain = job.memory;
    const int64_t at = item.index;
    if (tokens.first == 0) chain.load_initial(at);
    walk_strip(job, {at, chain.m_of(at), chain.s_of(at)}, tokens,
               cpu::take_rooms<StripRooms>(item.scratch, job, tokens_together(tokens.count())), item.stop);
    if (tokens.last == job.length) chain.put_final(at);
}

void walk(const CpuJob& job, Range tokens, const cpu::Item& item) {
    switch (job.rule->state) {
        case State::matrix:
            walk_matrix(job, tokens, item);
            break;
        case State::slots:
            walk_lattice(job, tokens, item);
            break;
        case State::trellis:
            walk_trellis(job, tokens, item);
            break;
    }
    item.tally.combines += tokens.count();
}

// The scratch bytes of a launch of `tokens` tokens.
int64_t scratch_of(const CpuJob& job, int64_t tokens) {
    switch (job.rule->state) {
        case State::matrix:
            return cpu::scratch_bytes<StripRooms>(job, tokens_together(tokens));
        case State::slots:
            return scratch_of_lattice(job, tokens);
        case State::trellis:
            return scratch_of_trellis(job, tokens);
    }
    return 0;
}

Side items_of(const CpuJob& job) {
    return job.rule->is(State::matrix) ? job.memory.sides() : side("B", job.batch);
}

}  // namespace

AddRange on_cpu::sequential(const CpuJob& job, Range, Room&) {
    return [&job](cpu::PlanBuilder& builder, Range tokens) {
        builder.launch_steps(with_scratch(launches::token(job), scratch_of(job, 1)), items_of(job),
                             tokens.count(),
                             [&job, first = tokens.first](int64_t step, const cpu::Item& item) {
                                 walk(job, {first + step, first + step + 1}, item);
                             });
    };
}

AddRange on_cpu::sequential_persistent(const CpuJob& job, Range, Room&) {
    return [&job](cpu::PlanBuilder& builder, Range tokens) {
        builder.launch(with_scratch(launches::tokens(job, tokens), scratch_of(job, tokens.count())),
                       items_of(job), [&job, tokens](const cpu::Item& item) { walk(job, tokens, item); });
    };
}

namespace {

int64_t locals_of(const CpuJob& job, Range shard) { return ceil_divide(shard.count(), job.local_tokens); }

struct LocalRooms {
    StripRooms strip;
    float *m, *s;  // the strip of the local memory; s is null without momentum

    LocalRooms(cpu::Scratch& scratch, const CpuJob& job)
        : strip(scratch, job, tokens_together(job.local_tokens)),
          m(scratch.take<float>(job.memory.strip_size())),
          s(job.rule->has_momentum ? scratch.take<float>(job.memory.strip_size()) : nullptr) {}
};

struct GlobalRooms {
    float* mean;  // the mean of y

    GlobalRooms(cpu::Scratch& scratch, const CpuJob& job)
        : mean(scratch.take<float>(job.memory.strips() * lanes)) {}
};

// Runs one strip of a local memory over its tokens. `sums` [batch, locals, strips, 16] receives the sum of y.
void run_local(const CpuJob& job, Range shard, const cpu::Item& item, float* sums) {
    const StripChain& chain = job.memory;
    const int64_t strips = chain.strips(), local = item.index / strips % locals_of(job, shard);
    const int64_t global = item.index / (locals_of(job, shard) * strips) * strips + item.index % strips;
    const int64_t size = chain.strip_size();
    const auto rooms = cpu::take_rooms<LocalRooms>(item.scratch, job);
    if (shard.first == 0)
        chain.load_initial(global, rooms.m, nullptr);
    else
        std::copy_n(chain.m_of(global), size, rooms.m);
    if (rooms.s) std::fill_n(rooms.s, size, 0.0f);
    float* const sum = sums + item.index * lanes;
    std::fill_n(sum, lanes, 0.0f);
    const int64_t first = shard.first + local * job.local_tokens;
    const Range tokens{first, std::min(first + job.local_tokens, shard.last)};
    walk_strip(job, {global, rooms.m, rooms.s, sum, first}, tokens, rooms.strip, item.stop);
    item.tally.combines += tokens.count();
}

// Updates one strip of the global memory after a shard. `mean` receives the mean of y.
void step_global(const CpuJob& job, Range shard, int64_t item, const float* sums, float* mean) {
    const StripChain& chain = job.memory;
    const int64_t locals = locals_of(job, shard), row = chain.strips() * lanes;
    const int64_t sequence = item / chain.strips(), strip = item % chain.strips();
    const auto count = static_cast<float>(shard.count());
    std::fill_n(mean, row, 0.0f);
    for (int64_t local = 0; local < locals; ++local)
        cpu::combine(mean, 1, mean, 1, sums + (sequence * locals + local) * row, row);
    cpu::scale(mean, 1 / count, row);
    double alpha = 0;
    const float* const alphas = job.alpha.as<float>() + sequence * job.length;
    for (int64_t token = shard.first; token < shard.last; ++token) alpha += alphas[token];
    if (shard.first == 0) chain.load_initial(item);
    chain.put_boundary(item, shard.first, chain.m_of(item));
    float unread[lanes];
    take_step({chain.m_of(item), nullptr, chain.columns, 1 - static_cast<float>(alpha) / count, 0,
               mean + strip * lanes, mean, mean, unread});
    if (shard.last == job.length) chain.put_final(item);
}

// Shards alternate between two states: all local memories of a shard read one while the last of them writes
// the other.
AddRange shards_of_slots(const CpuJob& job, Room& room) {
    const Buffers own = {job.m.live, job.s.live};
    Buffers other;
    for (const Buffer& live : own)
        other.push_back(live ? room.take(live.name + ", of every second shard", live.shape) : Buffer());
    const bool is_lattice = job.rule->is(State::slots);
    const int64_t scratch = is_lattice ? scratch_of_local_lattice(job) : scratch_of_local_trellis(job);
    return [&job, own, other, scratch, run = is_lattice ? run_local_lattice : run_local_trellis](
               cpu::PlanBuilder& builder, Range tokens) {
        each_range(builder, tokens, job.chunk, [&](Range shard) {
            const bool is_second = shard.first / job.chunk % 2 == 1;
            const Buffers &before = is_second ? other : own, &after = is_second ? own : other;
            const auto states = [](const Buffers& both) {
                return LocalSlots::States{both[0].as<float>(), both[1].as<float>()};
            };
            builder.launch(
                with_scratch(launches::locals_with_slots(job, shard, before, after), scratch),
                side("B", job.batch) * pieces("C_G", shard.count(), "C_L", job.local_tokens),
                [&job, run, shard, from = states(before), to = states(after)](const cpu::Item& item) {
                    const int64_t locals = locals_of(job, shard);
                    const int64_t first = shard.first + item.index % locals * job.local_tokens;
                    const Range own_tokens{first, std::min(first + job.local_tokens, shard.last)};
                    run(job, {item.index / locals, shard, own_tokens, from, to}, item);
                    item.tally.combines += own_tokens.count();
                });
        });
    };
}

}  // namespace

AddRange on_cpu::tnt(const CpuJob& job, Range longest, Room& room) {
    if (!job.rule->is(State::matrix)) return shards_of_slots(job, room);
    const int64_t most_locals = locals_of(job, {0, std::min(job.chunk, longest.count())});
    const Buffer all = room.take("sums of y", {job.batch, most_locals, job.memory.strips(), lanes});
    return [&job, all](cpu::PlanBuilder& builder, Range tokens) {
        each_range(builder, tokens, job.chunk, [&](Range shard) {
            const Buffer sums = first_of(all, locals_of(job, shard));
            float* const to = sums.as<float>();
            builder.launch(
                with_scratch(launches::locals(job, shard, sums), cpu::scratch_bytes<LocalRooms>(job)),
                side("B", job.batch) * pieces("C_G", shard.count(), "C_L", job.local_tokens) *
                    pieces("d", job.d, lanes),
                [&job, shard, to](const cpu::Item& item) { run_local(job, shard, item, to); });
            builder.launch(
                with_scratch(launches::global_step(job, shard, sums), cpu::scratch_bytes<GlobalRooms>(job)),
                job.memory.sides(), [&job, shard, to](const cpu::Item& item) {
                    step_global(job, shard, item.index, to,
                                cpu::take_rooms<GlobalRooms>(item.scratch, job).mean);
                });
        });
    };
}

}  // namespace sawtooth::memory
