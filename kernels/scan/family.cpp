// The schema of the associative scan: its parameters, arrays and variants.

#include "kernels/scan/family.h"

#include <algorithm>

#include "kernels/core/common_parameters.h"
#include "kernels/scan/job.h"
#include "kernels/scan/parts.h"

namespace sawtooth {
namespace scan {

const std::vector<Op>& ops() {
    static const std::vector<Op> all = {
        {.name = "sum", .op = Operator::sum, .has_backward = true},
        {.name = "product", .op = Operator::product},
        {.name = "max", .op = Operator::maximum},
        {.name = "min", .op = Operator::minimum},
        {.name = "linear", .op = Operator::linear, .has_backward = true},
        {.name = "complex_sum", .op = Operator::sum, .is_complex = true},
    };
    return all;
}

const Op& op_of(const Parameters& parameters) {
    const std::string& name = parameters.text("op");
    return *std::find_if(ops().begin(), ops().end(), [&](const Op& op) { return op.name == name; });
}

namespace {

std::vector<Parameter> parameters() {
    constexpr auto inputs = Renews::inputs;
    return {
        titled("sequences", size_parameter("batch", "Independent sequences.", "sequences", 2, 65536)),
        titled("positions", size_parameter("length", "Positions along the scanned axis; any number.",
                                           "positions", 4096, int64_t{1} << 28)),
        size_parameter("channels", "Independent columns per position, contiguous in memory.", "channels", 16,
                       65536),
        titled("operator", choice_parameter("op", "The associative operator that joins two neighbours.",
                                            Group::algorithm, "sum", names_of(ops()), inputs)),
        choice_parameter("direction", "Direction of the scan: from the start, from the end, or both.",
                         Group::algorithm, "forward", {"forward", "reverse", "both"}, inputs),
        choice_parameter("block_size",
                         "Positions per tile, which one worker or thread block scans at a time. "
                         "lookback on the CPU uses at least 8192 for a single channel.",
                         Group::tiling, "auto",
                         {"auto", int64_t{128}, int64_t{256}, int64_t{512}, int64_t{1024}}, Renews::kernels),
        only_for("op", {"sum", "complex_sum"},
                 flag_parameter("compensated",
                                "Tracks the rounding error of the additions and adds it at the end.",
                                Group::numerics, false, Renews::kernels)),
        not_for("op", {"complex_sum"}, dtype_parameter("f32", {"f32", "f16", "bf16"})),
        choice_parameter("distribution", "Distribution of the generated inputs.", Group::numerics, "normal",
                         {"normal", "uniform", "badly_conditioned", "impulse"}, inputs),
        not_for("direction", {"both"}, only_for("op", {"sum", "linear"}, backward_parameter())),
        drawn_parameter("drawn_batch", "sequence", "batch", 65535),
        drawn_parameter("drawn_channel", "channel", "channels", 65535),
        integer_parameter("example_length", "Positions of the small example whose tree and ladder are drawn.",
                          Group::run, "positions", 8, 2, 16, Step::linear, Renews::figures),
        // The tree of the example has more steps than the ladder: up and down again.
        ends_at({[](const Parameters& p) { return 2 * levels_of(p.integer("example_length")) - 1; },
                 "the last step"},
                integer_parameter("example_step", "Highlighted step of the tree and the ladder.", Group::run,
                                  "step", 1, 1, 8, Step::linear, Renews::figures)),
    };
}

bool is_linear(const Parameters& parameters) { return op_of(parameters).op == Operator::linear; }
bool runs_both(const Parameters& parameters) { return parameters.is("direction", "both"); }
Dtype x_dtype(const Parameters& parameters) {
    return op_of(parameters).is_complex ? Dtype::complex64 : Dtype::f32;
}

std::vector<ArraySpec> arrays() {
    using enum Role;
    const std::vector<std::string> sequence = {"batch", "length", "channels"}, column = {"batch", "channels"};
    ArraySpec x = array_row(input, "x", "The values to scan along the middle axis.", sequence);
    ArraySpec y = array_row(output, "y", "The inclusive scan of x.", sequence);
    ArraySpec y_reverse =
        array_row(output, "y_reverse", "The inclusive scan from the end.", sequence, runs_both);
    x.dtype_for = y.dtype_for = y_reverse.dtype_for = x_dtype;
    const ArraySpec a = array_row(input, "a", "The gates of linear.", sequence, is_linear);
    const ArraySpec initial = array_row(
        optional, "initial", "The state of linear before its first step; 0 if absent.", column, is_linear);
    const ArraySpec dy = array_row(output_gradient, "dy", "The gradient of y.", sequence, runs_backward);
    const auto has_gate_gradient = [](const Parameters& p) { return runs_backward(p) && is_linear(p); };
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

void settle(Parameters& parameters, const Arrays& given, Backend) {
    settle_backward(parameters, given, "dy");
}

std::optional<Refusal> check(const Parameters& parameters) {
    const Op& op = op_of(parameters);
    if (parameters.flag("compensated") && op.op != Operator::sum)
        return Refusal{"compensated", "true", "needs op sum or complex_sum, not " + op.name};
    if (op.is_complex && !parameters.is("dtype", "f32"))
        return Refusal{"dtype", parameters.text("dtype"), "must be f32 with op complex_sum"};
    if (!runs_backward(parameters)) return {};
    if (!op.has_backward) return Refusal{"backward", "true", "needs op sum or linear, not " + op.name};
    if (runs_both(parameters))
        return Refusal{"backward", "true", "needs direction forward or reverse, not both"};
    return {};
}

std::vector<Tiling> tilings(const Variant& variant, const std::string&, const Parameters& parameters,
                            Backend backend) {
    const int64_t block = block_size_of(parameters);
    if (variant.name == "lookback") return {{"length", "block_size", block}};
    if (variant.name != "three_phase") return {};
    std::vector<Tiling> tilings = {{"length", "block_size", block}};
    const int64_t columns = parameters.integer("channels") * (op_of(parameters).is_complex ? 2 : 1);
    if (backend == Backend::cuda) tilings.push_back({"length", "totals", block * totals_at_once(columns)});
    return tilings;
}

// A compensated sum loses only what its two words of f32 lose, which the definition marks. da reads y as it
// is stored. A maximum or a minimum is one of the inputs, and thus exact.
Rounding rounding(const Variant&, const Parameters& parameters, Backend) {
    if (parameters.flag("compensated")) return {.arithmetic = 0, .narrow = unit_of(Storage::f32)};
    const Operator op = op_of(parameters).op;
    Rounding rounding = rounding_to(storage_named(parameters.text("dtype")));
    if (op == Operator::maximum || op == Operator::minimum) rounding.arithmetic = 0;
    return rounding;
}

Work work(const Parameters& parameters) {
    const bool linear = is_linear(parameters), complex = op_of(parameters).is_complex;
    const double elements = static_cast<double>(parameters.integer("batch") * parameters.integer("length") *
                                                parameters.integer("channels"));
    const auto element_bytes =
        static_cast<double>(bytes_of(storage_named(parameters.text("dtype")), x_dtype(parameters)));
    const double passes = runs_both(parameters) ? 2 : 1;
    Work total = {elements * element_bytes * ((linear ? 2 : 1) + passes),
                  elements * (linear || complex ? 2 : 1) * passes};
    if (runs_backward(parameters)) {
        // dy is read, dx and da are written; the rest is counted above.
        total.bytes += elements * (element_bytes + (linear ? 8 : 4));
        total.operations += elements * (linear ? 3 : 1);
    }
    return total;
}

Family make_family() {
    Family family;
    family.name = "scan";
    family.title = "Associative scan";
    family.summary = "Inclusive scan of six operators along the middle axis, five ways.";
    family.source = "Fused Associative Scan Implementation; Blelloch 1990; Merrill, Garland 2016";
    family.parameters = parameters();
    family.main_parameters = {"op", "length", "channels", "block_size"};
    family.presets = {
        {"paper", {{"batch", int64_t{4}}, {"length", int64_t{8192}}, {"channels", int64_t{512}}}}};
    family.arrays = arrays();
    family.variants = variants();
    family.settle = settle;
    family.check = check;
    family.generate = generate;
    family.reference = reference;
    family.definition = definition;
    family.rounding = rounding;
    family.definition_reads = {"compensated"};
    family.tilings = tilings;
    family.main_output = "y";
    family.work = work;
    family.sequence_axis = "length";
    family.causal = [](const Parameters& p) { return p.is("direction", "forward") && !runs_backward(p); };
    family.bench_cases = bench_cases;
    family.sweeps = sweeps;
    family.figures = figures;
    family.story = story();
    family.about = about();
    return family;
}

}  // namespace

}  // namespace scan

const Family& scan_family() {
    static const Family family = scan::make_family();
    return family;
}

}  // namespace sawtooth
