#include "kernels/btp/cuda/job.h"
#include "kernels/btp/describe.h"
#include "kernels/btp/parts.h"

namespace sawtooth::btp {
namespace {

constexpr int64_t threads = 64;  // few, so that rows spread over the SMs

Grid grid_of(const CudaJob& job) { return {pieces("(B H DH)", job.rows(), threads)}; }

cuda::KernelSource source_of(const CudaJob& job, const char* entry) {
    return {
        .file = "kernels/btp/cuda/steps.cu", .entry = entry, .defines = job.defines(), .threads = threads};
}

Steps arguments_of(const CudaJob& job) {
    Steps given = {};
    static_cast<Extents&>(given) = job.extents();
    given.a = job.a;
    given.u = job.u;
    given.x = job.x;
    given.carry = job.carry;
    return given;
}

}  // namespace

Outcome<Plan> plan_sequential_on_cuda(const PlanRequest& request) {
    cuda::PlanBuilder builder(request);
    const CudaJob job(builder);
    Steps given = arguments_of(job);
    given.state = builder.take<float>(2 * job.rows());
    builder.launch_steps(describe::token(request.parameters), grid_of(job), source_of(job, "token"),
                         job.length, [given](int64_t token) {
                             Steps step = given;
                             step.token = token;
                             return step;
                         });
    return builder.finish();
}

Outcome<Plan> plan_decode_on_cuda(const PlanRequest& request) {
    cuda::PlanBuilder builder(request);
    const CudaJob job(builder);
    builder.launch(describe::decode(request.parameters), grid_of(job), source_of(job, "decode"),
                   arguments_of(job));
    return builder.finish();
}

}  // namespace sawtooth::btp
