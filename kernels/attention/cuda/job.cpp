#include "kernels/attention/cuda/job.h"

#include "kernels/attention/launches.h"

namespace sawtooth::attention {
namespace {

// Adds a launch of prologue.cu, where a thread turns one pair of numbers at one position for several heads.
void add_rotations(cuda::PlanBuilder& builder, LaunchInfo info, const CudaJob& job, const char* entry) {
    constexpr int64_t threads = 256, heads_a_block = 8;
    builder.launch(
        std::move(info),
        {pieces("N D / 2", job.length * job.d / 2, threads), pieces("Z H", job.heads, heads_a_block)},
        {.file = "kernels/attention/cuda/prologue.cu",
         .entry = entry,
         .defines = job.with_rows({{"STORAGE", std::string(name_of(job.storage))},
                                   {"HEAD", job.d},
                                   {"USUAL_BASE", job.base == 10000}}),
         .threads = threads},
        job.arguments());
}

}  // namespace

Arguments CudaJob::arguments() const {
    return {.heads = heads,
            .length = length,
            .window = mask.window,
            .scale = scale,
            .q = q.address,
            .k = k.address,
            .q1 = q1.address,
            .q2 = q2.address,
            .k1 = k1.address,
            .k2 = k2.address,
            .v = v.address,
            .dout = dout.address,
            .o = o.address,
            .lse = lse.as<float>(),
            .delta = delta.as<float>(),
            .dq1 = dq1.as<float>(),
            .dq2 = dq2.as<float>(),
            .dk1 = dk1.as<float>(),
            .dk2 = dk2.as<float>(),
            .dv = dv.as<float>(),
            .dq = dq.as<float>(),
            .dk = dk.as<float>(),
            .queries = query_count,
            .base = base};
}

cuda::Defines CudaJob::with_rows(cuda::Defines defines) const {
    defines.emplace_back("SHARING", sharing());
    defines.emplace_back("CACHE", first_query() > 0);
    return defines;
}

cuda::Defines CudaJob::streaming_defines(const Parameters& p) const {
    return with_rows({{"BLOCK_M", block_m},
                      {"BLOCK_N", block_n},
                      {"HEAD", d},
                      {"STAGES", p.integer("stages")},
                      {"PRECISION", p.text("dtype")},
                      {"CAUSAL", mask.causal}});
}

cuda::Defines CudaJob::forward_defines(const Parameters& p) const {
    cuda::Defines defines = streaming_defines(p);
    defines.emplace_back("ZERO_SCALE", scale == 0);
    return defines;
}

CudaJob prepared_job(cuda::PlanBuilder& builder) {
    CudaJob job(builder);
    if (job.q) add_rotations(builder, prologue(job), job, "rotate");
    return job;
}

void add_preprocess(cuda::PlanBuilder& builder, const CudaJob& job, bool clears) {
    const Parameters& p = builder.parameters();
    builder.launch(preprocess(job, clears), {job.query_side(), job.head_side()},
                   {.file = "kernels/attention/cuda/preprocess.cu",
                    .entry = "preprocess",
                    .defines = {{"STORAGE", name_of(job.storage)},
                                {"HEAD", job.d},
                                {"BLOCK_M", job.block_m},
                                {"CLEARS", clears}},
                    .threads = 32 * p.integer("warps_backward")},
                   job.arguments());
}

void add_epilogue(cuda::PlanBuilder& builder, const CudaJob& job) {
    if (job.dq) add_rotations(builder, rotate_back(job), job, "rotate_back");
}

}  // namespace sawtooth::attention
