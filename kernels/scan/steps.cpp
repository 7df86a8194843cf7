#include "kernels/scan/steps.h"

#include <algorithm>
#include <bit>

namespace sawtooth::scan {
namespace {

double operations_of(Operator op) {
    return op == Operator::linear ? 3 : op == Operator::compensated_sum ? 8 : 1;
}

ArrayUse states(const Job& job, std::string name, Shape shape) {
    return {std::move(name), std::move(shape), 4 * planes_of(job.op)};
}

std::vector<ArrayUse> inputs_of(const Job& job) {
    std::vector<ArrayUse> uses;
    if (job.op == Operator::linear) uses.push_back({job.a_name, job.shape(), bytes_of(job.storage)});
    uses.push_back({job.x_name, job.shape(), bytes_of(job.storage)});
    if (job.initial) uses.push_back({"initial", {job.batch, job.channels}});
    return uses;
}
ArrayUse output_of(const Job& job) { return {job.y_name, job.shape(), bytes_of(job.y_storage)}; }

LaunchInfo describe(const Job& job, const std::string& name, std::string meaning, std::vector<ArrayUse> reads,
                    std::vector<ArrayUse> writes, int64_t combines) {
    return {.name = job.prefix + name,
            .meaning = std::move(meaning),
            .reads = std::move(reads),
            .writes = std::move(writes),
            .work = {0, static_cast<double>(combines) * operations_of(job.op)}};
}

States take_states(PlanBuilder& builder, Operator op, int64_t count) {
    States states;
    for (int p = 0; p < planes_of(op); ++p) states.plane[p] = builder.take<float>(count);
    return states;
}

}  // namespace

int64_t automatic_block_size(int64_t length) { return length <= 256 ? 256 : length <= 512 ? 512 : 1024; }

int64_t levels_of(int64_t length) { return std::bit_width(static_cast<uint64_t>(length - 1)); }

LaunchInfo describe_sequential(const Job& job) {
    return describe(job, "sequential",
                    "Walks every column from the first step to the last, one combine after another.",
                    inputs_of(job), {output_of(job)}, job.elements());
}

LaunchInfo describe_lookback(const Job& job) {
    return describe(job, "lookback", "Scans every tile once, with the prefix that it finds by looking back.",
                    inputs_of(job), {output_of(job)}, 2 * job.elements());
}

std::vector<Doubling> doubling_steps(PlanBuilder& builder, const Job& job) {
    const int64_t count = std::max<int64_t>(levels_of(job.length), 1);
    States buffers[2];
    for (int b = 0; b < 2; ++b)
        if (count > b + 1) buffers[b] = take_states(builder, job.op, job.elements());
    std::vector<Doubling> steps;
    for (int64_t k = 0; k < count; ++k) {
        const bool is_first = k == 0, is_last = k == count - 1;
        const int64_t reach = int64_t{1} << k;
        const ArrayUse partial = states(job, "partial", job.shape());
        LaunchInfo info =
            describe(job, "double_" + std::to_string(reach),
                     "Combines every position with the one " + std::to_string(reach) + " before it.",
                     is_first ? inputs_of(job) : std::vector{partial}, {is_last ? output_of(job) : partial},
                     std::max<int64_t>(job.length - reach, 0) * job.channels * job.batch);
        steps.push_back({reach, is_first, is_last, buffers[(k + 1) % 2], buffers[k % 2], std::move(info)});
    }
    return steps;
}

namespace {

LaunchInfo describe_up(const Job& job, int64_t height, int64_t parents, int64_t children) {
    const std::string h = std::to_string(height);
    return describe(job, "up_sweep_" + h,
                    "Every node of height " + h + " takes the total of its two children.",
                    height == 1 ? inputs_of(job)
                                : std::vector{states(job, "totals", {job.batch, children, job.channels})},
                    {states(job, "totals", {job.batch, parents, job.channels})},
                    job.batch * (children / 2) * job.channels);
}

LaunchInfo describe_down(const Job& job, int64_t height, bool is_root, int64_t parents, int64_t children) {
    const bool is_leaf = height == 1;
    const Shape below = {job.batch, children, job.channels};
    std::vector<ArrayUse> reads = is_leaf ? inputs_of(job) : std::vector{states(job, "totals", below)};
    if (!is_root) reads.push_back(states(job, "prefixes", {job.batch, parents, job.channels}));
    return describe(job, "down_sweep_" + std::to_string(height),
                    is_leaf
                        ? "Every leaf combines the prefix before it with its own value."
                        : "Left children take their parent's prefix, right ones join the left total to it.",
                    std::move(reads), {is_leaf ? output_of(job) : states(job, "prefixes", below)},
                    job.batch * (is_leaf ? children : children / 2) * job.channels);
}

}  // namespace

std::vector<Sweep> sweep_steps(PlanBuilder& builder, const Job& job) {
    const int64_t levels = std::max<int64_t>(levels_of(job.length), 1);
    const auto nodes = [&](int64_t height) { return ceil_divide(job.length, int64_t{1} << height); };
    std::vector<States> tree(static_cast<size_t>(levels) + 1);  // of heights 1 … levels - 1
    for (int64_t h = 1; h < levels; ++h)
        tree[static_cast<size_t>(h)] = take_states(builder, job.op, job.batch * nodes(h) * job.channels);
    std::vector<Sweep> steps;
    const auto add = [&](bool is_up, int64_t height) {
        const bool is_root = height == levels;
        const int64_t parents = nodes(height), children = nodes(height - 1);
        steps.push_back({is_up, height == 1, is_root, height, parents, children,
                         tree[static_cast<size_t>(height)], tree[static_cast<size_t>(height) - 1],
                         is_up ? describe_up(job, height, parents, children)
                               : describe_down(job, height, is_root, parents, children)});
    };
    for (int64_t height = 1; height < levels; ++height) add(true, height);
    for (int64_t height = levels; height >= 1; --height) add(false, height);
    return steps;
}

Phases three_phases(PlanBuilder& builder, const Job& job) {
    const bool in_place = planes_of(job.op) == 1 && job.y_storage == Storage::f32;
    const Shape blocks = {job.batch, job.blocks(), job.channels};
    const ArrayUse local = states(job, in_place ? job.y_name : "local", job.shape());
    const ArrayUse totals = states(job, "totals", blocks), prefixes = states(job, "prefixes", blocks);
    Phases phases;
    if (in_place)
        phases.local.plane[0] = static_cast<float*>(job.y);
    else
        phases.local = take_states(builder, job.op, job.elements());
    phases.totals = take_states(builder, job.op, count_of(blocks));
    phases.block_scan = describe(job, "block_scan", "Scans every block for itself and keeps its total.",
                                 inputs_of(job), {local, totals}, job.elements());
    phases.block_sums =
        describe(job, "scan_of_block_sums", "Turns the blocks' totals into the prefix before every block.",
                 {totals}, {prefixes}, count_of(blocks));
    phases.add_prefixes =
        describe(job, "add_block_prefixes", "Combines the prefix before every block with its positions.",
                 {local, prefixes}, {output_of(job)}, job.elements());
    return phases;
}

LaunchInfo describe_shift_gates(const Job& forward) {
    return {.name = "shift_gates",
            .meaning = "Moves every gate to the step before it, where the gradient needs it.",
            .reads = {{"a", forward.shape(), bytes_of(forward.storage)}},
            .writes = {{"shifted_a", forward.shape(), bytes_of(forward.storage)}}};
}

LaunchInfo describe_gate_gradient(const Job& forward, const GateGradients& gradients) {
    LaunchInfo info{.name = "gate_gradient",
                    .meaning = "Multiplies the gradient of every position with the output before it.",
                    .reads = {{"dx", forward.shape()}, output_of(forward)},
                    .writes = {{"da", forward.shape()}},
                    .work = {0, static_cast<double>(forward.elements())}};
    if (!gradients.dinitial) return info;
    info.reads.push_back({"initial", {forward.batch, forward.channels}});
    info.writes.push_back({"dinitial", {forward.batch, forward.channels}});
    return info;
}

}  // namespace sawtooth::scan
