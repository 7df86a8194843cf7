// Shards of C_G tokens, one after another; in a shard local memories of C_L tokens, all at once, each from
// the global memory with no momentum and by the exact rule. Then M = (1 - a) M + mean mean^T, with the means
// of y and of alpha over the shard.

#include "kernels/memory/launches.h"
#include "kernels/memory/strategies.h"
#include "kernels/memory/vectors.h"
#include "kernels/memory/walk.h"

namespace sawtooth::memory {
namespace {

int64_t locals_of(const Job& job, int64_t tokens) {
    return (tokens + job.local_tokens - 1) / job.local_tokens;
}

thread_local std::vector<float> local_state;

// One strip of one local memory over its tokens; `sums` [batch, locals, strips, 16] gets the sum of its y.
void run_local(const Job& job, Range shard, const cpu::Item& item, float* sums) {
    const Chain& chain = job.memory;
    const int64_t locals = locals_of(job, shard.count()), strips = chain.strips();
    const int64_t batch = item.index / (locals * strips), local = item.index / strips % locals,
                  strip = item.index % strips, global = batch * strips + strip;
    local_state.assign(static_cast<size_t>(2 * chain.strip_size()), 0.0f);
    float *const m = local_state.data(), *const s = m + chain.strip_size();
    if (shard.first == 0)
        chain.load_initial(global, m, nullptr);
    else
        std::copy_n(chain.strip_of(chain.m, global), chain.strip_size(), m);
    float* const sum = sums + item.index * lanes;
    std::fill_n(sum, lanes, 0.0f);
    const int64_t first = shard.first + local * job.local_tokens;
    const Range tokens{first, std::min(first + job.local_tokens, shard.last)};
    walk_strip(job, global, m, chain.has_momentum ? s : nullptr, tokens, item.stop, sum);
    item.tally.combines += tokens.count();
}

// One strip of the global memory after a shard.
void step_global(const Job& job, Range shard, const cpu::Item& item, const float* sums) {
    const Chain& chain = job.memory;
    const int64_t locals = locals_of(job, shard.count()), strips = chain.strips();
    const int64_t batch = item.index / strips, strip = item.index % strips;
    const auto count = static_cast<float>(shard.count());
    std::vector<float> mean(static_cast<size_t>(strips * lanes));
    for (int64_t local = 0; local < locals; ++local)
        combine(mean.data(), 1, mean.data(), 1, sums + (batch * locals + local) * strips * lanes,
                strips * lanes);
    scale(mean.data(), 1 / count, strips * lanes);
    double alpha = 0;
    for (int64_t token = shard.first; token < shard.last; ++token)
        alpha += chain.gates.alpha[batch * chain.length + token];
    if (shard.first == 0) chain.load_initial(item.index);
    float unread[lanes];
    take_step({chain.strip_of(chain.m, item.index), nullptr, chain.columns,
               1 - static_cast<float>(alpha) / count, 0, mean.data() + strip * lanes, mean.data(),
               mean.data(), unread});
    if (shard.last == job.length) chain.put_final(item.index);
}

void add_shard(Plan& plan, const Job& job, Range shard, float* sums) {
    const int64_t d = job.width, locals = locals_of(job, shard.count());
    const auto tokens = static_cast<double>(shard.count()), batch = static_cast<double>(job.batch);
    add_launch(plan,
               describe("locals", "Local memories run over their tokens, all of a shard at once.",
                        job.memory.items() * locals, "B * ceil(C_G / C_L) * ceil(d / 16)",
                        tokens_read(job, shard.count()), tokens_written(job, shard.count()),
                        {tokens * bytes_a_token(job), tokens * operations_a_token(job)}),
               [job = &job, shard, sums](const cpu::Item& item) { run_local(*job, shard, item, sums); });
    const double size = batch * static_cast<double>(d * d);
    add_launch(plan,
               describe("global_step", "The means of a shard move the global memory.", job.memory.items(),
                        "B * ceil(d / 16)", {{"sums of y", {job.batch, locals, d}}, {"m", {job.batch, d, d}}},
                        {{"m", {job.batch, d, d}}}, {8 * size, 3 * size}),
               [job = &job, shard, sums](const cpu::Item& item) { step_global(*job, shard, item, sums); });
}

}  // namespace

int64_t room::tnt(const Job& job, Range tokens, Pulse pulse) {
    return job.memory.items() * locals_of(job, std::min(pulse.chunk, tokens.count())) * lanes;
}

void forward::tnt(Plan& plan, const Job& state, Range tokens, Pulse pulse, float* room) {
    for (int64_t first = tokens.first; first < tokens.last; first += pulse.chunk)
        add_shard(plan, state, {first, std::min(first + pulse.chunk, tokens.last)}, room);
}

}  // namespace sawtooth::memory
