// Attention in one pass over the keys with a running maximum and sum; no score is kept. In the backward pass
// every item walks a group of key tiles, recomputes their probabilities, and sums the gradients of all
// queries on the way.

#include <cmath>
#include <limits>
#include <numbers>

#include "kernels/attention/cpu/rows.h"
#include "kernels/attention/cpu/scores.h"
#include "kernels/attention/launches.h"
#include "kernels/attention/parts.h"
#include "kernels/cpu/vectors.h"

namespace sawtooth::attention {
namespace {

constexpr float nothing = -std::numeric_limits<float>::infinity();

struct ForwardRooms {
    ScoreRooms tile;
    float *scores, *shift, *sum;

    ForwardRooms(cpu::Scratch& scratch, const CpuJob& job)
        : tile(scratch, job, job.block_n),
          scores(scratch.take<float>(job.block_m * job.block_n)),
          shift(scratch.take<float>(job.block_m)),
          sum(scratch.take<float>(job.block_m)) {}
};

// Returns what the scores of a query are shifted by: the largest so far, or 0 if all are -infinity.
float shift_of(float most) { return most == nothing ? 0 : most; }

void stream_forward(const CpuJob& job, const cpu::Item& item) {
    const int64_t head = item.index / job.query_tiles();
    const Range queries = job.queries(item.index % job.query_tiles());
    const auto [tile_rooms, scores, shift, sum] = cpu::take_rooms<ForwardRooms>(item.scratch, job);
    float* const o = job.vectors(job.o, head, queries.first);
    std::fill_n(o, queries.count() * job.d, 0.0f);
    std::fill_n(shift, queries.count(), nothing);
    std::fill_n(sum, queries.count(), 0.0f);
    for (int64_t t = 0; t < job.key_tiles() && !item.stop.stop_requested(); ++t) {
        const Range keys = job.keys(t);
        const TileKind kind = kind_of(job.mask, queries, keys);
        if (kind == TileKind::skipped) continue;
        const ScoreTile tile{job.mask, queries, keys, job.block_n};
        compute_scores(job, head, tile, kind, tile_rooms, scores);
        item.tally.combines += queries.count() * encodings_of(kind);
        const int64_t columns = cpu::padded(keys.count());
        for (int64_t r = 0; r < queries.count(); ++r) {
            float* const row = scores + r * job.block_n;
            const float most = std::max(shift[r], largest(row, columns));
            const float kept = shift[r] == nothing ? 0 : std::exp(shift[r] - most);
            sum[r] = sum[r] * kept + exponentials(row, shift_of(most), columns);
            if (kept != 1) cpu::scale(o + r * job.d, kept, job.d);
            shift[r] = most;
        }
        add_over_keys(tile, scores, job.vectors(job.v, head, keys.first), job.d, o);
    }
    for (int64_t r = 0; r < queries.count(); ++r) {
        const int64_t query = queries.first + r;
        cpu::scale(o + r * job.d, 1 / sum[r], job.d);
        const float by = job.number(job.shift, head, query) = shift_of(shift[r]);
        job.number(job.sum, head, query) = sum[r];
        job.number(job.lse, head, query) = by * std::numbers::log2e_v<float> + std::log2(sum[r]);
    }
}

void preprocess(const CpuJob& job, const cpu::Item& item) {
    const int64_t head = item.index / job.query_tiles();
    const Range queries = job.queries(item.index % job.query_tiles());
    for (int64_t i = queries.first; i < queries.last; ++i)
        job.number(job.delta, head, i) =
            ordered_dot(job.vectors(job.o, head, i), job.vectors(job.dout, head, i), job.d);
}

// Key tiles are dealt to groups, so that even few heads keep all cores busy. Every group sums gradients of
// queries of its own, [groups, heads, N, D]; with a single group they are the outputs.
struct Groups {
    int64_t count = 1;
    Buffer dq1, dq2;
};

struct BackwardRooms {
    ScoreRooms tile;
    float *probabilities, *gradients;

    BackwardRooms(cpu::Scratch& scratch, const CpuJob& job)
        : tile(scratch, job, job.block_n),
          probabilities(scratch.take<float>(job.block_m * job.block_n)),
          gradients(scratch.take<float>(job.block_m * job.block_n)) {}
};

void stream_backward(const CpuJob& job, const Groups& groups, const cpu::Item& item) {
    const int64_t head = item.index / groups.count, group = item.index % groups.count;
    const auto [tile_rooms, probabilities, gradients] = cpu::take_rooms<BackwardRooms>(item.scratch, job);
    const int64_t own = group * job.heads + head;  // [groups, heads] is indexed as heads
    float *const dq1 = job.vectors(groups.dq1, own, 0), *const dq2 = job.vectors(groups.dq2, own, 0);
    for (float* const dq : {dq1, dq2}) std::fill_n(dq, job.length * job.d, 0.0f);
    for (int64_t t = group; t < job.key_tiles() && !item.stop.stop_requested(); t += groups.count) {
        const Range keys = job.keys(t);
        const auto of_keys = [&](const Buffer& array) { return job.vectors(array, head, keys.first); };
        float *const dk1 = of_keys(job.dk1), *const dk2 = of_keys(job.dk2), *const dv = of_keys(job.dv);
        for (float* const to : {dk1, dk2, dv}) std::fill_n(to, keys.count() * job.d, 0.0f);
        for (int64_t m = 0; m < job.query_tiles(); ++m) {
            const Range queries = job.queries(m);
            const TileKind kind = kind_of(job.mask, queries, keys);
            if (kind == TileKind::skipped) continue;
            const ScoreTile tile{job.mask, queries, keys, job.block_n};
            const int64_t query = queries.first * job.d;
            compute_probabilities(job, head, tile, kind, tile_rooms, probabilities);
            item.tally.combines += queries.count() * encodings_of(kind);
            add_over_queries(tile, probabilities, job.vectors(job.dout, head, queries.first), job.d, dv);
            compute_score_gradients(job, head, tile, probabilities, gradients);
            add_gradients(job, head, tile, kind, gradients, tile_rooms, {dq1 + query, dq2 + query, dk1, dk2});
        }
    }
}

// Sums the gradients of queries over the groups, always in the same order.
void sum_groups(const CpuJob& job, const Groups& groups, const cpu::Item& item) {
    const int64_t head = item.index / job.query_tiles();
    const Range queries = job.queries(item.index % job.query_tiles());
    const int64_t count = queries.count() * job.d;
    const auto sum = [&](const Buffer& of_groups, const Buffer& total) {
        float* const to = job.vectors(total, head, queries.first);
        std::copy_n(job.vectors(of_groups, head, queries.first), count, to);
        for (int64_t g = 1; g < groups.count; ++g)
            cpu::combine(to, 1, to, 1, job.vectors(of_groups, g * job.heads + head, queries.first), count);
    };
    sum(groups.dq1, job.dq1);
    sum(groups.dq2, job.dq2);
}

Groups take_groups(cpu::PlanBuilder& builder, const CpuJob& job) {
    constexpr int64_t enough_items = 16, most = 4;
    const int64_t wanted = ceil_divide(enough_items, job.heads);
    Groups groups{std::clamp<int64_t>(std::min(wanted, job.key_tiles()), 1, most), job.dq1, job.dq2};
    if (groups.count == 1) return groups;
    const Shape shape = {groups.count, job.heads, job.length, job.d};
    groups.dq1 = builder.take("dq1 of groups", shape);
    groups.dq2 = builder.take("dq2 of groups", shape);
    return groups;
}

}  // namespace

Outcome<Plan> plan_streaming_on_cpu(const PlanRequest& request) {
    cpu::PlanBuilder builder(request);
    const CpuJob& job = prepared_job(builder);
    const Side tiles = pieces("N", job.length, "BLOCK_M", job.block_m) * side("Z H", job.heads);
    builder.launch(with_scratch(forward(job), cpu::scratch_bytes<ForwardRooms>(job)), tiles,
                   cpu::Split::cyclic, [&job](const cpu::Item& item) { stream_forward(job, item); });
    if (job.has_backward()) {
        builder.launch(preprocess(job), tiles, [&job](const cpu::Item& item) { preprocess(job, item); });
        const Groups& groups = builder.keep(take_groups(builder, job));
        builder.launch(
            with_scratch(backward(job, groups.dq1, groups.dq2, 5), cpu::scratch_bytes<BackwardRooms>(job)),
            side("Z H", job.heads) * side("groups", groups.count), cpu::Split::cyclic,
            [&job, &groups](const cpu::Item& item) { stream_backward(job, groups, item); });
        if (groups.count > 1)
            builder.launch(sum_groups(job, groups.dq1, groups.dq2), tiles,
                           [&job, &groups](const cpu::Item& item) { sum_groups(job, groups, item); });
    }
    add_epilogue(builder, job);
    return builder.finish();
}

}  // namespace sawtooth::attention
