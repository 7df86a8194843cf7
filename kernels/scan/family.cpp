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
        {.name = "sum", .op = Operator::sum},
        {.name = "product", .op = Operator::product},
        {.name = "max", .op = Operator::maximum},
        {.name = "min", .op = Operator::minimum},
        {.name = "linear", .op = Operator::linear},
        {.name = "complex_sum", .op = Operator::sum, .is_complex = true},
        {.name = "complex_linear", .op = Operator::complex_linear, .is_complex = true},
        {.name = "logcumsumexp", .op = Operator::log_sum_exp},
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
                         "auto: 256 for lengths up to 256, 512 up to 512, 1024 otherwise. On a GPU several "
                         "channels take less beyond 512: the least with at most 12 tiles a sequence, if "
                         "there is one; with 1024 or more channels in all sequences, of which a complex one "
                         "counts as two, 512, or 256 with gates. "
                         "lookback on the CPU uses at least 8192 for a single channel.",
                         Group::tiling, "auto",
                         {"auto", int64_t{128}, int64_t{256}, int64_t{512}, int64_t{1024}}, Renews::kernels),
        only_for("op", {"sum", "complex_sum"},
                 flag_parameter("compensated",
                                "Tracks the rounding error of the additions and adds it at the end.",
                                Group::numerics, false, Renews::kernels)),
        not_for("op", {"complex_sum", "complex_linear"}, dtype_parameter("f32", {"f32", "f16", "bf16"})),
        choice_parameter("distribution", "Distribution of the generated inputs.", Group::numerics, "normal",
                         {"normal", "uniform", "badly_conditioned", "impulse"}, inputs),
        backward_parameter(),
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

bool has_gates(const Parameters& parameters) { return input_planes_of(op_of(parameters).op) == 2; }
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
    const ArraySpec a = array_row(input, "a", "The gates of linear and complex_linear.", sequence, has_gates);
    const ArraySpec initial =
        array_row(optional, "initial", "The state of a recurrence before its first step; 0 if absent.",
                  column, has_gates);
    const ArraySpec dy = array_row(output_gradient, "dy", "The gradient of y.", sequence, runs_backward);
    const ArraySpec dy_reverse =
        array_row(output_gradient, "dy_reverse", "The gradient of y_reverse.", sequence,
                  [](const Parameters& p) { return runs_backward(p) && runs_both(p); });
    const auto has_gate_gradient = [](const Parameters& p) { return runs_backward(p) && has_gates(p); };
    std::vector<ArraySpec> all = {x,
                                  a,
                                  initial,
                                  dy,
                                  dy_reverse,
                                  y,
                                  y_reverse,
                                  gradient_of(x, runs_backward),
                                  gradient_of(a, has_gate_gradient),
                                  gradient_of(initial, has_gate_gradient)};
    for (ArraySpec& each : all) each.dtype_for = x_dtype;
    return all;
}

void settle(Parameters& parameters, const Arrays& given, Backend) {
    const bool only_reverse = runs_both(parameters) && !find(given, "dy");
    settle_backward(parameters, given, only_reverse ? "dy_reverse" : "dy");
}

std::optional<Refusal> check(const Parameters& parameters) {
    const Op& op = op_of(parameters);
    if (parameters.flag("compensated") && op.op != Operator::sum)
        return Refusal{"compensated", "true", "needs op sum or complex_sum, not " + op.name};
    if (op.is_complex && !parameters.is("dtype", "f32"))
        return Refusal{"dtype", parameters.text("dtype"), "must be f32 with op " + op.name};
    return {};
}

std::vector<Tiling> tilings(const Variant& variant, const std::string&, const Parameters& parameters,
                            Backend backend) {
    const int64_t block = block_size_of(parameters, backend);
    const bool looks_back = variant.name == "lookback";
    if (!looks_back && variant.name != "three_phase") return {};
    std::vector<Tiling> tilings = {{"length", "block_size", block}};
    if (backend == Backend::cpu) return tilings;
    const Op& op = op_of(parameters);
    const int64_t columns = parameters.integer("channels") * (op.is_complex && !pairs_columns(op.op) ? 2 : 1);
    if (!looks_back)
        tilings.push_back({"length", "totals", block * totals_at_once(columns)});
    else if (columns == 1 && parameters.integer("batch") * ceil_divide(parameters.integer("length"), block) <
                                 tiles_of_long_rows)
        tilings.push_back({"length", "group", block * warps_of_short_rows * chunks_of_group});
    return tilings;
}

// A compensated sum loses only what its two words of f32 lose, which the definition marks. da reads y as it
// is stored. A maximum or a minimum is one of the inputs, and thus exact.
Rounding rounding(const Variant&, const Parameters& parameters, Backend) {
    if (parameters.flag("compensated")) return {.arithmetic = 0, .narrow = unit_of(Storage::f32)};
    const Operator op = op_of(parameters).op;
    Rounding rounding = rounding_to(storage_named(parameters.text("dtype")));
    const bool is_exact = op == Operator::maximum || op == Operator::minimum;
    if (is_exact && !runs_backward(parameters)) rounding.arithmetic = 0;
    return rounding;
}

// The least operations per element of a scan, and of its gradient. Complex ones count as several.
struct Operations {
    double forward, backward;
};
Operations operations_of(const Op& op) {
    switch (op.op) {
        case Operator::linear:
            return {2, 3};
        case Operator::complex_linear:
            return {8, 14};
        case Operator::product:
            return {1, 3};
        case Operator::log_sum_exp:
            return {4, 5};
        default:
            return op.is_complex ? Operations{2, 2} : Operations{1, 1};
    }
}

Work work(const Parameters& parameters, const Arrays& inputs) {
    const Op& op = op_of(parameters);
    const double arrays = has_gates(parameters) ? 2 : 1;  // that are read, and whose gradients are written
    const double elements = static_cast<double>(parameters.integer("batch") * parameters.integer("length") *
                                                parameters.integer("channels"));
    const auto element_bytes =
        static_cast<double>(bytes_of(storage_named(parameters.text("dtype")), x_dtype(parameters)));
    const double passes = runs_both(parameters) ? 2 : 1;
    const double combined =  // with another element before it
        static_cast<double>(parameters.integer("batch") * (parameters.integer("length") - 1) *
                            parameters.integer("channels"));
    const Operations operations = operations_of(op);
    Work total = {elements * element_bytes * (arrays + passes), combined * operations.forward * passes};
    total.bytes += bytes_of_given(inputs, {"initial"});
    if (runs_backward(parameters)) {
        total.bytes += bytes_of_given(inputs, {"initial"});  // its gradient
        // Gradients of outputs are read, those of inputs are written; the rest is counted above.
        total.bytes += elements * (passes * element_bytes + arrays * (op.is_complex ? 8 : 4));
        total.operations += combined * passes * operations.backward;
    }
    return total;
}

Family make_family() {
    Family family;
    family.name = "scan";
    family.title = "Associative scan";
    family.summary = "Inclusive scan of eight operators along the middle axis, five ways.";
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
