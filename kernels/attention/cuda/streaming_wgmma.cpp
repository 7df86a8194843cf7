#include <algorithm>

#include "kernels/attention/cuda/job.h"
#include "kernels/attention/launches.h"
#include "kernels/attention/parts.h"
#include "kernels/cuda/struct_bytes.h"

namespace sawtooth::attention {
namespace {

using cuda::PlanBuilder;
using cuda::StructBytes;

// The stages of backward_wgmma.cu: more than two do not fit in shared memory.
int64_t backward_stages(const Parameters& p) { return std::min<int64_t>(p.integer("stages"), 2); }

}  // namespace

// Counts the bytes of `Shared` in backward_wgmma.cu.
int64_t warpgroup_backward_bytes(const Parameters& p) {
    const int64_t step = backward_step(p), keys = p.integer("BLOCK_N"), d = p.integer("D");
    const int64_t stages = backward_stages(p);
    if (step == 0) return backward_shared_bytes(p);
    return StructBytes()
        .array(3 * keys * d, 2, 1024)
        .array(2 * step * keys, 2)
        .array(step * d, 4)
        .array(2 * stages * step * d, 2)
        .array(2 * stages * step, 4)
        .array(1 + 2 * stages, 8)
        .total();
}

// Counts the bytes of `Shared` in streaming_wgmma.cu.
int64_t warpgroup_shared_bytes(const Parameters& p) {
    const int64_t d = p.integer("D"), slots = 2 * p.integer("stages") + 1;
    return StructBytes()
        .array(2 * p.integer("BLOCK_M") * d, 2, 1024)
        .array(slots * p.integer("BLOCK_N") * d, 2)
        .array(1 + 2 * slots, 8)
        .array(1, 4)
        .total();
}

// Counts `registers` of streaming_wgmma.cu: a warp owns 16 rows of every band.
int64_t warpgroup_registers(const Parameters& p) {
    const int64_t bands = p.integer("BLOCK_M") / (16 * p.integer("warps"));
    return bands * p.integer("D") / 2 + p.integer("BLOCK_N") / 2 + p.integer("BLOCK_N") / 4;
}

// With a step of 64 queries for every group, the registers of a thread hold the sums and scores of D = 64;
// for D = 128 two groups share the sums of 64 queries.
int64_t backward_step(const Parameters& p) {
    const int64_t groups = p.integer("warps_backward") / 4, d = p.integer("D");
    if (p.integer("BLOCK_N") != 64 * groups || d < 64 || d > 64 * groups) return 0;
    const int64_t step = 64 * 64 * groups / d;
    return p.integer("BLOCK_M") % step == 0 ? step : 0;
}

namespace {

TensorMap map_of_queries(PlanBuilder& builder, const CudaJob& job, const Buffer& vectors, int64_t rows) {
    return builder.tensor_map(vectors.address, vectors.storage, {job.heads, job.query_count, job.d}, rows);
}
TensorMap map_of_keys(PlanBuilder& builder, const CudaJob& job, const Buffer& vectors) {
    return builder.tensor_map(vectors.address, vectors.storage, {job.key_heads, job.length, job.d},
                              job.block_n);
}

// The producer is a warp, beside two groups of consumers a whole group (streaming_wgmma.cu).
int64_t threads_for(int64_t consumers) { return 32 * (consumers + (consumers > 4 ? 4 : 1)); }

void add_warpgroup_backward(PlanBuilder& builder, const CudaJob& job) {
    const Parameters& p = builder.parameters();
    const int64_t step = backward_step(p), consumers = p.integer("warps_backward");
    const auto queries = [&](const Buffer& vectors, int64_t rows) {
        return map_of_queries(builder, job, vectors, rows);
    };
    const auto keys = [&](const Buffer& vectors) { return map_of_keys(builder, job, vectors); };
    const WarpgroupBackwardArguments given{
        queries(job.q1, step), queries(job.q2, step), queries(job.dout, step), keys(job.k1),   keys(job.k2),
        keys(job.v),           queries(job.dq1, 64),  queries(job.dq2, 64),    job.arguments()};
    add_preprocess(builder, job, true);
    builder.launch(adding_backward(job), {job.key_side(), job.key_head_side()},
                   {.file = "kernels/attention/cuda/backward_wgmma.cu",
                    .entry = "backward",
                    .defines = job.with_rows({{"BLOCK_N", job.block_n},
                                              {"STEP", step},
                                              {"HEAD", job.d},
                                              {"STAGES", backward_stages(p)},
                                              {"PRECISION", p.text("dtype")},
                                              {"CAUSAL", job.mask.causal}}),
                    .threads = threads_for(consumers),
                    .shared_bytes = warpgroup_backward_bytes(p)},
                   given);
    add_epilogue(builder, job);
}

}  // namespace

Outcome<Plan> plan_wgmma_on_cuda(const PlanRequest& request) {
    PlanBuilder builder(request);
    const Parameters& p = request.parameters;
    const CudaJob job = prepared_job(builder);
    const auto queries = [&](const Buffer& vectors) {
        return map_of_queries(builder, job, vectors, job.block_m);
    };
    const auto keys = [&](const Buffer& vectors) { return map_of_keys(builder, job, vectors); };
    const WarpgroupArguments given{queries(job.q1), queries(job.q2), keys(job.k1),
                                   keys(job.k2),    keys(job.v),     job.arguments()};
    cuda::Defines defines = job.forward_defines(p);
    defines.emplace_back("MANY_TILES", job.length > 16 * job.block_n);
    builder.launch(forward(job), {job.query_side(), job.head_side()},
                   {.file = "kernels/attention/cuda/streaming_wgmma.cu",
                    .entry = "forward",
                    .defines = defines,
                    .threads = threads_for(p.integer("warps")),
                    .shared_bytes = warpgroup_shared_bytes(p)},
                   given);
    if (job.has_backward() && backward_step(p) > 0)
        add_warpgroup_backward(builder, job);
    else if (job.has_backward())
        add_backward(builder, job);
    return builder.finish();
}

}  // namespace sawtooth::attention
