#include "kernels/btp/family.h"

#include "kernels/core/common_parameters.h"
#include "kernels/core/integers.h"

namespace sawtooth {
namespace {

// Inside a block v = Lmat u, Lmat_ij = a_i ... a_{j+1}; across blocks x_i = v_i + (a_0 ... a_i) c with the
// carry c.
const std::string first_pass = "Block Two-Pass (BTP), First Pass: Local Contractions";
const std::string second_pass = "Block Two-Pass (BTP), Second Pass: Carry Propagation";
const std::string advice = "Block Two-Pass (BTP), Practical Advice";
constexpr int64_t tensor_core_width = 16;  // the DH of the source's kernel

std::vector<Parameter> parameters() {
    using enum Group;
    return {
        integer_parameter("B", "Sequences that are computed side by side.", shape, "sequences", 1, 1, 4096,
                          Step::powers_of_two, Renews::inputs),
        integer_parameter("H", "Heads, each with gates of its own.", shape, "heads", 4, 1, 4096,
                          Step::powers_of_two, Renews::inputs),
        integer_parameter("L", "Positions of a sequence; the last block may be short.", shape, "tokens", 2048,
                          1, 1 << 24, Step::powers_of_two, Renews::inputs),
        cited(advice, integer_parameter("DH", "Width of a head: the channels that share its gates.", shape,
                                        "channels", 16, 1, 256, Step::powers_of_two, Renews::inputs)),
        cited(first_pass,
              choice_parameter("BL", "Length of a block; orders 1 and 2 see at most one block back.", tiling,
                               16, {16, 32, 64}, Renews::inputs)),
        cited(advice, only_on_cuda(choice_parameter(
                          "wpb", "Warps a thread block; auto: 32 for order 2 and full, 8 for 1.", tiling,
                          "auto", {"auto", 4, 8, 16, 32}, Renews::kernels))),
        cited(second_pass,
              choice_parameter(
                  "order",
                  "What a block receives: nothing (1), the local last value of the block before (2), or "
                  "its corrected one (full, the exact recurrence).",
                  algorithm, 2, {1, 2, "full"}, Renews::inputs)),
        cited(first_pass,
              choice_parameter("construction",
                               "How the transfer matrix of a block is made of its gates in the forward "
                               "pass.",
                               numerics, "log_stable",
                               {"log_stable", "log_difference", "masked_cumprod", "cumprod_ratio", "double"},
                               Renews::kernels)),
        backward_parameter(),
        dtype_parameter("f32", {"f32", "bf16", "f16"}),
    };
}

Shape carry_shape(const Parameters& parameters, const Arrays&) {
    const int64_t length = parameters.integer("L"), block = parameters.integer("BL");
    return {parameters.integer("B"), parameters.integer("H"), ceil_divide(length, block),
            parameters.integer("DH")};
}

std::vector<ArraySpec> arrays() {
    const std::vector<std::string> gates = {"B", "H", "L"}, values = {"B", "H", "DH", "L"};
    return {
        {.name = "a", .meaning = "Gates, 0 to 1.", .dimensions = gates},
        {.name = "u", .meaning = "What is fed in at each position.", .dimensions = values},
        {.name = "dx",
         .meaning = "Gradient of x.",
         .role = Role::output_gradient,
         .dimensions = values,
         .used = runs_backward},
        {.name = "x", .meaning = "The recurrence's state.", .role = Role::output, .dimensions = values},
        {.name = "carry",
         .meaning = "What each block received, the checkpoint of the backward pass; zeros for order 1.",
         .role = Role::output,
         .dimensions = {"B", "H", "blocks", "DH"},
         .shape = carry_shape},
        {.name = "da",
         .meaning = "Gradient of a.",
         .role = Role::output,
         .dimensions = gates,
         .used = runs_backward},
        {.name = "du",
         .meaning = "Gradient of u.",
         .role = Role::output,
         .dimensions = values,
         .used = runs_backward},
    };
}

std::optional<std::string> check_fused(const Variant&, const Parameters& parameters, const Chip& chip) {
    const int64_t width = parameters.integer("DH");
    if (chip.backend == Backend::cpu || width == tensor_core_width) return {};
    return "DH = " + std::to_string(width) +
           ": on the GPU fused takes 16, the width of its tensor cores' tiles; " +
           "sequential, two_pass and decode take any";
}

std::vector<Variant> variants() {
    const std::vector<Backend> both = {Backend::cpu, Backend::cuda};
    const std::vector<std::string> forward = {"x", "carry"}, all = {"x", "carry", "da", "du"};
    return {
        {.name = "sequential",
         .idea = "One launch a token, one step of the recurrence each: the sawtooth itself.",
         .backends = both,
         .outputs = forward},
        {.name = "two_pass",
         .idea =
             "One launch solves the blocks, one adds each block's carry times its gates; order full scans "
             "the carries in the second.",
         .backends = both,
         .outputs = all},
        {.name = "fused",
         .idea = "Both passes in one launch with one synchronisation between them; order full by look-back.",
         .backends = both,
         .outputs = all,
         .check = check_fused},
        {.name = "decode",
         .idea =
             "A step function of state, gate and input, driven over the sequence by one persistent launch.",
         .backends = both,
         .outputs = forward},
    };
}

void settle(Parameters& parameters, const Arrays& given, Backend) {
    const bool first_order = parameters.at("order") == Value(1);
    settle_automatic(parameters, "wpb", first_order ? 8 : 32);
    settle_backward(parameters, given, "dx");
}

Family make_family() {
    Family family;
    family.name = "btp";
    family.title = "Block Two-Pass";
    family.summary =
        "A sliding window recurrence in two passes: blocks solved by matrix products, then one carry each.";
    family.source = "Block Two-Pass (BTP)";
    family.parameters = parameters();
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
    family.sequence_axis = "L";
    return family;
}

}  // namespace

const Family& btp_family() {
    static const Family family = make_family();
    return family;
}

}  // namespace sawtooth
