#include "kernels/btp/cuda/passes.h"

#include "kernels/btp/launches.h"
#include "kernels/btp/parts.h"

namespace sawtooth::btp {
namespace {

const Passes& passes_of(const CudaJob& job) {
    return is_on_tensor_cores(job.block) ? passes_on_tensor_cores() : passes_on_cuda_cores();
}

void add_sum_of_sequences(cuda::PlanBuilder& builder, const CudaJob& job) {
    constexpr int64_t threads = 256;
    const int64_t gates = job.gate_rows * job.length;
    const SumArguments given = {gates, job.batch, job.da_of_sequences.as<float>(), job.da.as<float>()};
    builder.launch(
        sum_of_sequences(job), {pieces("(H L)", gates, threads)},
        {.file = "kernels/btp/cuda/sum_of_sequences.cu", .entry = "sum_of_sequences", .threads = threads},
        given);
}

}  // namespace

Outcome<Plan> plan_two_pass_on_cuda(const PlanRequest& request) {
    cuda::PlanBuilder builder(request);
    const CudaJob job(builder);
    const Passes& passes = passes_of(job);
    const bool has_carries = job.order != Order::one;
    passes.add_forward(builder, job, !has_carries, first_pass(job));
    if (has_carries) passes.add_second_pass(builder, job);
    if (!job.dx) return builder.finish();
    const Buffer dc = has_carries ? passes.add_first_gradient_pass(builder, job) : Buffer();
    passes.add_gradients(builder, job, second_gradient_pass(job, dc), dc);
    if (job.sums_sequences()) add_sum_of_sequences(builder, job);
    return builder.finish();
}

Outcome<Plan> plan_fused_on_cuda(const PlanRequest& request) {
    cuda::PlanBuilder builder(request);
    const CudaJob job(builder);
    const Passes& passes = passes_of(job);
    passes.add_forward(builder, job, true, fused(job));
    if (job.dx) passes.add_gradients(builder, job, gradients(job), {});
    if (job.sums_sequences()) add_sum_of_sequences(builder, job);
    return builder.finish();
}

}  // namespace sawtooth::btp
