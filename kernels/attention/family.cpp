#include "kernels/attention/family.h"

#include <cmath>
#include <initializer_list>
#include <utility>

#include "kernels/attention/figures/sweeps.h"
#include "kernels/attention/parts.h"
#include "kernels/attention/tiles.h"
#include "kernels/core/common_parameters.h"

namespace sawtooth {
namespace {

// s_ij = scale (q1_i . k1_j) if |i - j| < window, otherwise scale (q2_i . k2_j); o_i = sum_j softmax_j(s_ij)
// v_j.
const std::string tiling_source = "Fused RoPE Triton Implementation, 2.2 Tiling Parameters";
const std::string mask_source = "Fused RoPE Triton Implementation, 2.4 Causal and Sliding-Window Masking";
const std::string block_source = "Fused RoPE Triton Implementation, 2.5 Thread-Block to GPU Mapping";
const std::string backward_source = "Fused RoPE Triton Implementation, 3 Backward Pass";

std::vector<Parameter> shape_parameters() {
    using enum Group;
    return {
        titled("sequences", integer_parameter("Z", "Sequences computed in parallel.", shape, "sequences", 1,
                                              1, 1024, Step::powers_of_two, Renews::inputs)),
        titled("heads", integer_parameter("H", "Heads per sequence.", shape, "heads", 2, 1, 256,
                                          Step::powers_of_two, Renews::inputs)),
        titled(
            "key_heads",
            automatic(integer_parameter(
                "H_kv", "Heads of keys and values, a divisor of H: head h reads number h H_kv / H. auto: H.",
                shape, "heads", 1, 1, 256, Step::powers_of_two, Renews::inputs))),
        titled("positions",
               integer_parameter("N",
                                 "Positions per sequence, for queries and keys; the last tile may be short.",
                                 shape, "tokens", 512, 1, 1 << 20, Step::powers_of_two, Renews::inputs)),
        titled("queries",
               automatic(integer_parameter(
                   "N_q",
                   "Queries per sequence, at most N. They stand at the last positions; the keys before them "
                   "are a cache. auto: N.",
                   shape, "tokens", 1, 1, 1 << 20, Step::powers_of_two, Renews::inputs))),
        titled("channels",
               cited(tiling_source,
                     integer_parameter("D",
                                       "Width of a head, an even number. Tensor cores need 16, "
                                       "32, 64 or 128.",
                                       shape, "", 64, 2, 256, Step::powers_of_two, Renews::inputs))),
        choice_parameter(
            "form",
            "qkv: rotates q and k in a prologue. four: takes both encodings as inputs. auto: follows the "
            "input file, otherwise qkv.",
            shape, "auto", {"auto", "qkv", "four"}, Renews::inputs),
    };
}

std::vector<Parameter> parameters() {
    using enum Group;
    std::vector<Parameter> all = shape_parameters();
    const std::vector<Value> tiles = {16, 32, 64, 128, 256};
    auto add = [&](Parameter row, const std::string& unit, const std::string& source) {
        row.unit = unit;
        all.push_back(cited(source, std::move(row)));
    };
    add(titled("query_tile",
               choice_parameter("BLOCK_M", "Queries per thread block.", tiling, 64, tiles, Renews::kernels)),
        "queries", tiling_source);
    add(titled("key_tile",
               choice_parameter("BLOCK_N", "Keys loaded at a time.", tiling, 64, tiles, Renews::kernels)),
        "keys", tiling_source);
    add(only_on_cuda(choice_parameter("warps", "Warps per thread block in the forward pass.", tiling, 4,
                                      {4, 8}, Renews::kernels)),
        "warps", block_source);
    add(only_on_cuda(
            only_backward(choice_parameter("warps_backward", "Warps per thread block in the backward pass.",
                                           tiling, 8, {4, 8}, Renews::kernels))),
        "warps", backward_source);
    add(only_on_cuda(integer_parameter("stages", "Tiles of keys and values in flight.", tiling, "", 2, 1, 4,
                                       Step::linear, Renews::kernels)),
        "tiles", "");
    add(ends_at("N",
                integer_parameter("window", "Pairs at least this far apart use the second encoding (q2 k2).",
                                  algorithm, "", 128, 1, 1 << 30, Step::powers_of_two, Renews::inputs)),
        "tokens", mask_source);
    add(flag_parameter("causal", "Masks the keys after each query.", algorithm, true, Renews::inputs), "",
        mask_source);
    all.push_back(automatic(real_parameter("scale", "Factor of the scores; auto: 1 / sqrt(D).", numerics, 1,
                                           0, 100, Renews::inputs)));
    all.push_back(only_for(
        "form", {"qkv"},
        real_parameter(
            "base", "Base of the rotation: pair m of a head turns by base^(-2 m / D) radians per position.",
            numerics, 10000, 1, 1e9, Renews::inputs)));
    all.push_back(backward_parameter());
    all.push_back(dtype_parameter("auto", {"auto", "f32", "f16", "bf16"}));
    all.back().meaning += " auto: f32 on the CPU, bf16 on CUDA.";
    all.push_back(drawn_parameter("drawn_batch", "sequence", "Z", 1023));
    all.push_back(drawn_parameter("drawn_head", "head", "H", 255));
    all.push_back(drawn_parameter("drawn_channel", "channel", "D", 255));
    all.push_back(ends_at({[](const Parameters& p) { return attention::queries_of(p) - 1; }, "N_q - 1"},
                          drawn_parameter("drawn_query", "query", "N_q", (1 << 20) - 1)));
    all.back().initial = int64_t{305};
    return all;
}

bool is_qkv(const Parameters& parameters) { return parameters.is("form", "qkv"); }
bool is_four(const Parameters& parameters) { return parameters.is("form", "four"); }
bool rotates_back(const Parameters& parameters) { return is_qkv(parameters) && runs_backward(parameters); }

std::vector<ArraySpec> arrays() {
    const std::vector<std::string> of_queries = {"Z", "H", "N_q", "D"}, of_keys = {"Z", "H_kv", "N", "D"},
                                   rows = {"Z", "H", "N_q"};
    const auto input = [](std::string name, std::string meaning, const std::vector<std::string>& dimensions,
                          bool (*used)(const Parameters&) = nullptr) {
        return ArraySpec{
            .name = std::move(name), .meaning = std::move(meaning), .dimensions = dimensions, .used = used};
    };
    const auto gradient = [](const std::string& name, const std::vector<std::string>& dimensions,
                             bool (*used)(const Parameters&)) {
        return ArraySpec{.name = "d" + name,
                         .meaning = "Gradient of " + name + ".",
                         .role = Role::output,
                         .dimensions = dimensions,
                         .used = used,
                         .rounded = false};
    };
    return {
        input("q", "Queries before rotation.", of_queries, is_qkv),
        input("k", "Keys before rotation.", of_keys, is_qkv),
        input("q1", "Queries in the encoding for near pairs.", of_queries, is_four),
        input("q2", "Queries in the encoding for far pairs.", of_queries, is_four),
        input("k1", "Keys in the encoding for near pairs.", of_keys, is_four),
        input("k2", "Keys in the encoding for far pairs.", of_keys, is_four),
        input("v", "Values.", of_keys),
        {.name = "do",
         .meaning = "Gradient of o.",
         .role = Role::output_gradient,
         .dimensions = of_queries,
         .used = runs_backward},
        {.name = "o", .meaning = "Output of the attention.", .role = Role::output, .dimensions = of_queries},
        {.name = "lse",
         .meaning = "Base-2 log-sum-exp of the scores of each query.",
         .role = Role::output,
         .dimensions = rows,
         .rounded = false},
        {.name = "delta",
         .meaning = "Product of o and its gradient, summed over the head.",
         .role = Role::output,
         .dimensions = rows,
         .used = runs_backward,
         .rounded = false},
        gradient("q1", of_queries, runs_backward),
        gradient("q2", of_queries, runs_backward),
        gradient("k1", of_keys, runs_backward),
        gradient("k2", of_keys, runs_backward),
        gradient("v", of_keys, runs_backward),
        gradient("q", of_queries, rotates_back),
        gradient("k", of_keys, rotates_back),
    };
}

std::string tiling_of(const Parameters& parameters) {
    std::string tiling;
    for (const char* name : {"BLOCK_M", "BLOCK_N", "stages", "D"})
        tiling += (tiling.empty() ? "" : ", ") + std::string(name) + " = " + to_text(parameters.at(name));
    return tiling;
}

// Refuses more heads than a grid can have in its second or third dimension.
std::optional<std::string> check_heads(const Parameters& parameters) {
    constexpr int64_t most = 65535;
    const int64_t heads = parameters.integer("Z") * parameters.integer("H");
    if (heads <= most) return {};
    return "Z = " + to_text(parameters.at("Z")) + ", H = " + to_text(parameters.at("H")) + ": makes " +
           std::to_string(heads) + " heads; a launch on the GPU takes at most " + std::to_string(most);
}

std::optional<std::string> check_naive(const Variant&, const Parameters& parameters, const Chip& chip) {
    if (chip.backend == Backend::cpu) return {};
    return check_heads(parameters);
}

// Refuses a launch that asks for too much shared memory, before it is compiled.
std::optional<std::string> check_shared(const char* launch, int64_t asked, const Parameters& parameters,
                                        const Chip& chip) {
    if (asked <= chip.shared_bytes_per_block) return {};
    return tiling_of(parameters) + ": " + launch + " needs " + std::to_string(asked) +
           " bytes of shared memory per thread block; " + chip.name + " has " +
           std::to_string(chip.shared_bytes_per_block);
}

std::optional<std::string> check_tensor_cores(const Parameters& parameters, const Chip& chip,
                                              int64_t forward_bytes, int64_t backward_bytes) {
    if (parameters.is("dtype", "f32"))
        return "dtype = f32: must be f16 or bf16 on the GPU, where it uses tensor cores; naive accepts f32";
    if (const int64_t d = parameters.integer("D"); d != 16 && d != 32 && d != 64 && d != 128)
        return "D = " + std::to_string(d) +
               ": must be 16, 32, 64 or 128 on the GPU, where it uses tensor cores; naive accepts any even D";
    if (auto refused = check_heads(parameters)) return refused;
    if (auto refused = check_shared("forward", forward_bytes, parameters, chip)) return refused;
    if (!runs_backward(parameters)) return {};
    return check_shared("backward", backward_bytes, parameters, chip);
}

std::optional<std::string> check_streaming(const Variant&, const Parameters& parameters, const Chip& chip) {
    if (chip.backend == Backend::cpu) return {};
    return check_tensor_cores(parameters, chip, attention::forward_shared_bytes(parameters),
                              attention::backward_shared_bytes(parameters));
}

// Checks the limits of wgmma: a warp group of 4 warps multiplies 64 rows at a time (PTX ISA).
std::optional<std::string> check_wgmma(const Variant&, const Parameters& parameters, const Chip& chip) {
    if (chip.architecture != "sm_90a")
        return "needs the warp-group instructions of sm_90a (Hopper); " + chip.name + " is " +
               chip.architecture;
    const int64_t rows = 16 * parameters.integer("warps");
    if (parameters.integer("BLOCK_M") < rows)
        return "BLOCK_M = " + to_text(parameters.at("BLOCK_M")) + ": must be at least " +
               std::to_string(rows) + ", the rows that " + to_text(parameters.at("warps")) +
               " warps multiply at a time";
    // With more registers the compiler waits for each product instead of overlapping it with the softmax.
    constexpr int64_t most_registers = 192;
    const int64_t registers = attention::warpgroup_registers(parameters);
    if (registers > most_registers)
        return "warps = " + to_text(parameters.at("warps")) + ", " + tiling_of(parameters) + ": needs " +
               std::to_string(registers) +
               " registers per thread for scores, probabilities and sums; at most " +
               std::to_string(most_registers) + " are available for them";
    return check_tensor_cores(parameters, chip, attention::warpgroup_shared_bytes(parameters),
                              attention::warpgroup_backward_bytes(parameters));
}

// Returns the tiles of an output: gradients of keys and values have key tiles, other outputs query tiles.
// Where N_q is N, the length N also decides where the last query tile ends.
std::vector<Tiling> tilings(const Variant&, const std::string& output, const Parameters& parameters,
                            Backend) {
    const bool of_keys = output.starts_with("dk") || output == "dv";
    const char* const name = of_keys ? "BLOCK_N" : "BLOCK_M";
    std::vector<Tiling> all = {{"N", name, parameters.integer(name)}};
    if (!of_keys) all.push_back({"N_q", name, parameters.integer(name)});
    return all;
}

// Returns what a variant rounds inside. CUDA stores rotated queries and keys in `dtype`, and o, which the
// backward pass reads. Only the streaming variants multiply probabilities and gradients of scores on tensor
// cores.
Rounding rounding(const Variant& variant, const Parameters& parameters, Backend backend) {
    if (backend == Backend::cpu) return {};
    Rounding rounding = rounding_to_dtype(variant, parameters);
    if (variant.name == "naive") rounding.narrow = 0;
    return rounding;
}

// Returns whether thread blocks of streaming_wgmma add to the same gradients.
bool adds_gradients(const Parameters& parameters) {
    return runs_backward(parameters) && attention::backward_step(parameters) > 0;
}

std::vector<Variant> variants() {
    const std::vector<std::string> outputs = {"o",   "lse", "delta", "dq1", "dq2",
                                              "dk1", "dk2", "dv",    "dq",  "dk"};
    return {
        {.name = "naive",
         .idea = "Scores, softmax and the product with V in three passes; all scores are in memory.",
         .outputs = outputs,
         .rounds_inside = true,
         .check = check_naive,
         .plan_cpu = attention::plan_naive_on_cpu,
         .plan_cuda = attention::plan_naive_on_cuda},
        {.name = "streaming",
         .idea = "One pass over the keys with a running maximum and sum; no score leaves the chip.",
         .outputs = outputs,
         .rounds_inside = true,
         .check = check_streaming,
         .plan_cpu = attention::plan_streaming_on_cpu,
         .plan_cuda = attention::plan_streaming_on_cuda},
        {.name = "streaming_wgmma",
         .idea = "Like streaming, with the warp-group products and bulk copies of Hopper.",
         .outputs = outputs,
         .rounds_inside = true,
         .unordered = adds_gradients,
         .check = check_wgmma,
         .plan_cuda = attention::plan_wgmma_on_cuda},
    };
}

bool any_given(const Arrays& given, std::initializer_list<std::string_view> names) {
    for (std::string_view name : names)
        if (find(given, name)) return true;
    return false;
}

// Leaves `form` at auto if arrays of both forms are given; `check` then refuses it.
void settle(Parameters& parameters, const Arrays& given, Backend backend) {
    const bool qkv = any_given(given, {"q", "k"}), four = any_given(given, {"q1", "q2", "k1", "k2"});
    if (!(qkv && four)) settle_automatic(parameters, "form", four ? "four" : "qkv");
    settle_automatic(parameters, "H_kv", parameters.at("H"));
    settle_automatic(parameters, "N_q", parameters.at("N"));
    settle_automatic(parameters, "scale", 1 / std::sqrt(parameters.real("D")));
    settle_automatic(parameters, "dtype", backend == Backend::cpu ? "f32" : "bf16");
    settle_backward(parameters, given, "do");
}

std::optional<Refusal> check(const Parameters& parameters) {
    const auto refusal = [&](const char* name, const std::string& accepted) {
        return Refusal{name, to_text(parameters.at(name)), accepted};
    };
    if (parameters.is("form", "auto"))
        return refusal("form",
                       "must be qkv or four: the input has arrays of both forms (q, k and q1, q2, k1, k2)");
    const int64_t heads = parameters.integer("H"), length = parameters.integer("N");
    if (heads % attention::key_heads_of(parameters) != 0)
        return refusal("H_kv", "must divide H = " + std::to_string(heads) + "; auto is H");
    if (attention::queries_of(parameters) > length)
        return refusal("N_q", "must be at most N = " + std::to_string(length) + "; auto is N");
    if (parameters.integer("D") % 2 != 0)
        return refusal("D", "must be even: the rotation turns pairs of numbers");
    return {};
}

Family make_family() {
    Family family;
    family.name = "attention";
    family.title = "Windowed rotary attention";
    family.summary = "Attention that scores each pair with one of two rotary encodings, chosen by distance.";
    family.source = "Fused RoPE Triton Implementation: Code Structure and GPU Tiling Flow";
    family.parameters = parameters();
    family.main_parameters = {"N", "window", "BLOCK_M", "BLOCK_N"};
    family.presets = {{"paper",
                       {{"Z", 1},
                        {"H", 32},
                        {"N", 8192},
                        {"D", 64},
                        {"window", 2048},
                        {"causal", true},
                        {"BLOCK_M", 128},
                        {"BLOCK_N", 64},
                        {"warps", 4},
                        {"warps_backward", 8},
                        {"dtype", "f16"}}},
                      {"decode", {{"H", 32}, {"N", 8192}, {"N_q", 1}, {"window", 2048}}},
                      {"gqa", {{"H", 32}, {"H_kv", 8}, {"N", 2048}, {"window", 512}}}};
    family.arrays = arrays();
    family.variants = variants();
    family.settle = settle;
    family.check = check;
    family.generate = attention::generate;
    family.reference = attention::reference;
    family.definition = attention::definition;
    family.rounding = rounding;
    family.tilings = tilings;
    family.main_output = "o";
    family.work = attention::work;
    family.sequence_axis = "N";
    // Queries and keys have the same positions only if there are as many of both.
    family.causal = [](const Parameters& p) {
        return p.flag("causal") && !runs_backward(p) && p.at("N_q") == p.at("N");
    };
    family.bench_cases = attention::bench_cases;
    family.sweeps = attention::sweeps;
    family.figures = attention::figures;
    family.story = attention::story();
    family.about = attention::about();
    return family;
}

}  // namespace

const Family& attention_family() {
    static const Family family = make_family();
    return family;
}

}  // namespace sawtooth
