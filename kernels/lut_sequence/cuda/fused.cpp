// The variant fused: sums over the pairs of a position, of a distance and of a neuron, without events or a
// hash table.

#include "kernels/lut_sequence/cuda/job.h"
#include "kernels/lut_sequence/describe.h"
#include "kernels/lut_sequence/parts.h"
#include "kernels/lut_table/cuda/launches.h"

namespace sawtooth::lut_sequence {
namespace {

constexpr int64_t threads = 256;

Side all_positions(const CudaJob& job) { return side("B", job.batch) * side("S", job.length); }

void add_look_up(cuda::PlanBuilder& builder, CudaJob& job) {
    job.given.y = builder.output("y").as<float>();
    cuda::KernelSource source = job.source("look_up_pairs.cu", "look_up_pairs", threads);
    if (job.sparse)
        job.given.scratch =
            lut_table::take_rows(builder, job.positions(), job.outputs, job.sum_bytes(), source);
    else
        lut_table::add_groups(source, job.outputs, 1);
    builder.launch(describe::look_up_pairs(builder.request()), {all_positions(job)}, source, job.given);
}

void add_gradients(cuda::PlanBuilder& builder, CudaJob& job) {
    const PlanRequest& request = builder.request();
    Arguments& given = job.given;
    const int64_t count = job.detectors * given.choices;
    const auto take_sums = [&] { return builder.take<std::byte>(count * job.sum_bytes()); };
    given.du = take_sums();
    if (job.positional > 0) given.positional_du = take_sums();
    builder.launch(describe::pair_gradients(request), {all_positions(job)},
                   job.source("pair_gradients.cu", "pair_gradients", threads), given);

    given.dx = builder.output("dx").as<float>();
    cuda::KernelSource sums = job.source("sum_gradients.cu", "position_gradients", threads);
    constexpr int64_t most_bytes = 48 << 10;
    const int64_t row = job.inputs * job.sum_bytes();
    sums.defines.push_back({"ROWS_SHARED", row <= most_bytes});
    if (row <= most_bytes)
        sums.shared_bytes = row;
    else
        given.scratch = builder.take<std::byte>(job.positions() * row);
    builder.launch(describe::position_gradients(request), {all_positions(job)}, sums, given);
    given.dpositional = builder.output("dpositional").as<float>();
    if (job.positional > 0) {
        sums.entry = "distance_gradients";
        sums.shared_bytes = 0;
        builder.launch(describe::distance_gradients(request), {side("S - 1", job.distances())}, sums, given);
    }

    given.sorted_rows = builder.take<int32_t>(count);
    given.sorted_items = builder.take<int32_t>(count);
    cuda::KernelSource sort = job.source("sort_by_neuron.cu", "sort_by_neuron", 1024);
    sort.defines.push_back({"BITS", 2 * job.anchors + job.positional});
    builder.launch(describe::sort_by_neuron(request), {side("T", job.detectors)}, sort, given);

    given.dweights = builder.output("dweights").as<float>();
    given.weights_after = builder.output("weights_after").as<float>();
    lut_table::add_weight_gradients(builder, describe::weight_gradients(request), job, given);
}

void add_launches(cuda::PlanBuilder& builder, CudaJob& job) {
    add_look_up(builder, job);
    if (job.backward()) add_gradients(builder, job);
}

}  // namespace

Outcome<Plan> plan_fused_on_cuda(const PlanRequest& request) { return plan_of(request, add_launches); }

}  // namespace sawtooth::lut_sequence
