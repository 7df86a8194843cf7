// The variant fused: one launch for detectors and tables; for the gradients one over items, a sort, and one
// over neurons.

#include <algorithm>
#include <bit>

#include "kernels/core/common_parameters.h"
#include "kernels/lut/cuda/job.h"
#include "kernels/lut/describe.h"
#include "kernels/lut/parts.h"

namespace sawtooth::lut {
namespace {

constexpr int64_t threads = 256;

cuda::KernelSource source_of(const CudaJob& job, const char* file, const char* entry,
                             int64_t count = threads) {
    return {std::string("kernels/lut/cuda/") + file, entry, job.defines(), count};
}

// A row of sums per warp: as many warps as have room, or one whose row lies in global memory.
void take_rows(cuda::PlanBuilder& builder, CudaJob& job, int64_t width, cuda::KernelSource& source) {
    constexpr int64_t most_bytes = 48 << 10, most_warps = 8;
    const int64_t row = width * job.sum_bytes();
    const int64_t warps = std::clamp<int64_t>(most_bytes / row, 1, most_warps);
    const bool fits = row <= most_bytes;
    if (!fits) job.given.rows_scratch = builder.take<std::byte>(job.batch * row);
    source.threads = 32 * warps;
    source.shared_bytes = fits ? warps * row : 0;
    source.defines.push_back({"WARPS", warps});
    source.defines.push_back({"ROWS_SHARED", fits});
}

void add_look_up(cuda::PlanBuilder& builder, CudaJob& job) {
    const PlanRequest& request = builder.request();
    if (job.sparse) {
        cuda::KernelSource source = source_of(job, "look_up_sparse.cu", "look_up_sparse");
        take_rows(builder, job, job.outputs, source);
        builder.launch(describe::look_up(request), {side("B", job.batch)}, source, job.given);
        return;
    }
    // With few items the threads of a block share one; else a block has several, which read the same tables
    // at about the same time.
    const auto lanes = static_cast<int64_t>(
        std::bit_ceil(static_cast<uint64_t>(std::clamp<int64_t>(ceil_divide(job.outputs, 4), 1, threads))));
    const int64_t enough = 4 * builder.chip().multiprocessors;
    int64_t items = threads / lanes;
    while (items > 1 && ceil_divide(job.batch, items) < enough) items /= 2;
    cuda::KernelSource source = source_of(job, "look_up.cu", "look_up");
    source.defines.push_back({"INPUTS", job.staged_inputs(items)});
    source.defines.push_back({"ITEMS", items});
    source.defines.push_back({"GROUPS", threads / lanes / items});
    source.defines.push_back({"LANES", lanes});
    builder.launch(describe::look_up(request), {pieces("B", job.batch, items)}, source, job.given);
}

void add_gradients(cuda::PlanBuilder& builder, CudaJob& job) {
    const PlanRequest& request = builder.request();
    Arguments& given = job.given;
    given.dx = builder.output("dx");
    given.dweights = builder.output("dweights");
    given.weights_after = builder.output("weights_after");
    cuda::KernelSource inputs = source_of(job, "input_gradients.cu", "input_gradients");
    take_rows(builder, job, job.inputs, inputs);
    builder.launch(describe::input_gradients(request), {side("B", job.batch)}, inputs, given);

    given.sorted_rows = builder.take<int32_t>(job.detectors * job.batch);
    given.sorted_items = builder.take<int32_t>(job.detectors * job.batch);
    cuda::KernelSource sort = source_of(job, "sort_by_neuron.cu", "sort_by_neuron", 512);
    sort.defines.push_back({"BITS", job.anchors});
    builder.launch(describe::sort_by_neuron(request), {side("T", job.detectors)}, sort, given);
    builder.launch(describe::weight_gradients(request), {pieces("T 2^C", job.neurons(), threads / 32)},
                   source_of(job, "weight_gradients.cu", "weight_gradients"), given);
}

}  // namespace

Outcome<Plan> plan_fused_on_cuda(const PlanRequest& request) {
    cuda::PlanBuilder builder(request);
    CudaJob job(builder);
    job.given.y = builder.output("y");
    add_look_up(builder, job);
    if (runs_backward(request.parameters)) add_gradients(builder, job);
    return builder.finish();
}

}  // namespace sawtooth::lut
