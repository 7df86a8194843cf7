#include "kernels/attention/cuda/job.h"
#include "kernels/attention/launches.h"
#include "kernels/attention/parts.h"
#include "kernels/cuda/struct_bytes.h"

namespace sawtooth::attention {
namespace {

using cuda::PlanBuilder;
using cuda::StructBytes;

// Returns the distance of rows in shared memory, which are padded against bank conflicts.
int64_t stride_of(const Parameters& p) { return p.integer("D") + 8; }

cuda::Defines defines_of(const Parameters& p, const CudaJob& job) {
    return job.with_rows({{"BLOCK_M", p.integer("BLOCK_M")},
                          {"BLOCK_N", p.integer("BLOCK_N")},
                          {"HEAD", p.integer("D")},
                          {"STAGES", p.integer("stages")},
                          {"PRECISION", p.text("dtype")},
                          {"CAUSAL", p.flag("causal") ? 1 : 0}});
}

cuda::Defines forward_defines(const Parameters& p, const CudaJob& job) {
    cuda::Defines defines = defines_of(p, job);
    defines.emplace_back("ZERO_SCALE", job.scale == 0 ? 1 : 0);
    return defines;
}

// Returns the shared memory of a thread block that owns `rows` positions, visited by tiles of `columns`.
int64_t backward_bytes(const Parameters& p, int64_t rows, int64_t columns) {
    const int64_t stride = stride_of(p);
    const int64_t stage = StructBytes().array(2 * columns * stride, 2, 4).array(2 * columns, 4).total();
    return StructBytes().array(2 * rows * stride, 2, 16).array(p.integer("stages"), stage, 4).total();
}

// Adds the launches of the backward pass, if the request has one.
void add_backward(PlanBuilder& builder, const CudaJob& job) {
    if (!job.has_backward()) return;
    const Parameters& p = builder.parameters();
    add_preprocess(builder, job);
    builder.launch(backward(job, job.dq1, job.dq2, 7), {job.key_side() + job.query_side(), job.head_side()},
                   {.file = "kernels/attention/cuda/backward.cu",
                    .entry = "backward",
                    .defines = defines_of(p, job),
                    .threads = 32 * p.integer("warps_backward"),
                    .shared_bytes = backward_shared_bytes(p)},
                   job.arguments());
    add_epilogue(builder, job);
}

}  // namespace

// Counts the bytes of `Shared` in streaming.cu.
int64_t forward_shared_bytes(const Parameters& p) {
    const int64_t stage = StructBytes().array(3 * p.integer("BLOCK_N") * stride_of(p), 2, 2).total();
    return StructBytes()
        .array(2 * p.integer("BLOCK_M") * stride_of(p), 2, 16)
        .array(p.integer("stages"), stage, 2)
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

// Counts the bytes of the larger `Shared` in backward.cu.
int64_t backward_shared_bytes(const Parameters& p) {
    const int64_t block_m = p.integer("BLOCK_M"), block_n = p.integer("BLOCK_N");
    return std::max(backward_bytes(p, block_n, block_m), backward_bytes(p, block_m, block_n));
}

Outcome<Plan> plan_streaming_on_cuda(const PlanRequest& request) {
    PlanBuilder builder(request);
    const Parameters& p = request.parameters;
    const CudaJob job = prepared_job(builder);
    builder.launch(forward(job), {job.query_side(), job.head_side()},
                   {.file = "kernels/attention/cuda/streaming.cu",
                    .entry = "forward",
                    .defines = forward_defines(p, job),
                    .threads = 32 * p.integer("warps"),
                    .shared_bytes = forward_shared_bytes(p)},
                   job.arguments());
    add_backward(builder, job);
    return builder.finish();
}

Outcome<Plan> plan_wgmma_on_cuda(const PlanRequest& request) {
    PlanBuilder builder(request);
    const Parameters& p = request.parameters;
    const CudaJob job = prepared_job(builder);
    const auto queries = [&](const Buffer& vectors) {
        return builder.tensor_map(vectors.address, vectors.storage, {job.heads, job.query_count, job.d},
                                  job.block_m);
    };
    const auto keys = [&](const Buffer& vectors) {
        return builder.tensor_map(vectors.address, vectors.storage, {job.key_heads, job.length, job.d},
                                  job.block_n);
    };
    const WarpgroupArguments given{queries(job.q1), queries(job.q2), keys(job.k1),
                                   keys(job.k2),    keys(job.v),     job.arguments()};
    const int64_t consumers = p.integer("warps"), producers = consumers > 4 ? 4 : 1;
    builder.launch(forward(job), {job.query_side(), job.head_side()},
                   {.file = "kernels/attention/cuda/streaming_wgmma.cu",
                    .entry = "forward",
                    .defines = forward_defines(p, job),
                    .threads = 32 * (consumers + producers),
                    .shared_bytes = warpgroup_shared_bytes(p)},
                   given);
    add_backward(builder, job);
    return builder.finish();
}

}  // namespace sawtooth::attention
