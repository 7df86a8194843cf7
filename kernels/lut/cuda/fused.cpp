// The variant fused. The forward pass is one launch for detectors and tables; the backward pass is one launch
// over items, a sort, and one launch over neurons.

#include <algorithm>
#include <numeric>

#include "kernels/lut/cuda/job.h"
#include "kernels/lut/parts.h"

namespace sawtooth::lut {
namespace {

constexpr int64_t threads = 256;

// The thread blocks of look_up_in_step.cu, one per SM. The blocks of all slices of an item form clusters.
struct InStep {
    static constexpr int64_t threads = 1024, items = 256, slice = 32, most_rows = 256;

    explicit InStep(const CudaJob& job)
        : slices(job.outputs / slice),
          cluster(std::gcd(slices, int64_t{8})),
          shared_bytes(std::max({33 * 4 * job.inputs, int64_t{36} << 10, 128 * items})) {}

    // Whether items share enough rows, L1 keeps enough of an SM, and the clusters fill most SMs to the end.
    bool gains(const CudaJob& job, const Chip& chip) const {
        constexpr int64_t least_cache = 128 << 10, least_detectors = 64;
        if (chip.compute_capability < 90 || chip.multiprocessors < cluster || job.integer ||
            job.outputs % slice != 0 || slices > 2 * cluster || job.rows > most_rows ||
            job.detectors % 8 != 0 || job.detectors < least_detectors ||
            shared_bytes + least_cache > chip.shared_bytes_per_multiprocessor)
            return false;
        const int64_t at_once = chip.multiprocessors / cluster * cluster;
        const int64_t rounds = ceil_divide(ceil_divide(job.batch, items) * slices, at_once);
        return 4 * job.batch * slices >= 3 * rounds * at_once * items;
    }

    int64_t slices, cluster;
    int64_t shared_bytes;  // enough for the inputs of 32 items, for the patches of warps, and for four chunks
};

void add_look_up(cuda::PlanBuilder& builder, const CudaJob& job) {
    LaunchInfo info = look_up(job);
    if (job.sparse) {
        cuda::KernelSource source = job.source("look_up_sparse.cu", "look_up_sparse", threads);
        const Buffer rows = take_rows(builder, job, job.batch, job.outputs, source);
        Arguments given = job.given;
        given.scratch = rows.address;
        info.writes.push_back(rows);
        builder.launch(std::move(info), {side("B", job.batch)}, source, given);
        return;
    }
    if (const InStep in_step(job); in_step.gains(job, builder.chip())) {
        cuda::KernelSource source = job.source("look_up_in_step.cu", "look_up_in_step", InStep::threads);
        source.shared_bytes = in_step.shared_bytes;
        source.defines.insert(source.defines.end(), {{"INPUTS", job.inputs},
                                                     {"OUTPUTS", job.outputs},
                                                     {"ITEMS", InStep::items},
                                                     {"SLICE", InStep::slice},
                                                     {"CLUSTER", in_step.cluster}});
        const Side slices = pieces("outputs", job.outputs, InStep::slice);
        builder.launch(std::move(info), {slices, pieces("B", job.batch, InStep::items)}, source, job.given);
        return;
    }
    // If there are few items, all threads of a block work on one item. Otherwise a block has several items,
    // which read the same tables at about the same time.
    const int64_t enough = 4 * builder.chip().multiprocessors;
    int64_t items = threads / lanes_of(job.outputs, threads);
    while (items > 1 && ceil_divide(job.batch, items) < enough) items /= 2;
    cuda::KernelSource source = job.source("look_up.cu", "look_up", threads);
    source.defines.push_back({"INPUTS", staged_inputs(items, job.inputs)});
    source.defines.push_back({"ITEMS", items});
    add_groups(source, job.outputs, items);
    builder.launch(std::move(info), {pieces("B", job.batch, items)}, source, job.given);
}

void add_gradients(cuda::PlanBuilder& builder, const CudaJob& job) {
    Arguments given = job.given;
    cuda::KernelSource inputs = job.source("input_gradients.cu", "input_gradients", threads);
    const Buffer rows = take_rows(builder, job, job.batch, job.inputs, inputs);
    given.scratch = rows.address;
    LaunchInfo info = input_gradients(job);
    info.writes.push_back(rows);
    builder.launch(std::move(info), {side("B", job.batch)}, inputs, given);

    const Sorted sorted = job.take_sorted(builder, "sorted_items", job.batch);
    given.sorted_rows = sorted.rows.as<int32_t>();
    given.sorted_items = sorted.items.as<int32_t>();
    cuda::KernelSource sort = job.source("sort_by_neuron.cu", "sort_by_neuron", 512);
    sort.defines.push_back({"BITS", job.anchors});
    builder.launch(sort_by_neuron(job, sorted), {side("T", job.detectors)}, sort, given);
    add_weight_gradients(builder, weight_gradients(job, sorted), job, given);
}

}  // namespace

Outcome<Plan> plan_fused_on_cuda(const PlanRequest& request) {
    cuda::PlanBuilder builder(request);
    const CudaJob job(builder);
    add_look_up(builder, job);
    if (job.dx) add_gradients(builder, job);
    finish_gradients(builder, job, {job.dweights});
    return builder.finish();
}

}  // namespace sawtooth::lut
