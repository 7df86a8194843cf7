#include "kernels/ar_ssm/family.h"

#include <algorithm>

#include "kernels/ar_ssm/parts.h"
#include "kernels/ar_ssm/sizes.h"
#include "kernels/core/common_parameters.h"
#include "kernels/cpu/products.h"

namespace sawtooth {
namespace {

// One layer of H = T + U V^T: t = conv(x), g = gate(x), u = (x U^T) g, v = (x V^T) g, c = scan(u),
// y = t + (c v) W_o^T + b_o.
const std::string layer = "Fused Associative Scan Implementation, Integration with AR-SSM Layer";

std::vector<Parameter> parameters() {
    using enum Group;
    return {
        titled("sequences", integer_parameter("batch", "Sequences computed in parallel.", shape, "sequences",
                                              1, 1, 4096, Step::powers_of_two, Renews::inputs)),
        titled("positions", integer_parameter("length", "Positions per sequence.", shape, "tokens", 1024, 1,
                                              1 << 24, Step::powers_of_two, Renews::inputs)),
        titled("channels", integer_parameter("d_model", "Channels of the layer's input and output.", shape,
                                             "channels", 64, 1, 16384, Step::powers_of_two, Renews::inputs)),
        cited(layer,
              integer_parameter("max_rank", "Columns of U and V: the largest rank that the gates can open.",
                                shape, "ranks", 16, 1, 4096, Step::powers_of_two, Renews::inputs)),
        automatic(integer_parameter(
            "gate_hidden", "Width of the gate's hidden layer; auto: a quarter of d_model, at least 1.", shape,
            "units", 1, 1, 16384, Step::powers_of_two, Renews::inputs)),
        cited("Fused Associative Scan Implementation, Requirement 8.4",
              flag_parameter(
                  "bidirectional",
                  "Also scans from the end: y = (t + uv + uv_rev) / 2, which halves the local part t, too.",
                  algorithm, false, Renews::inputs)),
        cited("Fused Associative Scan Implementation, Requirement 8.4",
              only_for("bidirectional", {true},
                       flag_parameter("use_anticausal",
                                      "Includes the scan from the end; false leaves the causal layer.",
                                      algorithm, true, Renews::inputs))),
        choice_parameter("gate_mode",
                         "soft: gates are the sigmoid. hard: 1 if the sigmoid is at least 0.5, otherwise 0. "
                         "gumbel: the sigmoid of (logit + gate_noise) / gate_temperature.",
                         algorithm, "soft", {"soft", "hard", "gumbel"}, Renews::inputs),
        only_for("gate_mode", {"gumbel"},
                 real_parameter("gate_temperature", "Lower temperatures bring the gates closer to 0 and 1.",
                                algorithm, 1, 0.05, 20, Renews::inputs)),
        cited("Fused Associative Scan Implementation, Requirement 8.2",
              choice_parameter("scan", "Scan algorithm of `unfused`; auto: lookback.", algorithm, "auto",
                               {"auto", "sequential", "hillis_steele", "blelloch", "three_phase", "lookback"},
                               Renews::kernels)),
        flag_parameter("intermediates",
                       "Also returns t, u, v, c and uv, which the steps of unfused pass on; fused has none.",
                       run, false, Renews::inputs),
        backward_parameter(),
        dtype_parameter("f32", {"f32", "f16", "bf16"}),
        drawn_parameter("drawn_batch", "sequence", "batch", 4095),
        drawn_parameter("drawn_channel", "channel", "d_model", 16383),
        drawn_parameter("drawn_rank", "rank", "max_rank", 4095),
    };
}

struct Weight {
    std::string name, meaning;
    std::vector<std::string> dimensions;
};

const std::vector<Weight>& weights() {
    static const std::vector<Weight> all = {
        {"conv", "Depthwise convolution along the sequence, three taps per channel.", {"d_model", "3"}},
        {"gate_w1", "First layer of the gate.", {"gate_hidden", "d_model"}},
        {"gate_b1", "Bias of the gate's first layer.", {"gate_hidden"}},
        {"gate_w2", "Second layer of the gate.", {"max_rank", "gate_hidden"}},
        {"gate_b2", "Bias of the gate's second layer.", {"max_rank"}},
        {"u_proj", "U, the projection of the scanned side.", {"max_rank", "d_model"}},
        {"v_proj", "V, the projection of the reading side.", {"max_rank", "d_model"}},
        {"out_proj", "W_o, the projection from ranks back to channels.", {"d_model", "max_rank"}},
        {"out_bias", "b_o, the bias of W_o.", {"d_model"}},
    };
    return all;
}

// What one step passes to the next, outputs with `intermediates`. Only unfused has it in memory.
struct Intermediate {
    std::string name, meaning;
    bool of_ranks = false, rounded = true, reverse = false;
};

const std::vector<Intermediate>& intermediates() {
    static const std::vector<Intermediate> all = {
        {"t", "Local part of y, the convolution; y has half of it if bidirectional."},
        {"u", "(x U^T) g, which is scanned.", true},
        {"v", "(x V^T) g, which reads the scan.", true},
        {"c", "Scan of u.", true, false},
        {"c_rev", "Scan of u from the end.", true, false, true},
        {"uv", "Low-rank part of y, (c v) W_o^T + b_o."},
        {"uv_rev", "The same with c_rev.", false, true, true},
    };
    return all;
}

bool returns_reverse(const Parameters& parameters) {
    return ar_ssm::returns_intermediates(parameters) && ar_ssm::scans_from_end(parameters);
}

Shape conv_shape(const Parameters& parameters, const Arrays&) { return {parameters.integer("d_model"), 3}; }

ArraySpec weight_array(const Weight& weight) {
    ArraySpec array{.name = weight.name, .meaning = weight.meaning, .dimensions = weight.dimensions};
    if (weight.name == "conv") array.shape = conv_shape;
    return array;
}

std::vector<ArraySpec> arrays() {
    const std::vector<std::string> tokens = {"batch", "length", "d_model"};
    const std::vector<std::string> ranks = {"batch", "length", "max_rank"};
    std::vector<ArraySpec> all = {{.name = "x", .meaning = "Input of the layer.", .dimensions = tokens}};
    for (const Weight& weight : weights()) all.push_back(weight_array(weight));
    all.push_back(
        {.name = "gate_noise",
         .meaning = "Noise added to the logits of the gates; generated from the Gumbel distribution.",
         .dimensions = ranks,
         .used = ar_ssm::draws_gates,
         .rounded = false});
    all.push_back({.name = "dy",
                   .meaning = "Gradient of y.",
                   .role = Role::output_gradient,
                   .dimensions = tokens,
                   .used = runs_backward});
    all.push_back(
        {.name = "y", .meaning = "Output of the layer.", .role = Role::output, .dimensions = tokens});
    all.push_back({.name = "gates",
                   .meaning = "Gate of each rank at each position, 0 to 1.",
                   .role = Role::output,
                   .dimensions = ranks,
                   .rounded = false});
    all.push_back({.name = "effective_rank",
                   .meaning = "Sum of the gates at each position.",
                   .role = Role::output,
                   .dimensions = {"batch", "length"},
                   .rounded = false});
    all.push_back({.name = "dx",
                   .meaning = "Gradient of x.",
                   .role = Role::output,
                   .dimensions = tokens,
                   .used = runs_backward,
                   .rounded = false});
    for (const Weight& weight : weights()) {
        ArraySpec gradient = weight_array(weight);
        gradient.name = "d" + weight.name;
        gradient.meaning = "Gradient of " + weight.name + ".";
        gradient.role = Role::output;
        gradient.used = runs_backward;
        gradient.rounded = false;
        all.push_back(std::move(gradient));
    }
    for (const Intermediate& row : intermediates())
        all.push_back({.name = row.name,
                       .meaning = row.meaning,
                       .role = Role::output,
                       .dimensions = row.of_ranks ? ranks : tokens,
                       .used = row.reverse ? returns_reverse : ar_ssm::returns_intermediates,
                       .rounded = row.rounded});
    return all;
}

// On CUDA, unfused stores t, u, v and W_o w in `dtype`, in addition to what both variants store in it.
Rounding rounding(const Variant& variant, const Parameters& parameters, Backend backend) {
    if (backend == Backend::cpu) return {};
    Rounding rounding = rounding_to_dtype(variant, parameters);
    if (variant.name != "unfused") rounding.stored = 0;
    return rounding;
}

std::vector<Tiling> tilings(const Variant& variant, const std::string&, const Parameters& parameters,
                            Backend backend) {
    if (variant.name != "fused") return {};
    const int64_t rows = backend == Backend::cuda
                             ? ar_ssm::tile_rows_on_cuda
                             : ar_ssm::tile_rows_on_cpu(cpu::padded(parameters.integer("d_model")));
    return {{"length", "tile", rows}};
}

// The steps of fused pass numbers on in registers and caches.
std::optional<std::string> refuse_intermediates(const Variant&, const Parameters& parameters, const Chip&) {
    if (!ar_ssm::returns_intermediates(parameters)) return {};
    return "intermediates = true: its fused steps never store t, u, v, c and uv; run unfused for them";
}

std::vector<Variant> variants() {
    std::vector<std::string> outputs = {"y", "gates", "effective_rank", "dx"};
    for (const Weight& weight : weights()) outputs.push_back("d" + weight.name);
    std::vector<std::string> with_intermediates = outputs;
    for (const Intermediate& row : intermediates()) with_intermediates.push_back(row.name);
    return {
        {.name = "unfused",
         .idea = "One launch per step; every intermediate goes through memory, and t, u, v, c and uv are "
                 "outputs on request.",
         .outputs = with_intermediates,
         .rounds_inside = true,
         .plan_cpu = ar_ssm::plan_unfused_on_cpu,
         .plan_cuda = ar_ssm::plan_unfused_on_cuda},
        {.name = "fused",
         .idea = "As few launches as the scan allows: projections and gates, then scan and output.",
         .outputs = outputs,
         .rounds_inside = true,
         .check = refuse_intermediates,
         .plan_cpu = ar_ssm::plan_fused_on_cpu,
         .plan_cuda = ar_ssm::plan_fused_on_cuda,
         .rare_on_cuda = {{"project_wgmma.cu",
                           {{"d_model", int64_t{64}},
                            {"max_rank", int64_t{16}},
                            {"gate_hidden", int64_t{64}},
                            {"dtype", "bf16"},
                            {"backward", false}}},
                          {"project_split.cu",
                           {{"d_model", int64_t{64}},
                            {"max_rank", int64_t{16}},
                            {"gate_hidden", int64_t{64}},
                            {"gate_mode", "soft"},
                            {"dtype", "f32"},
                            {"backward", false}}}}},
    };
}

void settle(Parameters& parameters, const Arrays& given, Backend) {
    settle_automatic(parameters, "gate_hidden", std::max<int64_t>(parameters.integer("d_model") / 4, 1));
    settle_automatic(parameters, "scan", "lookback");  // one read and one write of memory
    settle_backward(parameters, given, "dy");
}

Family make_family() {
    Family family;
    family.name = "ar_ssm";
    family.title = "AR-SSM layer";
    family.summary =
        "A layer H = T + U V^T whose rank adapts to the position, computed by a scan along the sequence.";
    family.source = layer;
    family.parameters = parameters();
    family.presets = {
        {"paper",
         {{"batch", 4}, {"length", 2048}, {"d_model", 512}, {"max_rank", 32}, {"gate_hidden", 128}}}};
    family.arrays = arrays();
    family.variants = variants();
    family.settle = settle;
    family.main_parameters = {"length", "d_model", "max_rank", "scan", "gate_mode", "bidirectional"};
    family.generate = ar_ssm::generate;
    family.reference = ar_ssm::reference;
    family.definition = ar_ssm::definition;
    family.definition_bytes = ar_ssm::definition_bytes;
    family.rounding = rounding;
    family.tilings = tilings;
    family.main_output = "y";
    family.work = ar_ssm::work;
    family.sequence_axis = "length";
    family.bench_cases = ar_ssm::bench_cases;
    family.sweeps = ar_ssm::sweeps;
    family.figures = ar_ssm::figures;
    family.story = ar_ssm::story();
    family.about = ar_ssm::about();
    return family;
}

}  // namespace

const Family& ar_ssm_family() {
    static const Family family = make_family();
    return family;
}

}  // namespace sawtooth
