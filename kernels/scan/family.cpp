// The schema of the associative scan: what can be set, what goes in and comes out, which variants there are.

#include "kernels/scan/family.h"

#include <algorithm>

#include "kernels/core/common_parameters.h"
#include "kernels/scan/parts.h"
#include "kernels/scan/steps.h"

namespace sawtooth {
namespace scan {

const std::vector<Op>& ops() {
    static const std::vector<Op> all = {
        {.name = "sum", .op = Operator::sum, .compensated = Operator::compensated_sum, .has_backward = true},
        {.name = "product", .op = Operator::product},
        {.name = "max", .op = Operator::maximum},
        {.name = "min", .op = Operator::minimum},
        {.name = "linear", .op = Operator::linear, .has_backward = true},
        {.name = "complex_sum",
         .op = Operator::sum,
         .compensated = Operator::compensated_sum,
         .is_complex = true},
    };
    return all;
}

const Op& op_of(const Parameters& parameters) {
    const std::string& name = parameters.text("op");
    return *std::find_if(ops().begin(), ops().end(), [&](const Op& op) { return op.name == name; });
}

const std::vector<Algorithm>& algorithms() {
    static const std::vector<Algorithm> all = {
        {"sequential",
         "One chain of combines a column, as a framework's cumulative sum does on a middle axis.",
         add_sequential, add_sequential, [](int64_t length, int64_t) { return length; }},
        {"hillis_steele",
         "Doubling: in step k every position joins the one 2^k before it; log2 L passes, N log2 N work.",
         add_hillis_steele, add_hillis_steele, [](int64_t length, int64_t) { return levels_of(length); }},
        {"blelloch", "Totals go up a binary tree, prefixes come down it; 2 log2 L steps, 2 N work.",
         add_blelloch, add_blelloch,
         [](int64_t length, int64_t) { return std::max<int64_t>(2 * levels_of(length) - 1, 1); }},
        {"three_phase",
         "Blocks are scanned, their totals are scanned, the prefixes are added; three launches.",
         add_three_phase, add_three_phase,
         [](int64_t length, int64_t block) {
             return std::min(block, length) + ceil_divide(length, block) + 1;
         }},
        {"lookback",
         "One pass: every tile publishes its total and looks back for the prefix before it; on a GPU many "
         "rows of "
         "one channel are walked by a warp each, which hands the prefix on itself.",
         add_lookback, add_lookback,
         [](int64_t length, int64_t block) { return std::min(block, length) + ceil_divide(length, block); }},
    };
    return all;
}

namespace {

// Of the example's tree, which has more of them than the ladder: up and down again.
int64_t example_steps(const Parameters& parameters) {
    return 2 * levels_of(parameters.integer("example_length")) - 1;
}

std::vector<Parameter> parameters() {
    constexpr auto inputs = Renews::inputs;
    std::vector<Value> op_names;
    for (const Op& op : ops()) op_names.emplace_back(op.name);
    std::vector<Parameter> rows = {
        integer_parameter("batch", "Independent sequences.", Group::shape, "sequences", 2, 1, 65536,
                          Step::powers_of_two, inputs),
        integer_parameter("length", "Positions along which the scan runs; any number.", Group::shape,
                          "positions", 4096, 1, int64_t{1} << 28, Step::powers_of_two, inputs),
        integer_parameter("channels", "Independent columns at every position, neighbours in memory.",
                          Group::shape, "channels", 16, 1, 65536, Step::powers_of_two, inputs),
        choice_parameter("op", "The associative operator that joins two neighbours.", Group::algorithm, "sum",
                         op_names, inputs),
        choice_parameter("direction", "Which way the scan runs: from the start, from the end, or both.",
                         Group::algorithm, "forward", {"forward", "reverse", "both"}, inputs),
        choice_parameter(
            "block_size",
            "Positions a tile: what one worker or thread block scans at once. lookback on the CPU takes at "
            "least 8192 of a single channel.",
            Group::tiling, "auto", {"auto", int64_t{128}, int64_t{256}, int64_t{512}, int64_t{1024}},
            Renews::kernels),
        only_for("op", {"sum", "complex_sum"},
                 flag_parameter("compensated",
                                "Carries what every addition loses beside the sum and adds it at the end.",
                                Group::numerics, false, Renews::kernels)),
        not_for("op", {"complex_sum"}, dtype_parameter("f32", {"f32", "f16", "bf16"})),
        choice_parameter("distribution", "What the generated inputs look like.", Group::numerics, "normal",
                         {"normal", "uniform", "badly_conditioned", "impulse"}, inputs),
        not_for("direction", {"both"}, only_for("op", {"sum", "linear"}, backward_parameter())),
        ends_at("batch", 1,
                integer_parameter("drawn_batch",
                                  "Which sequence the plots show; the last one if there are fewer.",
                                  Group::run, "sequence", 0, 0, 65535, Step::linear, Renews::figures)),
        ends_at("channels", 1,
                integer_parameter("drawn_channel",
                                  "Which channel the plots show; the last one if there are fewer.",
                                  Group::run, "channel", 0, 0, 65535, Step::linear, Renews::figures)),
        integer_parameter("example_length", "Positions of the small array whose tree and ladder are drawn.",
                          Group::run, "positions", 8, 2, 16, Step::linear, Renews::figures),
        ends_at({example_steps, "the last step"},
                integer_parameter("example_step", "Which step of the tree and the ladder is lit.", Group::run,
                                  "step", 1, 1, 8, Step::linear, Renews::figures)),
    };
    return rows;
}

bool is_linear(const Parameters& parameters) { return op_of(parameters).op == Operator::linear; }
bool has_gate_gradient(const Parameters& parameters) {
    return runs_backward(parameters) && is_linear(parameters);
}
bool runs_both(const Parameters& parameters) { return parameters.is("direction", "both"); }
Dtype x_dtype(const Parameters& parameters) {
    return op_of(parameters).is_complex ? Dtype::complex64 : Dtype::f32;
}

std::vector<ArraySpec> arrays() {
    const std::vector<std::string> sequence = {"batch", "length", "channels"}, column = {"batch", "channels"};
    const ArraySpec x = {.name = "x",
                         .meaning = "What is scanned along the middle axis.",
                         .dimensions = sequence,
                         .dtype_for = x_dtype};
    const ArraySpec a = {
        .name = "a", .meaning = "The gates of linear.", .dimensions = sequence, .used = is_linear};
    const ArraySpec initial = {.name = "initial",
                               .meaning = "The state of linear before its first step; 0 where it is absent.",
                               .role = Role::optional,
                               .dimensions = column,
                               .used = is_linear};
    const ArraySpec dy = {.name = "dy",
                          .meaning = "The gradient of y.",
                          .role = Role::output_gradient,
                          .dimensions = sequence,
                          .used = runs_backward};
    const ArraySpec y = {.name = "y",
                         .meaning = "The inclusive scan of x.",
                         .role = Role::output,
                         .dimensions = sequence,
                         .dtype_for = x_dtype};
    ArraySpec y_reverse = y;
    y_reverse.name = "y_reverse";
    y_reverse.meaning = "The inclusive scan from the end.";
    y_reverse.used = runs_both;
    return {x,
            a,
            initial,
            dy,
            y,
            y_reverse,
            gradient_of(x, runs_backward),
            gradient_of(a, has_gate_gradient),
            gradient_of(initial, has_gate_gradient)};
}

std::vector<Variant> variants() {
    std::vector<Variant> all;
    for (const Algorithm& algorithm : algorithms())
        all.push_back({.name = algorithm.name,
                       .idea = algorithm.idea,
                       .backends = {Backend::cpu, Backend::cuda},
                       .outputs = {"y", "y_reverse", "dx", "da", "dinitial"},
                       .row = all.size(),
                       .plan_cpu = plan_cpu,
                       .plan_cuda = plan_cuda});
    return all;
}

void settle(Parameters& parameters, const Arrays& given, Backend) {
    settle_backward(parameters, given, "dy");
}

std::optional<Refusal> check(const Parameters& parameters) {
    const Op& op = op_of(parameters);
    if (parameters.flag("compensated") && !op.compensated)
        return Refusal{"compensated", "true", "accepted with op sum or complex_sum, not with " + op.name};
    if (op.is_complex && !parameters.is("dtype", "f32"))
        return Refusal{"dtype", parameters.text("dtype"), "complex_sum takes f32 alone"};
    if (!runs_backward(parameters)) return {};
    if (!op.has_backward)
        return Refusal{"backward", "true", "there is one for op sum and linear, not for " + op.name};
    if (runs_both(parameters))
        return Refusal{"backward", "true", "accepted with direction forward or reverse, not with both"};
    return {};
}

bool is_causal(const Parameters& parameters) {
    return parameters.is("direction", "forward") && !runs_backward(parameters);
}

Work work(const Parameters& parameters) {
    const bool linear = is_linear(parameters), complex = op_of(parameters).is_complex;
    const double elements = static_cast<double>(parameters.integer("batch") * parameters.integer("length") *
                                                parameters.integer("channels"));
    const auto element_bytes =
        static_cast<double>(bytes_of(storage_named(parameters.text("dtype")), x_dtype(parameters)));
    const double passes = runs_both(parameters) ? 2 : 1;
    Work total;
    total.bytes = elements * element_bytes * (passes + (linear ? 2 : 1));
    total.operations = elements * passes * (linear || complex ? 2 : 1);
    if (runs_backward(parameters)) {
        total.bytes += elements * (element_bytes + 4);  // dy in, dx out
        if (linear) total.bytes += elements * 4;        // da; a and y are counted above
        total.operations += elements * (linear ? 3 : 1);
    }
    return total;
}

Family make_family() {
    Family family;
    family.name = "scan";
    family.title = "Associative scan";
    family.summary = "Inclusive scan of six operators along the middle axis, five ways.";
    family.source = "Fused Associative Scan (source 002); Blelloch 1990; Merrill, Garland 2016";
    family.parameters = parameters();
    family.presets = {
        {"paper", {{"batch", int64_t{4}}, {"length", int64_t{8192}}, {"channels", int64_t{512}}}}};
    family.arrays = arrays();
    family.variants = variants();
    family.settle = settle;
    family.check = check;
    family.generate = generate;
    family.reference = reference;
    family.work = work;
    family.sequence_axis = "length";
    family.causal = is_causal;
    family.bench_cases = bench_cases;
    family.sweeps = sweeps;
    family.figures = figures;
    return family;
}

}  // namespace

int64_t block_size_of(const Parameters& parameters) {
    if (parameters.is("block_size", "auto")) return automatic_block_size(parameters.integer("length"));
    return parameters.integer("block_size");
}

}  // namespace scan

const Family& scan_family() {
    static const Family family = scan::make_family();
    return family;
}

}  // namespace sawtooth
