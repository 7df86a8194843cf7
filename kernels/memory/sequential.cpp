// The exact rules, token by token.
//   sequential             one launch a token: the sawtooth
//   sequential_persistent  one launch in all; strips of rows never wait for each other
// Items are strips of 16 rows of each sequence; those of lattice and trellis, whose rows meet in a norm, are
// whole sequences.

#include "kernels/memory/launches.h"
#include "kernels/memory/strategies.h"
#include "kernels/memory/walk.h"

namespace sawtooth::memory::forward {
namespace {

int64_t items_of(const Job& job) { return job.is_matrix() ? job.memory.items() : job.batch; }

void walk_matrix(const Job& job, Range tokens, const cpu::Item& item) {
    const Chain& chain = job.memory;
    const int64_t at = item.index;
    if (tokens.first == 0) chain.load_initial(at);
    walk_strip(job, at, chain.strip_of(chain.m, at), chain.s ? chain.strip_of(chain.s, at) : nullptr, tokens,
               item.stop);
    if (tokens.last == job.length) chain.put_final(at);
}

void walk_lattice(const Job& job, Range tokens, const cpu::Item& item) {
    const auto each_slot = [&](void (*act)(const Job&, int64_t)) {
        for (int64_t i = 0; i < job.slot_count; ++i) act(job, item.index * job.slot_count + i);
    };
    if (tokens.first == 0) each_slot(load_initial_slot);
    walk_slots(job, item.index, tokens, item.stop);
    if (tokens.last == job.length) each_slot(put_final_slot);
}

void walk_both(const Job& job, Range tokens, const cpu::Item& item) {
    const auto each_strip = [&](const auto& act) {
        for (const Chain* chain : {&job.memory, &job.values})
            for (int64_t strip = 0; strip < chain->strips(); ++strip)
                act(*chain, item.index * chain->strips() + strip);
    };
    if (tokens.first == 0) each_strip([](const Chain& chain, int64_t at) { chain.load_initial(at); });
    walk_trellis(job, item.index, tokens, item.stop);
    if (tokens.last == job.length) each_strip([](const Chain& chain, int64_t at) { chain.put_final(at); });
}

void walk(const Job& job, Range tokens, Queue& queue) {
    queue.pool->dispatch(items_of(job), cpu::Split::contiguous, [&](const cpu::Item& item) {
        if (job.is_matrix())
            walk_matrix(job, tokens, item);
        else if (job.rule == UpdateRule::lattice)
            walk_lattice(job, tokens, item);
        else
            walk_both(job, tokens, item);
        item.tally.combines += tokens.count();
    });
}

std::shared_ptr<const LaunchInfo> info_of(const Job& job, int64_t tokens) {
    const auto count = static_cast<double>(tokens);
    return describe(tokens == 1 ? "token" : "tokens",
                    tokens == 1 ? "One token corrects the memory and reads it."
                                : "All tokens, one after another, correct the memory and read it.",
                    items_of(job), job.is_matrix() ? "B * ceil(d / 16)" : "B", tokens_read(job, tokens),
                    tokens_written(job, tokens),
                    {count * bytes_a_token(job), count * operations_a_token(job)});
}

}  // namespace

void sequential(Plan& plan, const Job& state, Range tokens, Pulse, float*) {
    // Counted also where no launch is made, as a long sequence has more launches than anything else.
    plan.memory_bytes += tokens.count() * static_cast<int64_t>(sizeof(Launch));
    if (plan.dry) return;
    const auto info = info_of(state, 1);
    plan.launches.reserve(plan.launches.size() + static_cast<size_t>(tokens.count()));
    for (int64_t token = tokens.first; token < tokens.last; ++token)
        plan.launches.push_back({info, [job = &state, token](Queue& queue) {
                                     walk(*job, {token, token + 1}, queue);
                                 }});
}

void sequential_persistent(Plan& plan, const Job& state, Range tokens, Pulse, float*) {
    if (plan.dry) return;
    plan.launches.push_back({info_of(state, tokens.count()),
                             [job = &state, tokens](Queue& queue) { walk(*job, tokens, queue); }});
}

}  // namespace sawtooth::memory::forward
