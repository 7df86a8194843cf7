// The variant fused: one launch for detectors and tables; for the gradients one over items, a sort, and one
// over neurons.

#include "kernels/core/common_parameters.h"
#include "kernels/lut/cuda/job.h"
#include "kernels/lut/describe.h"
#include "kernels/lut/parts.h"
#include "kernels/lut_table/cuda/launches.h"

namespace sawtooth::lut {
namespace {

constexpr int64_t threads = 256;

void add_look_up(cuda::PlanBuilder& builder, CudaJob& job) {
    const LaunchInfo info = describe::look_up(builder.request());
    if (job.sparse) {
        cuda::KernelSource source = job.source("look_up_sparse.cu", "look_up_sparse", threads);
        job.given.scratch = take_rows(builder, job.batch, job.outputs, job.sum_bytes(), source);
        builder.launch(info, {side("B", job.batch)}, source, job.given);
        return;
    }
    // With few items the threads of a block share one; else a block has several, which read the same tables
    // at about the same time.
    const int64_t enough = 4 * builder.chip().multiprocessors;
    int64_t items = threads / lanes_of(job.outputs, threads);
    while (items > 1 && ceil_divide(job.batch, items) < enough) items /= 2;
    cuda::KernelSource source = job.source("look_up.cu", "look_up", threads);
    source.defines.push_back({"INPUTS", staged_inputs(items, job.inputs)});
    source.defines.push_back({"ITEMS", items});
    add_groups(source, job.outputs, items);
    builder.launch(info, {pieces("B", job.batch, items)}, source, job.given);
}

void add_gradients(cuda::PlanBuilder& builder, CudaJob& job) {
    const PlanRequest& request = builder.request();
    Arguments& given = job.given;
    given.dx = builder.output("dx").as<float>();
    given.dweights = builder.output("dweights").as<float>();
    given.weights_after = builder.output("weights_after").as<float>();
    cuda::KernelSource inputs = job.source("input_gradients.cu", "input_gradients", threads);
    given.scratch = take_rows(builder, job.batch, job.inputs, job.sum_bytes(), inputs);
    builder.launch(describe::input_gradients(request), {side("B", job.batch)}, inputs, given);

    given.sorted_rows = builder.take<int32_t>(job.detectors * job.batch);
    given.sorted_items = builder.take<int32_t>(job.detectors * job.batch);
    cuda::KernelSource sort = job.source("sort_by_neuron.cu", "sort_by_neuron", 512);
    sort.defines.push_back({"BITS", job.anchors});
    builder.launch(describe::sort_by_neuron(request), {side("T", job.detectors)}, sort, given);
    add_weight_gradients(builder, describe::weight_gradients(request), job, given);
}

}  // namespace

Outcome<Plan> plan_fused_on_cuda(const PlanRequest& request) {
    cuda::PlanBuilder builder(request);
    CudaJob job(builder);
    job.given.y = builder.output("y").as<float>();
    add_look_up(builder, job);
    if (runs_backward(request.parameters)) add_gradients(builder, job);
    return builder.finish();
}

}  // namespace sawtooth::lut
