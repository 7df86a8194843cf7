// The variant fused, which sums over the pairs of a position, of a distance and of a neuron without events or
// a hash table.

#include "kernels/lut_sequence/cuda/job.h"
#include "kernels/lut_sequence/parts.h"

namespace sawtooth::lut_sequence {
namespace {

Side all_positions(const CudaJob& job) { return side("B", job.sizes.batch) * side("S", job.sizes.length); }

void add_look_up(cuda::PlanBuilder& builder, const CudaJob& job) {
    LaunchInfo info = look_up_pairs(job);
    Arguments given = job.given;
    cuda::KernelSource source = job.source("look_up_pairs.cu", "look_up_pairs", threads_of_fused);
    if (job.sparse) {
        info.writes.push_back(take_rows(builder, job, job.items, job.outputs, source));
        given.scratch = info.writes.back().address;
    } else {
        add_groups(source, job.outputs, 1);
    }
    builder.launch(std::move(info), {all_positions(job)}, source, given);
}

void add_gradients(cuda::PlanBuilder& builder, const CudaJob& job) {
    const lut_sequence::Sizes& s = job.sizes;
    Arguments given = job.given;
    const PairGradients gradients(builder, job, {s.batch, s.pairs(), s.detectors});
    given.du = gradients.du.address;
    given.positional_du = gradients.positional_du.address;
    builder.launch(pair_gradients(job, gradients), {all_positions(job)},
                   job.source("pair_gradients.cu", "pair_gradients", threads_of_fused), given);

    LaunchInfo of_positions = position_gradients(job, gradients.du);
    cuda::KernelSource sums = job.source("sum_gradients.cu", "position_gradients", threads_of_fused);
    constexpr int64_t most_bytes = 48 << 10;
    const int64_t row = job.inputs * job.sum_bytes();
    sums.defines.push_back({"ROWS_SHARED", row <= most_bytes});
    if (row <= most_bytes) {
        sums.shared_bytes = row;
    } else {
        of_positions.writes.push_back(job.take_sums(builder, "rows of sums", {job.items, job.inputs}));
        given.scratch = of_positions.writes.back().address;
    }
    builder.launch(std::move(of_positions), {all_positions(job)}, sums, given);
    if (s.positional > 0) {
        sums.entry = "distance_gradients";
        sums.shared_bytes = 0;
        builder.launch(distance_gradients(job, gradients.positional_du), {side("S - 1", s.distances())}, sums,
                       given);
    }

    const Sorted sorted = job.take_sorted(builder, "sorted_positions", given.choices);
    given.sorted_rows = sorted.rows.as<int32_t>();
    given.sorted_items = sorted.items.as<int32_t>();
    cuda::KernelSource sort = job.source("sort_by_neuron.cu", "sort_by_neuron", 1024);
    sort.defines.push_back({"BITS", 2 * job.anchors + s.positional});
    builder.launch(sort_by_neuron(job, sorted), {side("T", job.detectors)}, sort, given);
    add_weight_gradients(builder, weight_gradients(job, sorted), job, given);
}

void add_fused_launches(cuda::PlanBuilder& builder, const CudaJob& job) {
    add_look_up(builder, job);
    if (job.dx) add_gradients(builder, job);
}

}  // namespace

Outcome<Plan> plan_fused_on_cuda(const PlanRequest& request) { return plan_of(request, add_fused_launches); }

}  // namespace sawtooth::lut_sequence
