// Attention as a framework without fusion computes it: all scores are in memory, and every step is a launch
// that goes over them. Both encodings are multiplied for every pair, and the mask chooses.

#include <cmath>
#include <numbers>

#include "kernels/attention/cpu/rows.h"
#include "kernels/attention/cpu/scores.h"
#include "kernels/attention/launches.h"
#include "kernels/attention/parts.h"
#include "kernels/cpu/vectors.h"

namespace sawtooth::attention {
namespace {

// The job, and its matrices [Z, H, N_q, stride]: rows of N numbers, padded to whole strips.
struct NaiveJob {
    const CpuJob& job;
    // Scores become probabilities in place, so both are the same memory.
    Buffer scores, probabilities, gradients;

    int64_t stride() const { return scores.shape.back(); }
    // The scores of a tile of queries with all keys.
    ScoreTile rows(Range queries) const { return {job.mask, queries, {0, job.length}, stride()}; }
    float* row(const Buffer& matrix, int64_t head, int64_t query) const {
        return matrix.as<float>() + job.query_row(head, query) * stride();
    }
    ScoreRooms rooms(cpu::Scratch scratch) const {
        return cpu::take_rooms<ScoreRooms>(scratch, job, stride());
    }
};

NaiveJob with_matrices(cpu::PlanBuilder& builder, const CpuJob& job) {
    Shape shape = job.lse.shape;
    shape.push_back(cpu::padded(job.length));
    NaiveJob naive{job, builder.take("scores", shape), {}, {}};
    naive.probabilities = naive.scores;
    naive.probabilities.name = "probabilities";
    if (job.has_backward()) naive.gradients = builder.take("score gradients", shape);
    return naive;
}

void score(const NaiveJob& naive, int64_t head, Range queries, cpu::Scratch scratch) {
    compute_scores(naive.job, head, naive.rows(queries), TileKind::mixed, naive.rooms(scratch),
                   naive.row(naive.probabilities, head, queries.first));
}

void normalise(const NaiveJob& naive, int64_t head, Range queries, cpu::Scratch) {
    const CpuJob& job = naive.job;
    for (int64_t i = queries.first; i < queries.last; ++i) {
        float* const row = naive.row(naive.probabilities, head, i);
        const float shift = largest(row, naive.stride());
        const float sum = exponentials(row, shift, naive.stride());
        cpu::scale(row, 1 / sum, naive.stride());
        job.number(job.lse, head, i) = shift * std::numbers::log2e_v<float> + std::log2(sum);
    }
}

void weigh_values(const NaiveJob& naive, int64_t head, Range queries, cpu::Scratch) {
    const CpuJob& job = naive.job;
    float* const o = job.query_vectors(job.o, head, queries.first);
    std::fill_n(o, queries.count() * job.width, 0.0f);
    add_over_keys(naive.rows(queries), naive.row(naive.probabilities, head, queries.first),
                  job.key_vectors(job.v, head, 0), job.width, o);
}

void preprocess(const NaiveJob& naive, int64_t head, Range queries, cpu::Scratch) {
    const CpuJob& job = naive.job;
    for (int64_t i = queries.first; i < queries.last; ++i)
        job.number(job.delta, head, i) =
            ordered_dot(job.query_vectors(job.o, head, i), job.query_vectors(job.dout, head, i), job.d);
}

void differentiate(const NaiveJob& naive, int64_t head, Range queries, cpu::Scratch) {
    compute_score_gradients(naive.job, head, naive.rows(queries),
                            naive.row(naive.probabilities, head, queries.first),
                            naive.row(naive.gradients, head, queries.first));
}

void gradients_of_queries(const NaiveJob& naive, int64_t head, Range queries, cpu::Scratch scratch) {
    const CpuJob& job = naive.job;
    const auto of_queries = [&](const Buffer& array) {
        return job.query_vectors(array, head, queries.first);
    };
    float *const dq1 = of_queries(job.dq1), *const dq2 = of_queries(job.dq2);
    for (float* const dq : {dq1, dq2}) std::fill_n(dq, queries.count() * job.width, 0.0f);
    add_gradients(job, head, naive.rows(queries), TileKind::mixed,
                  naive.row(naive.gradients, head, queries.first), naive.rooms(scratch), {dq1, dq2});
}

// Sums over the queries of all heads that share these keys.
void gradients_of_keys(const NaiveJob& naive, int64_t key_head, Range keys, cpu::Scratch scratch) {
    const CpuJob& job = naive.job;
    const int64_t first = key_head * job.sharing();
    const auto of_keys = [&](const Buffer& array) { return job.key_vectors(array, first, keys.first); };
    float *const dk1 = of_keys(job.dk1), *const dk2 = of_keys(job.dk2), *const dv = of_keys(job.dv);
    for (float* const to : {dk1, dk2, dv}) std::fill_n(to, keys.count() * job.width, 0.0f);
    for (int64_t head = first; head < first + job.sharing(); ++head)
        for (int64_t t = 0; t < job.query_tiles(); ++t) {
            const Range queries = job.queries(t);
            const ScoreTile tile{job.mask, queries, keys, naive.stride()};
            if (kind_of(job.mask, queries, keys) == TileKind::skipped) continue;
            add_over_queries(tile, naive.row(naive.probabilities, head, queries.first) + keys.first,
                             job.query_vectors(job.dout, head, queries.first), job.width, dv);
            add_gradients(job, head, tile, TileKind::mixed,
                          naive.row(naive.gradients, head, queries.first) + keys.first, naive.rooms(scratch),
                          {nullptr, nullptr, dk1, dk2});
        }
}

using Act = void (*)(const NaiveJob&, int64_t head, Range, cpu::Scratch);

void add_pass(cpu::PlanBuilder& builder, const NaiveJob& naive, LaunchInfo info, bool over_keys, Act act) {
    const CpuJob& job = naive.job;
    const int64_t tiles = over_keys ? job.key_tiles() : job.query_tiles();
    const Side items = over_keys ? job.key_side() * job.key_head_side() : job.query_side() * job.head_side();
    builder.launch(std::move(info), items, cpu::Split::cyclic,
                   [&naive, act, tiles, over_keys](const cpu::Item& item) {
                       const int64_t tile = item.index % tiles;
                       const Range positions = over_keys ? naive.job.keys(tile) : naive.job.queries(tile);
                       act(naive, item.index / tiles, positions, item.scratch);
                       item.tally.combines += positions.count();
                   });
}

}  // namespace

Outcome<Plan> plan_naive_on_cpu(const PlanRequest& request) {
    cpu::PlanBuilder builder(request);
    const CpuJob& job = prepared_job(builder);
    const NaiveJob& naive = builder.keep(with_matrices(builder, job));
    const Buffer &matrix = naive.scores, &p = naive.probabilities, &ds = naive.gradients;
    const int64_t rooms = cpu::scratch_bytes<ScoreRooms>(job, naive.stride());
    add_pass(builder, naive, with_scratch(scores(job, matrix), rooms), false, score);
    add_pass(builder, naive, softmax(job, matrix, p), false, normalise);
    add_pass(builder, naive, values(job, p), false, weigh_values);
    if (job.has_backward()) {
        add_pass(builder, naive, preprocess(job), false, preprocess);
        add_pass(builder, naive, score_gradients(job, p, ds), false, differentiate);
        // The gradients of mixed tiles also read queries and keys, to check that they are finite.
        LaunchInfo of_queries = with_scratch(gradients_of_queries(job, ds), rooms);
        of_queries.reads = of_queries.reads + Buffers{job.q1, job.q2};
        add_pass(builder, naive, std::move(of_queries), false, gradients_of_queries);
        LaunchInfo of_keys = with_scratch(gradients_of_keys(job, p, ds), rooms);
        of_keys.reads = of_keys.reads + Buffers{job.k1, job.k2};
        add_pass(builder, naive, std::move(of_keys), true, gradients_of_keys);
    }
    add_epilogue(builder, job);
    return builder.finish();
}

}  // namespace sawtooth::attention
