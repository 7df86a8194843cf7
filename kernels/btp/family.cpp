#include "kernels/btp/family.h"

#include <algorithm>

#include "kernels/btp/parts.h"
#include "kernels/core/common_parameters.h"

namespace sawtooth {
namespace {

// Inside a block v = Lmat u with Lmat_ij = a_i ... a_{j+1}. Across blocks x_i = v_i + (a_0 ... a_i) c, where
// c is the carry into the block.
const std::string first_pass = "Block Two-Pass (BTP), First Pass: Local Contractions";
const std::string second_pass = "Block Two-Pass (BTP), Second Pass: Carry Propagation";
const std::string advice = "Block Two-Pass (BTP), Practical Advice";

// The choices of the parameter `construction`.
struct NamedConstruction {
    const char* name;
    btp::Construction construction;
};
constexpr NamedConstruction constructions[] = {
    {"log_stable", btp::Construction::log_stable},
    {"log_difference", btp::Construction::log_difference},
    {"masked_cumprod", btp::Construction::masked_cumprod},
    {"cumprod_ratio", btp::Construction::cumprod_ratio},
    {"double", btp::Construction::exact},
};

std::vector<Value> names_of_constructions() {
    std::vector<Value> names;
    for (const NamedConstruction& named : constructions) names.emplace_back(named.name);
    return names;
}

Parameter drawn_block() {
    return ends_at(
        {[](const Parameters& p) { return btp::Sizes(p).blocks() - 1; }, "the last block"},
        integer_parameter("drawn_block",
                          "Block whose transfer matrix is shown; the last one if there are fewer.",
                          Group::run, "block", 1, 0, (1 << 20) - 1, Step::linear, Renews::figures));
}

Parameter block_length() {
    Parameter row = integer_parameter(
        "BL",
        "Positions per block; orders 1 and 2 look back at most one block. On CUDA 16, 32 and 64 use tensor "
        "cores.",
        Group::tiling, "positions", 16, 1, btp::longest_block, Step::powers_of_two, Renews::inputs);
    row.choices.assign(btp::lengths_on_tensor_cores.begin(), btp::lengths_on_tensor_cores.end());
    return row;
}

// A position is remembered for about 1 / (1 - gate) positions, so the slider has small steps near 1.
Parameter gate() {
    Parameter row = real_parameter("gate", "Median of generated gates; they range from its square to 1.",
                                   Group::numerics, 0.9, 0, 1, Renews::inputs);
    row.step = Step::towards_one;
    return row;
}

std::vector<Parameter> parameters() {
    using enum Group;
    return {
        titled("sequences", integer_parameter("B", "Sequences computed in parallel.", shape, "sequences", 1,
                                              1, 4096, Step::powers_of_two, Renews::inputs)),
        titled("heads", integer_parameter("H", "Heads, each with its own gates.", shape, "heads", 4, 1, 4096,
                                          Step::powers_of_two, Renews::inputs)),
        titled("positions",
               integer_parameter("L", "Positions per sequence; the last block may be short.", shape, "tokens",
                                 1024, 1, 1 << 24, Step::powers_of_two, Renews::inputs)),
        titled("channels",
               cited(advice, integer_parameter("DH", "Width of a head: channels that share its gates.", shape,
                                               "channels", 16, 1, 256, Step::powers_of_two, Renews::inputs))),
        titled("block_length", cited(first_pass, block_length())),
        titled("warps_per_block",
               cited(advice, only_on_cuda(choice_parameter(
                                 "wpb",
                                 "Warps per thread block; auto: 4 for order 2 with BL 16, 32 "
                                 "or 64, 8 for order 1 and for f32 with BL 64, otherwise 16.",
                                 tiling, "auto", {"auto", 4, 8, 16, 32}, Renews::kernels)))),
        cited(second_pass,
              choice_parameter(
                  "order",
                  "Carry into a block: none (1), the uncorrected last value of the previous block (2), or "
                  "the corrected one (full, the exact recurrence).",
                  algorithm, 2, {1, 2, "full"}, Renews::inputs)),
        cited(first_pass,
              choice_parameter("construction",
                               "How the forward pass builds the transfer matrix of a block from its gates.",
                               numerics, "log_stable", names_of_constructions(), Renews::kernels)),
        choice_parameter("gates",
                         "Whether every sequence has its own gates, or the batch shares them: a is then "
                         "[H, L], and its gradient is summed over the batch.",
                         shape, "per_sequence", {"per_sequence", "shared"}, Renews::inputs),
        backward_parameter(),
        dtype_parameter("f32", {"f32", "bf16", "f16"}),
        choice_parameter("out_dtype", "Number format of x inside the kernels; auto: that of the inputs.",
                         numerics, "auto", {"auto", "f32", "bf16", "f16"}, Renews::kernels),
        gate(),
        drawn_parameter("drawn_batch", "sequence", "B", 4095),
        drawn_parameter("drawn_head", "head", "H", 4095),
        drawn_parameter("drawn_channel", "channel", "DH", 255),
        drawn_block(),
    };
}

Shape carry_shape(const Parameters& parameters, const Arrays&) {
    const int64_t length = parameters.integer("L"), block = parameters.integer("BL");
    return {parameters.integer("B"), parameters.integer("H"), ceil_divide(length, block),
            parameters.integer("DH")};
}

Shape gates_shape(const Parameters& parameters, const Arrays&) {
    Shape shape = {parameters.integer("B"), parameters.integer("H"), parameters.integer("L")};
    if (btp::shares_gates(parameters)) shape.erase(shape.begin());
    return shape;
}

bool has_carries(const Parameters& parameters) { return btp::order_of(parameters) != btp::Order::one; }

std::vector<ArraySpec> arrays() {
    const std::vector<std::string> gates = {"B", "H", "L"}, values = {"B", "H", "DH", "L"};
    ArraySpec carry0 = array_row(Role::optional, "carry0", "Carry into the first block; 0 if absent.",
                                 {"B", "H", "DH"}, has_carries);
    carry0.rounded = false;
    const auto has_gradient = [](const Parameters& p) { return has_carries(p) && runs_backward(p); };
    return {
        {.name = "a",
         .meaning = "Gates, 0 to 1; [H, L] if the batch shares them.",
         .dimensions = gates,
         .shape = gates_shape},
        {.name = "u", .meaning = "Input at each position.", .dimensions = values},
        carry0,
        {.name = "dx",
         .meaning = "Gradient of x.",
         .role = Role::output_gradient,
         .dimensions = values,
         .used = runs_backward},
        {.name = "x", .meaning = "State of the recurrence.", .role = Role::output, .dimensions = values},
        {.name = "carry",
         .meaning = "Carry into each block, the checkpoint of the backward pass; zeros for order 1.",
         .role = Role::output,
         .dimensions = {"B", "H", "blocks", "DH"},
         .shape = carry_shape,
         .rounded = false},
        {.name = "da",
         .meaning = "Gradient of a, in its shape.",
         .role = Role::output,
         .dimensions = gates,
         .shape = gates_shape,
         .used = runs_backward,
         .rounded = false},
        {.name = "du",
         .meaning = "Gradient of u.",
         .role = Role::output,
         .dimensions = values,
         .used = runs_backward},
        gradient_of(carry0, has_gradient),
    };
}

// Returns false for constructions that lose all digits or give NaN where gates are small.
bool is_exact(const Variant&, const Parameters& parameters) {
    return !parameters.is("construction", "log_difference") &&
           !parameters.is("construction", "cumprod_ratio");
}

// Returns the blocks, and where it has them the stretches of blocks between which carries are handed on.
// fused on the CPU has one stretch per item; on CUDA orders 2 and full have one per step of a thread block,
// of 32 or 64 positions per warp. On CUDA cores every order has one per thread block.
std::vector<Tiling> tilings(const Variant& variant, const std::string&, const Parameters& parameters,
                            Backend backend) {
    const int64_t block = parameters.integer("BL");
    std::vector<Tiling> tilings = {{"L", "BL", block}};
    if (backend == Backend::cpu) {
        if (variant.name == "fused")
            tilings.push_back({"L", "stretch", btp::blocks_a_stretch(block) * block});
        return tilings;
    }
    if (variant.name != "fused" && variant.name != "two_pass") return tilings;
    const int64_t warps = parameters.integer("wpb");
    if (!btp::is_on_tensor_cores(block)) {
        tilings.push_back({"DH", "channels of a thread", btp::channels_of_thread});
        tilings.push_back({"L", "stretch", btp::blocks_of_threads(warps, block) * block});
        return tilings;
    }
    tilings.push_back({"DH", "channels of a warp", 16});
    if (btp::order_of(parameters) != btp::Order::one)
        tilings.push_back({"L", "stretch", warps * btp::segment_on_tensor_cores(block)});
    return tilings;
}

// The rounding of sums on tensor cores, which cut digits off and take an f32 as a sum of three bf16.
constexpr double tensor_core_rounding = 0x1p-22;

// Returns what a variant rounds inside. two_pass stores v as x between its launches, in `out_dtype`; on
// tensor cores two_pass and fused round factors to `dtype`.
Rounding rounding(const Variant& variant, const Parameters& parameters, Backend backend) {
    const bool on_tensor_cores = backend == Backend::cuda &&
                                 (variant.name == "two_pass" || variant.name == "fused") &&
                                 btp::is_on_tensor_cores(parameters.integer("BL"));
    Rounding factors, between;
    if (on_tensor_cores) factors = rounding_to_dtype(variant, parameters);
    if (variant.name == "two_pass") between = rounding_to(storage_named(parameters.text("out_dtype")));
    return {.arithmetic = on_tensor_cores ? tensor_core_rounding : Rounding{}.arithmetic,
            .narrow = factors.narrow,
            .stored = between.stored,
            .largest = std::min(factors.largest, between.largest),
            .finest = std::max(factors.finest, between.finest)};
}

std::vector<Variant> variants() {
    const std::vector<std::string> forward = {"x", "carry"}, all = {"x", "carry", "da", "du", "dcarry0"};
    return {
        {.name = "sequential",
         .idea = "One launch per token, one step of the recurrence each: the sawtooth itself.",
         .outputs = forward,
         .plan_cpu = btp::plan_sequential_on_cpu,
         .plan_cuda = btp::plan_sequential_on_cuda},
        {.name = "two_pass",
         .idea = "One launch solves the blocks, one adds the carry of each block times its gates; order full "
                 "scans the carries in the second.",
         .outputs = all,
         .rounds_inside = true,
         .exact = is_exact,
         .definition = "transfer matrices",
         .plan_cpu = btp::plan_two_pass_on_cpu,
         .plan_cuda = btp::plan_two_pass_on_cuda},
        {.name = "fused",
         .idea = "Both passes in one launch: order 2 computes the block before a stretch again, order full "
                 "looks back.",
         .outputs = all,
         .rounds_inside = true,
         .exact = is_exact,
         .definition = "transfer matrices",
         .plan_cpu = btp::plan_fused_on_cpu,
         .plan_cuda = btp::plan_fused_on_cuda},
        {.name = "decode",
         .idea = "One persistent launch applies a step function of state, gate and input along the sequence.",
         .outputs = forward,
         .plan_cpu = btp::plan_decode_on_cpu,
         .plan_cuda = btp::plan_decode_on_cuda},
    };
}

void settle(Parameters& parameters, const Arrays& given, Backend) {
    const auto warps = [&] {
        const btp::Order order = btp::order_of(parameters);
        const int64_t block = parameters.integer("BL");
        // With order 2 the warps of a thread block wait for one another in every step. With BL 64 they do
        // not, but four were fastest in fused, too.
        if (order == btp::Order::two && btp::is_on_tensor_cores(block)) return 4;
        // Fewer warps leave more registers per thread, which long blocks need in f32.
        const bool is_long = parameters.is("dtype", "f32") && block == 64;
        return is_long || order == btp::Order::one ? 8 : 16;
    };
    settle_automatic(parameters, "wpb", warps());
    settle_automatic(parameters, "out_dtype", parameters.at("dtype"));
    settle_backward(parameters, given, "dx");
    if (const Array* const a = find(given, "a"))
        parameters.set("gates", std::string(a->shape.size() == 2 ? "shared" : "per_sequence"));
}

std::optional<Refusal> check_inputs(const Parameters& parameters, const Arrays& given) {
    if (has_carries(parameters) || !find(given, "carry0")) return {};
    return Refusal{"order", "1", "must be 2 or full with carry0 in the input, as order 1 has no carries"};
}

Family make_family() {
    Family family;
    family.name = "btp";
    family.title = "Block Two-Pass";
    family.summary =
        "A sliding window recurrence in two passes: matrix products inside blocks, then one carry per block.";
    family.source = "Block Two-Pass (BTP)";
    family.parameters = parameters();
    family.main_parameters = {"L", "BL", "order", "construction"};
    family.presets = {{"paper",
                       {{"B", 8},
                        {"H", 128},
                        {"L", 8192},
                        {"BL", 16},
                        {"DH", 16},
                        {"order", 2},
                        {"wpb", 32},
                        {"dtype", "bf16"}}}};
    family.arrays = arrays();
    family.variants = variants();
    family.settle = settle;
    family.check_inputs = check_inputs;
    family.generate = btp::generate;
    family.reference = btp::reference;
    family.definition = btp::definition;
    family.definition_reads = {"construction"};
    family.rounding = rounding;
    family.tilings = tilings;
    family.main_output = "x";
    family.work = btp::work;
    family.sequence_axis = "L";
    family.causal = [](const Parameters& p) { return !runs_backward(p); };
    family.bench_cases = btp::bench_cases;
    family.sweeps = btp::sweeps;
    family.figures = btp::figures;
    family.story = btp::story();
    family.about = btp::about();
    return family;
}

}  // namespace

namespace btp {

Construction construction_named(std::string_view name) {
    const auto* const found =
        std::find_if(std::begin(constructions), std::end(constructions),
                     [&](const NamedConstruction& named) { return named.name == name; });
    return found->construction;
}

Construction construction_of(const Parameters& parameters) {
    return construction_named(parameters.text("construction"));
}

}  // namespace btp

const Family& btp_family() {
    static const Family family = make_family();
    return family;
}

}  // namespace sawtooth
