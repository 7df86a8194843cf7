// What a framework without fusion does: all scores are in memory, and every step is a pass over them. Both
// encodings are multiplied for every pair, and the mask chooses.

#include <cmath>
#include <numbers>

#include "kernels/attention/cpu/prologue.h"
#include "kernels/attention/cpu/rows.h"
#include "kernels/attention/cpu/scores.h"
#include "kernels/attention/describe.h"
#include "kernels/attention/parts.h"
#include "kernels/core/launch_info.h"
#include "kernels/cpu/vectors.h"

namespace sawtooth::attention {
namespace {

// Matrices [heads, N, N], rows padded to whole strips.
struct Matrices {
    float *probabilities = nullptr, *gradients = nullptr;
    int64_t stride = 0;
};

struct Pass {
    const CpuJob& job;
    Matrices matrices;

    // The rows of a query tile, with all keys as one tile.
    ScoreTile rows(Range queries) const { return {job.mask, queries, {0, job.length}, matrices.stride}; }
    int64_t at(int64_t head, int64_t query) const { return (head * job.length + query) * matrices.stride; }
    ScoreRooms rooms(cpu::Scratch scratch) const {
        return cpu::take_rooms<ScoreRooms>(scratch, job, matrices.stride);
    }
};

void score(const Pass& pass, int64_t head, Range queries, cpu::Scratch scratch) {
    compute_scores(pass.job, head, pass.rows(queries), TileKind::mixed, pass.rooms(scratch),
                   pass.matrices.probabilities + pass.at(head, queries.first));
}

void normalise(const Pass& pass, int64_t head, Range queries, cpu::Scratch) {
    const CpuJob& job = pass.job;
    for (int64_t i = queries.first; i < queries.last; ++i) {
        float* const row = pass.matrices.probabilities + pass.at(head, i);
        const float shift = largest(row, pass.matrices.stride);
        const float sum = exponentials(row, shift, pass.matrices.stride);
        cpu::scale(row, 1 / sum, pass.matrices.stride);
        job.lse[job.row_at(head, i)] = shift * std::numbers::log2e_v<float> + std::log2(sum);
    }
}

void weigh_values(const Pass& pass, int64_t head, Range queries, cpu::Scratch) {
    const CpuJob& job = pass.job;
    float* const o = job.o + job.at(head, queries.first);
    std::fill_n(o, queries.count() * job.d, 0.0f);
    add_over_keys(pass.rows(queries), pass.matrices.probabilities + pass.at(head, queries.first),
                  job.v + job.at(head, 0), job.d, o);
}

void preprocess(const Pass& pass, int64_t head, Range queries, cpu::Scratch) {
    const CpuJob& job = pass.job;
    for (int64_t i = queries.first; i < queries.last; ++i)
        job.delta[job.row_at(head, i)] =
            ordered_dot(job.o + job.at(head, i), job.dout + job.at(head, i), job.d);
}

void differentiate(const Pass& pass, int64_t head, Range queries, cpu::Scratch) {
    const int64_t at = pass.at(head, queries.first);
    compute_score_gradients(pass.job, head, pass.rows(queries), pass.matrices.probabilities + at,
                            pass.matrices.gradients + at);
}

void gradients_of_queries(const Pass& pass, int64_t head, Range queries, cpu::Scratch scratch) {
    const CpuJob& job = pass.job;
    const int64_t query = job.at(head, queries.first);
    for (float* const dq : {job.dq1, job.dq2}) std::fill_n(dq + query, queries.count() * job.d, 0.0f);
    add_gradients(job, head, pass.rows(queries), TileKind::mixed,
                  pass.matrices.gradients + pass.at(head, queries.first), pass.rooms(scratch),
                  {job.dq1 + query, job.dq2 + query});
}

void gradients_of_keys(const Pass& pass, int64_t head, Range keys, cpu::Scratch scratch) {
    const CpuJob& job = pass.job;
    const int64_t at = job.at(head, keys.first);
    for (float* const to : {job.dk1, job.dk2, job.dv}) std::fill_n(to + at, keys.count() * job.d, 0.0f);
    const int64_t first = job.mask.causal ? keys.first / job.block_m * job.block_m : 0;
    for (int64_t begin = first; begin < job.length; begin += job.block_m) {
        const Range queries = {begin, std::min(begin + job.block_m, job.length)};
        const ScoreTile tile{job.mask, queries, keys, pass.matrices.stride};
        if (kind_of(job.mask, queries, keys) == TileKind::skipped) continue;
        const int64_t place = pass.at(head, begin) + keys.first;
        add_over_queries(tile, pass.matrices.probabilities + place, job.dout + job.at(head, begin), job.d,
                         job.dv + at);
        add_gradients(job, head, tile, TileKind::mixed, pass.matrices.gradients + place, pass.rooms(scratch),
                      {nullptr, nullptr, job.dk1 + at, job.dk2 + at});
    }
}

using Act = void (*)(const Pass&, int64_t head, Range, cpu::Scratch);

void add_pass(cpu::PlanBuilder& builder, const Pass& pass, LaunchInfo info, bool over_keys, Act act) {
    const CpuJob& job = pass.job;
    const int64_t tiles = over_keys ? job.key_tiles() : job.query_tiles();
    const Side positions = over_keys ? pieces("N", job.length, "BLOCK_N", job.block_n)
                                     : pieces("N", job.length, "BLOCK_M", job.block_m);
    builder.launch(std::move(info), positions * side("Z H", job.heads), cpu::Split::cyclic,
                   [pass, act, tiles, over_keys](const cpu::Item& item) {
                       const int64_t tile = item.index % tiles;
                       const Range positions = over_keys ? pass.job.keys(tile) : pass.job.queries(tile);
                       act(pass, item.index / tiles, positions, item.scratch);
                       item.tally.combines += positions.count();
                   });
}

}  // namespace

Outcome<Plan> plan_naive_on_cpu(const PlanRequest& request) {
    cpu::PlanBuilder builder(request);
    const CpuJob& job = builder.keep(prepared_job(builder));
    Pass pass{job, {.stride = cpu::padded(job.length)}};
    const int64_t numbers = job.heads * job.length * pass.matrices.stride;
    pass.matrices.probabilities = builder.take<float>(numbers);
    if (job.runs_backward) pass.matrices.gradients = builder.take<float>(numbers);
    const int64_t rooms = cpu::scratch_bytes<ScoreRooms>(job, pass.matrices.stride);
    add_pass(builder, pass, with_scratch(describe::scores(request), rooms), false, score);
    add_pass(builder, pass, describe::softmax(request), false, normalise);
    add_pass(builder, pass, describe::values(request), false, weigh_values);
    if (job.runs_backward) {
        add_pass(builder, pass, describe::preprocess(request), false, preprocess);
        add_pass(builder, pass, describe::score_gradients(request), false, differentiate);
        add_pass(builder, pass, with_scratch(describe::gradients_of_queries(request), rooms), false,
                 gradients_of_queries);
        add_pass(builder, pass, with_scratch(describe::gradients_of_keys(request), rooms), true,
                 gradients_of_keys);
    }
    add_epilogue(builder, job);
    return builder.finish();
}

}  // namespace sawtooth::attention
