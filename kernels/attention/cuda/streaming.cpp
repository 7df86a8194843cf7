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

// Returns the shared memory of a thread block that owns `rows` positions, visited by tiles of `columns`.
int64_t backward_bytes(const Parameters& p, int64_t rows, int64_t columns) {
    const int64_t stride = stride_of(p);
    const int64_t stage = StructBytes().array(2 * columns * stride, 2, 4).array(2 * columns, 4).total();
    return StructBytes().array(2 * rows * stride, 2, 16).array(p.integer("stages"), stage, 4).total();
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

// Counts the bytes of the larger `Shared` in backward.cu.
int64_t backward_shared_bytes(const Parameters& p) {
    const int64_t block_m = p.integer("BLOCK_M"), block_n = p.integer("BLOCK_N");
    return std::max(backward_bytes(p, block_n, block_m), backward_bytes(p, block_m, block_n));
}

void add_backward(PlanBuilder& builder, const CudaJob& job) {
    const Parameters& p = builder.parameters();
    add_preprocess(builder, job);
    builder.launch(backward(job, job.dq1, job.dq2, 7), {job.key_side() + job.query_side(), job.head_side()},
                   {.file = "kernels/attention/cuda/backward.cu",
                    .entry = "backward",
                    .defines = job.streaming_defines(p),
                    .threads = 32 * p.integer("warps_backward"),
                    .shared_bytes = backward_shared_bytes(p)},
                   job.arguments());
    add_epilogue(builder, job);
}

Outcome<Plan> plan_streaming_on_cuda(const PlanRequest& request) {
    PlanBuilder builder(request);
    const Parameters& p = request.parameters;
    const CudaJob job = prepared_job(builder);
    builder.launch(forward(job), {job.query_side(), job.head_side()},
                   {.file = "kernels/attention/cuda/streaming.cu",
                    .entry = "forward",
                    .defines = job.forward_defines(p),
                    .threads = 32 * p.integer("warps"),
                    .shared_bytes = forward_shared_bytes(p)},
                   job.arguments());
    if (job.has_backward()) add_backward(builder, job);
    return builder.finish();
}

}  // namespace sawtooth::attention
