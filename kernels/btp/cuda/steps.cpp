#include "kernels/btp/cuda/job.h"
#include "kernels/btp/launches.h"
#include "kernels/btp/parts.h"

namespace sawtooth::btp {
namespace {

constexpr int64_t threads = 64;  // few, so that rows spread over the SMs

Grid grid_of(const CudaJob& job) { return {pieces("(B H DH)", job.rows(), threads)}; }

cuda::KernelSource source_of(const CudaJob& job, const char* entry) {
    return {
        .file = "kernels/btp/cuda/steps.cu", .entry = entry, .defines = job.defines(), .threads = threads};
}

}  // namespace

Outcome<Plan> plan_sequential_on_cuda(const PlanRequest& request) {
    cuda::PlanBuilder builder(request);
    const CudaJob job(builder);
    const Buffer state = builder.take("state", {job.heads, job.width, 2});
    MoreArguments given = job.arguments();
    given.state = state.as<float>();
    builder.launch_steps(token(job, state), grid_of(job), source_of(job, "token"), job.length,
                         [given](int64_t token) {
                             MoreArguments step = given;
                             step.token = token;
                             return step;
                         });
    return builder.finish();
}

Outcome<Plan> plan_decode_on_cuda(const PlanRequest& request) {
    cuda::PlanBuilder builder(request);
    const CudaJob job(builder);
    builder.launch(decode(job), grid_of(job), source_of(job, "decode"), job.arguments());
    return builder.finish();
}

}  // namespace sawtooth::btp
