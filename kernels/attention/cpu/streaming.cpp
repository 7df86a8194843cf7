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
    float* const o = job.query_vectors(job.o, head, queries.first);
    std::fill_n(o, queries.count() * job.width, 0.0f);
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
            if (kept != 1) cpu::scale(o + r * job.width, kept, job.width);
            shift[r] = most;
        }
        add_over_keys(tile, scores, job.key_vectors(job.v, head, keys.first), job.width, o);
    }
    for (int64_t r = 0; r < queries.count(); ++r) {
        const int64_t query = queries.first + r;
        cpu::scale(o + r * job.width, 1 / sum[r], job.width);
        const float by = job.number(job.shift, head, query) = shift_of(shift[r]);
        job.number(job.sum, head, query) = sum[r];
        // If all scores are -infinity, the sum is 0, and o and lse become NaN.
        job.number(job.lse, head, query) = by * std::numbers::log2e_v<float> + std::log2(sum[r]) + 0 / sum[r];
    }
}

void preprocess(const CpuJob& job, const cpu::Item& item) {
    const int64_t head = item.index / job.query_tiles();
    const Range queries = job.queries(item.index % job.query_tiles());
    for (int64_t i = queries.first; i < queries.last; ++i)
        job.number(job.delta, head, i) =
            ordered_dot(job.query_vectors(job.o, head, i), job.query_vectors(job.dout, head, i), job.d);
}

// Key tiles are dealt to groups, so that even few heads keep all cores busy. Every group sums gradients of
// queries of its own, [groups, heads, N_q, width]; with a single group they are the outputs.
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

// The gradients of a tile of keys, whose sums begin at its first key.
struct KeyGradients {
    float *dk1, *dk2, *dv;
};

// Adds what the queries of one head give to the gradients of a tile of keys, and what they get from it to
// those of the queries in the memory of a group.
void add_head(const CpuJob& job, const Groups& groups, int64_t group, int64_t head, Range keys,
              const KeyGradients& to, const cpu::Item& item) {
    const auto [tile_rooms, probabilities, gradients] = cpu::take_rooms<BackwardRooms>(item.scratch, job);
    const int64_t own = group * job.heads + head;  // [groups, heads] is indexed as heads
    for (int64_t m = 0; m < job.query_tiles(); ++m) {
        const Range queries = job.queries(m);
        const TileKind kind = kind_of(job.mask, queries, keys);
        if (kind == TileKind::skipped) continue;
        const ScoreTile tile{job.mask, queries, keys, job.block_n};
        compute_probabilities(job, head, tile, kind, tile_rooms, probabilities);
        item.tally.combines += queries.count() * encodings_of(kind);
        add_over_queries(tile, probabilities, job.query_vectors(job.dout, head, queries.first), job.width,
                         to.dv);
        compute_score_gradients(job, head, tile, probabilities, gradients);
        add_gradients(job, head, tile, kind, gradients, tile_rooms,
                      {job.query_vectors(groups.dq1, own, queries.first),
                       job.query_vectors(groups.dq2, own, queries.first), to.dk1, to.dk2});
    }
}

void stream_backward(const CpuJob& job, const Groups& groups, const cpu::Item& item) {
    const int64_t group = item.index % groups.count;
    const Range heads = tile_at(item.index / groups.count, job.sharing(), job.heads);  // they share keys
    for (const Buffer& dq : {groups.dq1, groups.dq2})
        std::fill_n(job.query_vectors(dq, group * job.heads + heads.first, job.first_query()),
                    heads.count() * job.query_count * job.width, 0.0f);
    for (int64_t t = group; t < job.key_tiles() && !item.stop.stop_requested(); t += groups.count) {
        const Range keys = job.keys(t);
        const auto of_keys = [&](const Buffer& array) {
            float* const sums = job.key_vectors(array, heads.first, keys.first);
            std::fill_n(sums, keys.count() * job.width, 0.0f);
            return sums;
        };
        const KeyGradients sums{of_keys(job.dk1), of_keys(job.dk2), of_keys(job.dv)};
        for (int64_t head = heads.first; head < heads.last; ++head)
            add_head(job, groups, group, head, keys, sums, item);
    }
}

// Sums the gradients of queries over the groups, always in the same order.
void sum_groups(const CpuJob& job, const Groups& groups, const cpu::Item& item) {
    const int64_t head = item.index / job.query_tiles();
    const Range queries = job.queries(item.index % job.query_tiles());
    const int64_t count = queries.count() * job.width;
    const auto sum = [&](const Buffer& of_groups, const Buffer& total) {
        float* const to = job.query_vectors(total, head, queries.first);
        std::copy_n(job.query_vectors(of_groups, head, queries.first), count, to);
        for (int64_t g = 1; g < groups.count; ++g)
            cpu::combine(to, 1, to, 1, job.query_vectors(of_groups, g * job.heads + head, queries.first),
                         count);
    };
    sum(groups.dq1, job.dq1);
    sum(groups.dq2, job.dq2);
}

Groups take_groups(cpu::PlanBuilder& builder, const CpuJob& job) {
    constexpr int64_t enough_items = 16, most = 4;
    // Sums do not depend on the number of sequences, so that each has the same bits alone as in a batch.
    const int64_t wanted = ceil_divide(enough_items, builder.parameters().integer("H_kv"));
    Groups groups{std::clamp<int64_t>(std::min(wanted, job.key_tiles()), 1, most), job.dq1, job.dq2};
    if (groups.count == 1) return groups;
    const Shape shape = {groups.count, job.heads, job.query_count, job.width};
    groups.dq1 = builder.take("dq1 of groups", shape);
    groups.dq2 = builder.take("dq2 of groups", shape);
    return groups;
}

}  // namespace

Outcome<Plan> plan_streaming_on_cpu(const PlanRequest& request) {
    cpu::PlanBuilder builder(request);
    const CpuJob& job = prepared_job(builder);
    const Side tiles = job.query_side() * job.head_side();
    builder.launch(with_scratch(forward(job), cpu::scratch_bytes<ForwardRooms>(job)), tiles,
                   cpu::Split::cyclic, [&job](const cpu::Item& item) { stream_forward(job, item); });
    if (job.has_backward()) {
        builder.launch(preprocess(job), tiles, [&job](const cpu::Item& item) { preprocess(job, item); });
        const Groups& groups = builder.keep(take_groups(builder, job));
        builder.launch(
            with_scratch(backward(job, groups.dq1, groups.dq2, 5), cpu::scratch_bytes<BackwardRooms>(job)),
            job.key_head_side() * side("groups", groups.count), cpu::Split::cyclic,
            [&job, &groups](const cpu::Item& item) { stream_backward(job, groups, item); });
        if (groups.count > 1)
            builder.launch(sum_groups(job, groups.dq1, groups.dq2), tiles,
                           [&job, &groups](const cpu::Item& item) { sum_groups(job, groups, item); });
    }
    add_epilogue(builder, job);
    return builder.finish();
}

}  // namespace sawtooth::attention
