// From a request to a plan: every variant is a list of launches, the same on both backends.

#include <algorithm>
#include <bit>

#include "kernels/core/common_parameters.h"
#include "kernels/scan/job.h"
#include "kernels/scan/parts.h"

namespace sawtooth::scan {
namespace {

using Uses = std::vector<Buffer>;

Buffer states(const Job& job, std::string name, Shape shape) {
    return {std::move(name), std::move(shape), 4 * planes_of(job.op)};
}
Planes take_states(PlanBuilder& builder, const Job& job, int64_t count) {
    Planes states = {};
    for (int p = 0; p < planes_of(job.op); ++p) states.plane[p] = builder.take<float>(count);
    return states;
}

Uses inputs_of(const Job& job) {
    Uses uses;
    for (const std::string& name : job.in_names) uses.push_back({name, job.shape(), bytes_of(job.storage)});
    if (job.initial) uses.push_back({"initial", {job.batch, job.channels}});
    return uses;
}
Buffer output_of(const Job& job) { return {job.y_name, job.shape(), bytes_of(job.y_storage)}; }

double operations_of(const Job& job, int64_t combines) {
    const int a_combine = job.op == Operator::linear ? 3 : job.op == Operator::compensated_sum ? 8 : 1;
    return static_cast<double>(combines * a_combine);
}

// The launches of a plan, in order.
struct Stages {
    PlanBuilder& builder;
    std::vector<Stage> all = {};

    void add(const Job& job, const std::string& name, std::string meaning, Uses reads, Uses writes,
             double operations, Stage::What what) {
        LaunchInfo info = {.name = job.prefix + name, .meaning = std::move(meaning)};
        info.reads = std::move(reads);
        info.writes = std::move(writes);
        info.work.operations = operations;
        all.push_back({job, std::move(info), what});
    }
};

void add_sequential(Stages& stages, const Job& job) {
    stages.add(job, "sequential",
               "Walks every column from the first step to the last, one combine after another.",
               inputs_of(job), {output_of(job)}, operations_of(job, job.elements()), Sequential{});
}

void add_hillis_steele(Stages& stages, const Job& job) {
    const int64_t count = std::max<int64_t>(levels_of(job.length), 1);
    const Buffer partial = states(job, "partial", job.shape());
    Planes buffers[2] = {};
    for (int b = 0; b < 2; ++b)
        if (count > b + 1) buffers[b] = take_states(stages.builder, job, job.elements());
    for (int64_t k = 0; k < count; ++k) {
        const Doubling step = {buffers[(k + 1) % 2], buffers[k % 2], int64_t{1} << k, k == 0, k == count - 1};
        const int64_t combines = std::max<int64_t>(job.length - step.reach, 0) * job.channels * job.batch;
        const std::string reach = std::to_string(step.reach);
        stages.add(job, "double_" + reach, "Combines every position with the one " + reach + " before it.",
                   step.is_first ? inputs_of(job) : Uses{partial}, {step.is_last ? output_of(job) : partial},
                   operations_of(job, combines), step);
    }
}

void add_sweep(Stages& stages, const Job& job, const Sweep& sweep) {
    const std::string height = std::to_string(sweep.height);
    const Shape above = {job.batch, sweep.parent_count, job.channels};
    const Shape below = {job.batch, sweep.child_count, job.channels};
    const double pairs = operations_of(job, job.batch * (sweep.child_count / 2) * job.channels);
    Uses reads = sweep.is_leaf ? inputs_of(job) : Uses{states(job, "totals", below)};
    if (sweep.is_up)
        return stages.add(job, "up_sweep_" + height,
                          "Every node of height " + height + " takes the total of its two children.",
                          std::move(reads), {states(job, "totals", above)}, pairs, sweep);
    if (!sweep.is_root) reads.push_back(states(job, "prefixes", above));
    if (sweep.is_leaf)
        return stages.add(job, "down_sweep_1", "Every leaf combines the prefix before it with its own value.",
                          std::move(reads), {output_of(job)}, operations_of(job, job.elements()), sweep);
    stages.add(job, "down_sweep_" + height,
               "Left children take their parent's prefix; right children join the left total to it.",
               std::move(reads), {states(job, "prefixes", below)}, pairs, sweep);
}

void add_blelloch(Stages& stages, const Job& job) {
    const int64_t levels = std::max<int64_t>(levels_of(job.length), 1);
    const auto nodes = [&](int64_t height) { return ceil_divide(job.length, int64_t{1} << height); };
    std::vector<Planes> tree(static_cast<size_t>(levels) + 1);  // heights 1 … levels - 1
    for (int64_t h = 1; h < levels; ++h)
        tree[static_cast<size_t>(h)] = take_states(stages.builder, job, job.batch * nodes(h) * job.channels);
    const auto add = [&](bool is_up, int64_t height) {
        const Planes* const of = &tree[static_cast<size_t>(height)];
        add_sweep(
            stages, job,
            {of[0], of[-1], nodes(height), nodes(height - 1), height, is_up, height == 1, height == levels});
    };
    for (int64_t height = 1; height < levels; ++height) add(true, height);
    for (int64_t height = levels; height >= 1; --height) add(false, height);
}

void add_three_phase(Stages& stages, const Job& job) {
    const bool in_place = planes_of(job.op) == 1 && job.y_storage == Storage::f32;
    const Shape blocks = {job.batch, job.blocks(), job.channels};
    const Buffer local = states(job, in_place ? job.y_name : "local", job.shape());
    const Buffer totals = states(job, "totals", blocks), prefixes = states(job, "prefixes", blocks);
    const Phases phases = {
        in_place ? Planes{{static_cast<float*>(job.y)}} : take_states(stages.builder, job, job.elements()),
        take_states(stages.builder, job, count_of(blocks)), job.blocks()};
    const double once = operations_of(job, job.elements());
    stages.add(job, "block_scan", "Scans every block independently and keeps its total.", inputs_of(job),
               {local, totals}, once, BlockScan{phases});
    stages.add(job, "scan_of_block_sums", "Turns block totals into the prefix of every block.", {totals},
               {prefixes}, operations_of(job, count_of(blocks)), BlockSums{phases});
    stages.add(job, "add_block_prefixes", "Combines the prefix of every block with its positions.",
               {local, prefixes}, {output_of(job)}, once, AddPrefixes{phases});
}

void add_lookback(Stages& stages, const Job& job) {
    stages.add(job, "lookback", "Scans every tile once; finds its prefix by looking back.", inputs_of(job),
               {output_of(job)}, operations_of(job, 2 * job.elements()), Lookback{});
}

const void* add_shift_gates(Stages& stages, const Job& forward) {
    const int64_t bytes = bytes_of(forward.storage);
    void* const shifted = stages.builder.take<std::byte>(forward.elements() * bytes);
    stages.add(forward, "shift_gates", "Moves every gate one step earlier, where the gradient needs it.",
               {{"a", forward.shape(), bytes}}, {{"shifted_a", forward.shape(), bytes}}, 0,
               ShiftGates{shifted});
    return shifted;
}

void add_gate_gradient(Stages& stages, const Job& forward, const void* dx) {
    const GateGradient gradient = {static_cast<const float*>(dx), stages.builder.output("da").as<float>(),
                                   forward.initial ? stages.builder.output("dinitial").as<float>() : nullptr};
    Uses reads = {{"dx", forward.shape()}, output_of(forward)}, writes = {{"da", forward.shape()}};
    if (gradient.dinitial) {
        reads.push_back({"initial", {forward.batch, forward.channels}});
        writes.push_back({"dinitial", {forward.batch, forward.channels}});
    }
    stages.add(forward, "gate_gradient", "Multiplies the gradient of every position by the output before it.",
               std::move(reads), std::move(writes), static_cast<double>(forward.elements()), gradient);
}

struct Algorithm {
    std::string name, idea;
    void (*add)(Stages& stages, const Job& job);
    int64_t (*depth)(int64_t length, int64_t block_size);
    std::vector<std::string> launches;  // how their names begin after the prefix of a job
};

const std::vector<Algorithm>& algorithms() {
    static const std::vector<Algorithm> all = {
        {"sequential",
         "One running total per column, like torch.cumsum along a middle axis.",
         add_sequential,
         [](int64_t length, int64_t) { return length; },
         {"sequential"}},
        {"hillis_steele",
         "In step k, each position combines with the one 2^k positions before it: log2 L launches.",
         add_hillis_steele,
         [](int64_t length, int64_t) { return levels_of(length); },
         {"double_"}},
        {"blelloch",
         "Totals go up a binary tree, then prefixes come down: 2 log2 L launches, 2 combines per element.",
         add_blelloch,
         [](int64_t length, int64_t) { return std::max<int64_t>(2 * levels_of(length) - 1, 1); },
         {"up_sweep_", "down_sweep_"}},
        {"three_phase",
         "Three launches: scan the blocks, scan their totals, add the prefixes.",
         add_three_phase,
         [](int64_t length, int64_t tile) { return std::min(tile, length) + ceil_divide(length, tile) + 1; },
         {"block_scan", "scan_of_block_sums", "add_block_prefixes"}},
        {"lookback",
         "One launch with decoupled look-back: each tile publishes its total and looks back for its prefix. "
         "On "
         "a GPU, many rows of one channel are walked by one warp each, which keeps the prefix in a register.",
         add_lookback,
         [](int64_t length, int64_t tile) { return std::min(tile, length) + ceil_divide(length, tile); },
         {"lookback"}},
    };
    return all;
}

// The scan of dy in the other direction; for linear with the gates of the following steps.
void add_backward(Stages& stages, const Algorithm& algorithm, const Job& forward) {
    const bool is_linear = forward.op == Operator::linear;
    const void* const dy = stages.builder.input("dy", forward.storage).address;
    Job gradient = forward;
    gradient.prefix = "gradient_";
    gradient.flipped = !forward.flipped;
    gradient.in = is_linear ? Inputs{{add_shift_gates(stages, forward), dy}} : Inputs{{dy}};
    gradient.in_names.front() = "shifted_a";
    gradient.in_names.back() = "dy";
    gradient.initial = nullptr;
    gradient.y = stages.builder.output("dx").as<float>();
    gradient.y_name = "dx";
    gradient.y_storage = Storage::f32;
    algorithm.add(stages, gradient);
    if (is_linear) add_gate_gradient(stages, forward, gradient.y);
}

Job job_of(PlanBuilder& builder) {
    const Parameters& parameters = builder.parameters();
    const Op& op = op_of(parameters);
    Job job = {};
    job.op = parameters.flag("compensated") ? Operator::compensated_sum : op.op;
    job.flipped = parameters.is("direction", "reverse");
    job.batch = parameters.integer("batch");
    job.length = parameters.integer("length");
    job.channels = parameters.integer("channels") * (op.is_complex ? 2 : 1);
    job.block_size = block_size_of(parameters);
    job.storage = job.y_storage = storage_named(parameters.text("dtype"));
    const void* const x = builder.input("x", job.storage).address;
    const bool is_linear = job.op == Operator::linear;
    job.in = is_linear ? Inputs{{builder.input("a", job.storage).address, x}} : Inputs{{x}};
    if (is_linear) job.in_names = {"a", "x"};
    job.initial = builder.input("initial").as<float>();
    job.y = builder.output("y", job.y_storage).address;
    return job;
}

template <class Builder>
Outcome<Plan> plan(const PlanRequest& request) {
    Builder builder(request);
    const Algorithm& algorithm = algorithms()[request.variant.row];
    const Job job = job_of(builder);
    Stages stages{builder};
    algorithm.add(stages, job);
    if (request.parameters.is("direction", "both")) {
        Job reverse = job;
        reverse.prefix = "reverse_";
        reverse.flipped = true;
        reverse.y = builder.output("y_reverse", job.y_storage).address;
        reverse.y_name = "y_reverse";
        algorithm.add(stages, reverse);
    }
    if (runs_backward(request.parameters)) add_backward(stages, algorithm, job);
    for (const Stage& stage : stages.all) launch(builder, stage);
    return builder.finish();
}

}  // namespace

std::vector<Variant> variants() {
    return variants_of(algorithms(), {.backends = {Backend::cpu, Backend::cuda},
                                      .outputs = {"y", "y_reverse", "dx", "da", "dinitial"},
                                      .plan_cpu = plan<cpu::PlanBuilder>,
                                      .plan_cuda = plan<cuda::PlanBuilder>});
}

template <class Builder>
void launch_scan(Builder& builder, std::string_view variant, const Job& job) {
    Stages stages{builder};
    std::ranges::find(algorithms(), variant, &Algorithm::name)->add(stages, job);
    for (const Stage& stage : stages.all) launch(builder, stage);
}
template void launch_scan(cpu::PlanBuilder&, std::string_view, const Job&);
template void launch_scan(cuda::PlanBuilder&, std::string_view, const Job&);

std::string scan_of(const std::string& launch) {
    for (const Algorithm& algorithm : algorithms())
        for (const std::string& name : algorithm.launches) {
            const size_t at = launch.find(name);
            const bool follows_prefix = at == 0 || (at < launch.size() && launch[at - 1] == '_');
            if (follows_prefix) return launch.substr(0, at) + "scan";
        }
    return "";
}

int64_t depth_of(const Variant& variant, int64_t length, int64_t block_size) {
    return algorithms()[variant.row].depth(length, block_size);
}

int64_t automatic_block_size(int64_t length) { return length <= 256 ? 256 : length <= 512 ? 512 : 1024; }

int64_t block_size_of(const Parameters& parameters) {
    if (parameters.is("block_size", "auto")) return automatic_block_size(parameters.integer("length"));
    return parameters.integer("block_size");
}

int64_t levels_of(int64_t length) { return std::bit_width(static_cast<uint64_t>(length - 1)); }

}  // namespace sawtooth::scan
