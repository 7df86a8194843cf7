// From a request to a plan: every variant is a list of launches, the same on both backends.

#include <algorithm>
#include <bit>

#include "kernels/core/common_parameters.h"
#include "kernels/scan/job.h"
#include "kernels/scan/parts.h"
#include "kernels/scan/tensors.h"

namespace sawtooth::scan {
namespace {

int operations_a_combine(Operator op) {
    switch (op) {
        case Operator::linear:
            return 3;
        case Operator::compensated_sum:
            return 8;
        case Operator::complex_linear:
            return 7;  // a column is half of a complex number
        case Operator::log_sum_exp:
            return 5;
        case Operator::segmented_sum:
            return 2;
        default:
            return 1;
    }
}

double operations_of(const Job& job, int64_t combines) {
    return static_cast<double>(combines * operations_a_combine(job.op));
}

// Takes memory for states [batch, rows, channels]: one plane of floats, or two, one after the other.
Buffer take_states(PlanBuilder& builder, const Job& job, std::string name, int64_t rows) {
    Shape shape = {job.batch, rows, job.channels};
    if (planes_of(job.op) == 1) return builder.take(std::move(name), std::move(shape));
    return builder.take<float[2]>(std::move(name), std::move(shape));
}
// The planes of such states; null if they are absent.
Planes planes_in(const Job& job, const Buffer& states) {
    auto* const first = static_cast<float*>(states.address);
    return {{first, states && planes_of(job.op) == 2 ? first + count_of(states.shape) : nullptr}};
}

// The launches of a plan, in order.
struct Stages {
    PlanBuilder& builder;
    std::vector<Stage> all = {};

    void add(const Job& job, const std::string& name, std::string meaning, Buffers reads, Buffers writes,
             double operations, const Stage::What& what) {
        all.push_back({job,
                       {.name = job.prefix + name,
                        .meaning = std::move(meaning),
                        .reads = std::move(reads),
                        .writes = std::move(writes),
                        .work = {.operations = operations}},
                       what});
    }
};

void add_sequential(Stages& stages, const Job& job) {
    stages.add(job, "sequential",
               "Walks every column from the first step to the last, one combine after another.",
               job.in + Buffers{job.initial}, {job.y}, operations_of(job, job.elements()), Sequential{});
}

void add_hillis_steele(Stages& stages, const Job& job) {
    const int64_t count = std::max<int64_t>(levels_of(job.length), 1);
    Buffer partial[2];  // step k writes partial[k % 2], the last one writes y
    for (int64_t k = 0; k < std::min<int64_t>(count - 1, 2); ++k)
        partial[k] = take_states(stages.builder, job, "partial_" + std::to_string(k), job.length);
    for (int64_t k = 0; k < count; ++k) {
        const Buffer &from = partial[(k + 1) % 2], &to = partial[k % 2];
        const Doubling step = {planes_in(job, from), planes_in(job, to), int64_t{1} << k, k == 0,
                               k == count - 1};
        const int64_t combines = std::max<int64_t>(job.length - step.reach, 0) * job.channels * job.batch;
        const std::string reach = std::to_string(step.reach);
        stages.add(job, "double_" + reach, "Combines every position with the one " + reach + " before it.",
                   step.is_first ? job.in + Buffers{job.initial} : Buffers{from}, {step.is_last ? job.y : to},
                   operations_of(job, combines), step);
    }
}

// `parents` are absent if they are the root, `children` if they are the leaves: the inputs, or y.
void add_sweep(Stages& stages, const Job& job, int64_t height, const Buffer& parents, const Buffer& children,
               bool is_up) {
    const auto nodes = [&](int64_t h) { return ceil_divide(job.length, int64_t{1} << h); };
    const Planes above = planes_in(job, parents), below = planes_in(job, children);
    const TreeSweep sweep = {above,  below, nodes(height), nodes(height - 1),
                             height, is_up, !children,     !parents};
    const std::string number = std::to_string(height);
    const double pairs = operations_of(job, job.batch * (sweep.child_count / 2) * job.channels);
    if (is_up)
        return stages.add(job, "up_sweep_" + number,
                          "Every node of height " + number + " takes the total of its two children.",
                          sweep.is_leaf ? job.in : Buffers{children}, {parents}, pairs, sweep);
    const Buffer& prefixes = sweep.is_root ? job.initial : parents;
    if (sweep.is_leaf)
        return stages.add(job, "down_sweep_1", "Every leaf combines the prefix before it with its own value.",
                          job.in + Buffers{prefixes}, {job.y}, operations_of(job, job.elements()), sweep);
    stages.add(job, "down_sweep_" + number,
               "Left children take their parent's prefix; right children join the left total to it.",
               {children.part({job.batch, sweep.parent_count, job.channels}), prefixes}, {children}, pairs,
               sweep);
}

void add_blelloch(Stages& stages, const Job& job) {
    const auto levels = static_cast<size_t>(std::max<int64_t>(levels_of(job.length), 1));
    Buffers tree(levels + 1);  // states of heights 1 to levels - 1: totals, then prefixes
    for (size_t h = 1; h < levels; ++h)
        tree[h] = take_states(stages.builder, job, "tree_" + std::to_string(h),
                              ceil_divide(job.length, int64_t{1} << h));
    const auto add = [&](size_t h, bool is_up) {
        add_sweep(stages, job, static_cast<int64_t>(h), tree[h], tree[h - 1], is_up);
    };
    for (size_t h = 1; h < levels; ++h) add(h, true);
    for (size_t h = levels; h >= 1; --h) add(h, false);
}

void add_three_phase(Stages& stages, const Job& job) {
    const bool in_place = planes_of(job.op) == 1 && job.y.storage == Storage::f32;
    const Buffer local = in_place ? job.y : take_states(stages.builder, job, "local", job.length);
    const Buffer totals = take_states(stages.builder, job, "totals", job.blocks());
    const Phases phases = {planes_in(job, local), planes_in(job, totals), job.blocks()};
    const double once = operations_of(job, job.elements());
    stages.add(job, "block_scan", "Scans every block independently and keeps its total.", job.in,
               {local, totals}, once, BlockScan{phases});
    stages.add(job, "scan_of_block_sums", "Turns block totals into the prefix of every block.",
               {totals, job.initial}, {totals}, operations_of(job, job.batch * job.blocks() * job.channels),
               BlockSums{phases});
    stages.add(job, "add_block_prefixes", "Combines the prefix of every block with its positions.",
               {local, totals}, {job.y}, once, AddPrefixes{phases});
}

void add_lookback(Stages& stages, const Job& job) {
    stages.add(job, "lookback", "Scans every tile once; finds its prefix by looking back.",
               job.in + Buffers{job.initial}, {job.y}, operations_of(job, 2 * job.elements()), Lookback{});
}

// The backward pass of one direction: g, the scan of dy from the other end, then the gradients.
struct Backward {
    Job forward;
    Buffer dy;
    Buffer g;   // dx itself, unless `adds`
    bool adds;  // to the gradients of the other direction
};

// In the backward pass of a recurrence y_t = a_t y_(t-1) + x_t, its gates carry g; those of a product are x.
Buffers shifted_gates(Stages& stages, const Backward& pass) {
    const Buffer& gates = pass.forward.in.front();
    Buffer shifted = stages.builder.take("shifted_" + gates.name, gates.shape, gates.storage);
    stages.add(pass.forward, "shift_gates", "Moves every gate one step earlier, where the gradient needs it.",
               {gates}, {shifted}, 0, ShiftGates{shifted.address});
    return {shifted, pass.dy};
}

// The other operators have gates that depend on y, between 0 and 1.
Buffers gates_of_outputs(Stages& stages, const Backward& pass) {
    Buffer gates = stages.builder.take("gates", pass.dy.shape), dy = pass.dy;
    OutputGates what = {gates.as<float>(), pass.dy.address, nullptr};
    if (dy.storage != Storage::f32) {
        dy = stages.builder.take("dy_in_f32", dy.shape);
        what.widened = dy.as<float>();
    }
    const bool widens = what.widened != nullptr;
    const Buffer x = pass.forward.op == Operator::log_sum_exp ? pass.forward.in.front() : Buffer();
    stages.add(pass.forward, "output_gates",
               "Computes from y which share of the gradient every step takes over from the next one.",
               {pass.forward.y, x, widens ? pass.dy : Buffer()}, {gates, widens ? dy : Buffer()},
               static_cast<double>(pass.forward.elements()), what);
    return {gates, dy};
}

// The operator that scans dy.
Operator gradient_operator(Operator op) {
    switch (op) {
        case Operator::product:
        case Operator::log_sum_exp:
            return Operator::linear;
        case Operator::maximum:
        case Operator::minimum:
            return Operator::segmented_sum;
        default:
            return op;
    }
}

Buffers inputs_of_gradient(Stages& stages, const Backward& pass) {
    const Operator op = pass.forward.op;
    if (input_planes_of(op) == 2 || op == Operator::product) return shifted_gates(stages, pass);
    if (input_planes_of(gradient_operator(op)) == 2) return gates_of_outputs(stages, pass);
    return {pass.dy};
}

void add_gate_gradient(Stages& stages, const Backward& pass, const Tensors& t) {
    const Buffer first_gates = t.dinitial ? t.a.part(t.dinitial.shape) : Buffer();
    const Buffers before = pass.adds ? Buffers{t.da, t.dinitial} : Buffers{};
    stages.add(pass.forward, "gate_gradient",
               "Multiplies the gradient of every position by the output before it.",
               Buffers{pass.g, pass.forward.y, t.initial, first_gates} + before, {t.da, t.dinitial},
               static_cast<double>(pass.forward.elements()),
               GateGradient{pass.g.as<float>(), t.da.as<float>(), t.dinitial.as<float>(), pass.adds});
}

void add_input_gradient(Stages& stages, const Backward& pass, const Tensors& t) {
    const Operator op = pass.forward.op;
    const bool reads_y = gradient_operator(op) != op;
    stages.add(pass.forward, "input_gradient",
               pass.adds ? "Adds the gradient of x to that of the other direction."
                         : "Multiplies g by the derivative of every output with respect to its own input.",
               Buffers{pass.g, reads_y ? pass.forward.y : Buffer(),
                       op == Operator::log_sum_exp ? t.x : Buffer(), pass.adds ? t.dx : Buffer()},
               {t.dx}, static_cast<double>(pass.forward.elements()),
               InputGradient{pass.g.as<float>(), t.dx.as<float>(), pass.adds});
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
         "In step k = 1, 2, ..., each position combines with the one 2^(k - 1) positions before it: log2 L "
         "launches.",
         add_hillis_steele,
         [](int64_t length, int64_t) { return levels_of(length); },
         {"double_"}},
        {"blelloch",
         "Totals go up a binary tree, then prefixes come down: 2 log2 L - 1 launches, 2 combines per "
         "element.",
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

// Adds the scan of dy in the other direction, with the gates of the following steps, and what makes gradients
// of it.
void add_backward(Stages& stages, const Algorithm& algorithm, const Backward& pass, const Tensors& t) {
    Job gradient = pass.forward;
    gradient.op = gradient_operator(pass.forward.op);
    gradient.prefix = pass.forward.prefix + "gradient_";
    gradient.flipped = !pass.forward.flipped;
    gradient.in = inputs_of_gradient(stages, pass);
    gradient.initial = {};
    gradient.y = pass.g;
    algorithm.add(stages, gradient);
    if (t.a) add_gate_gradient(stages, pass, t);
    if (pass.adds || gradient.op != pass.forward.op) add_input_gradient(stages, pass, t);
}

// The operator and the sizes of the forward scan.
Job sizes_of(const Parameters& parameters) {
    const Op& op = op_of(parameters);
    return {.op = parameters.flag("compensated") ? Operator::compensated_sum : op.op,
            .flipped = parameters.is("direction", "reverse"),
            .batch = parameters.integer("batch"),
            .length = parameters.integer("length"),
            .channels = parameters.integer("channels") * (op.is_complex ? 2 : 1)};
}

Job job_of(const Parameters& parameters, Backend backend, const Tensors& t) {
    Job job = sizes_of(parameters);
    job.block_size = block_size_of(parameters, backend);
    job.in = t.a ? Buffers{t.a, t.x} : Buffers{t.x};
    job.initial = t.initial;
    job.y = t.y;
    return job;
}

template <class Builder>
Outcome<Plan> plan(const PlanRequest& request) {
    Builder builder(request);
    const Algorithm& algorithm = algorithms()[request.variant.row];
    const Tensors t(builder);
    const Job job = job_of(request.parameters, Builder::backend, t);
    Stages stages{builder};
    algorithm.add(stages, job);
    Job reverse = job;
    reverse.prefix = "reverse_";
    reverse.flipped = true;
    reverse.y = t.y_reverse;
    if (t.y_reverse) algorithm.add(stages, reverse);
    if (t.dx) add_backward(stages, algorithm, {job, t.dy, t.dx, false}, t);
    if (t.dx && t.y_reverse)
        add_backward(stages, algorithm, {reverse, t.dy_reverse, builder.take("reverse_g", t.dx.shape), true},
                     t);
    for (const Stage& stage : stages.all) launch(builder, stage);
    return builder.finish();
}

}  // namespace

std::vector<Variant> variants() {
    return variants_of(algorithms(), {.outputs = {"y", "y_reverse", "dx", "da", "dinitial"},
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

std::optional<int64_t> depth_of(const Variant& variant, const Parameters& parameters, Backend backend,
                                int64_t block_size) {
    const Algorithm& algorithm = algorithms()[variant.row];
    const bool looks_back = algorithm.add == add_lookback;
    if (backend == Backend::cuda && (looks_back || algorithm.add == add_three_phase)) return {};
    const int64_t blocks =
        looks_back ? blocks_a_lookback_tile(parameters.integer("channels"), block_size) : 1;
    return algorithm.depth(parameters.integer("length"), blocks * block_size);
}

int64_t automatic_block_size(const Job& job, Backend backend) {
    constexpr int64_t least = 256, most = 1024, most_tiles = 12;
    if (job.length <= least) return least;
    if (job.length <= 512) return 512;
    if (backend == Backend::cpu || job.channels == 1) return most;
    if (has_many_columns(job.batch, job.channels)) return input_planes_of(job.op) == 2 ? least : 512;
    return std::clamp(power_of_two_from(ceil_divide(job.length, most_tiles)), least, most);
}
int64_t automatic_block_size(const Parameters& parameters, Backend backend) {
    return automatic_block_size(sizes_of(parameters), backend);
}

int64_t block_size_of(const Parameters& parameters, Backend backend) {
    if (parameters.is("block_size", "auto")) return automatic_block_size(parameters, backend);
    return parameters.integer("block_size");
}

int64_t levels_of(int64_t length) { return std::bit_width(static_cast<uint64_t>(length - 1)); }

}  // namespace sawtooth::scan
