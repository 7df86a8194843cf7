#include "kernels/memory/family.h"

#include <algorithm>
#include <functional>
#include <span>

#include "kernels/core/common_parameters.h"
#include "kernels/core/integers.h"
#include "kernels/memory/parts.h"
#include "kernels/memory/strategies.h"

namespace sawtooth::memory {
namespace {

// A memory M maps keys to values; every token updates it. Titans: e = M k - v, S = eta S - theta e k^T,
// M = (1 - alpha) M + S, y = M q. Rules differ in the update, strategies in where e is computed.
const std::string interface = "Parallelization Interface";
const std::string rule_sources =
    "Titans eq. 16 to 18; Atlas eq. 15, 16, 34 to 41; TNT eq. 3 to 7, 13 to 15; Lattice eq. 15 to 17";
constexpr int64_t most_tokens = 1 << 24;

Parameter tokens(std::string name, std::string meaning, Group group, int64_t initial, Renews renews) {
    return integer_parameter(std::move(name), std::move(meaning), group, "tokens", initial, 1, most_tokens,
                             Step::powers_of_two, renews);
}

bool is_windowed(const UpdateRule& rule) { return rule.is_windowed; }
bool has_slots(const UpdateRule& rule) { return rule.is(State::slots); }
bool has_matrix(const UpdateRule& rule) { return rule.is(State::matrix); }
bool has_two_matrices(const UpdateRule& rule) { return rule.is(State::trellis); }
bool has_one_state(const UpdateRule& rule) { return !has_two_matrices(rule); }

// True if the rule sets this column of the table, or satisfies this function.
template <auto has>
bool rule_has(const Parameters& parameters) {
    return std::invoke(has, rule_of(parameters));
}

// Limits a parameter to some rules.
Parameter only_for_rules(bool (*has)(const UpdateRule&), Parameter row) {
    const std::vector<std::string> names = names_of_rules(has);
    return only_for("rule", {names.begin(), names.end()}, std::move(row));
}

std::vector<Parameter> shape_parameters() {
    return {
        titled("sequences", size_parameter("batch", "Sequences times heads, each with its own memory.",
                                           "sequences", 1, 16384)),
        titled("positions", tokens("length", "Tokens per sequence.", Group::shape, 512, Renews::inputs)),
        titled("channels", size_parameter("d", "Width of keys, values and queries; a memory is d by d.",
                                          "channels", 64, 1024)),
        cited("Lattice eq. 15 to 17",
              only_for_rules(has_slots,
                             size_parameter("slot_count", "Slots of the rule lattice.", "slots", 8, 1024))),
        only_for_rules(has_two_matrices,
                       size_parameter("compress", "Compressed slots of the rule trellis, at most d.", "slots",
                                      16, 1024)),
    };
}

std::vector<Parameter> rule_parameters() {
    using enum Group;
    const auto decay = [](const char* name, const char* title, const char* meaning) {
        return titled(title, only_for_rules(has_two_matrices, real_parameter(name, meaning, algorithm, 0.01,
                                                                             0, 10, Renews::inputs)));
    };
    return {
        cited(rule_sources, choice_parameter("rule", "How a token updates the memory.", algorithm, "delta",
                                             names_of(rules()), Renews::inputs)),
        cited("Atlas eq. 15, 16, 34 to 41",
              only_for_rules(is_windowed,
                             tokens("omega_window",
                                    "Tokens over which the rule atlas_omega averages its prediction errors.",
                                    algorithm, 8, Renews::inputs))),
        decay("lambda_k", "key_decay", "Decay of the key slots of trellis, as a multiple of theta."),
        decay("lambda_v", "value_decay", "Decay of the value slots of trellis, as a multiple of theta."),
        flag_parameter("normalise", "Divides keys and queries by their norms before use.", algorithm, true,
                       Renews::inputs),
    };
}

std::vector<Parameter> strategy_parameters() {
    using enum Group;
    Parameter levels =
        cited(interface + ", Chunk Size Selection",
              tokens("levels",
                     "Chunk sizes of levels. Each level fires a pulse at its chunks and is read at its "
                     "last boundary; needs chunkwise_gd.",
                     algorithm, 1, Renews::kernels));
    levels.type = Type::list;
    levels.initial = levels.word = "none";
    levels.step = Step::linear;
    const auto local = [](const char* name, const char* title, const char* meaning, int64_t initial) {
        return titled(title,
                      cited("TNT eq. 3 to 7, 13 to 15",
                            ends_at("length", tokens(name, meaning, tiling, initial, Renews::kernels))));
    };
    return {
        cited(interface + ", The Chunk-Wise Solution",
              ends_at("length",
                      tokens("chunk", "Tokens per chunk; only the boundaries of chunks are sequential.",
                             tiling, 64, Renews::kernels))),
        local("C_G", "global_chunk",
              "Tokens per shard of tnt; the global memory is updated after each shard.", 128),
        local("C_L", "local_chunk", "Tokens per local memory of tnt, at most C_G.", 16),
        cited(interface + ", Trait Definition",
              choice_parameter("readout",
                               "What tokens read: the approximate memory inside the chunk (evolving), or the "
                               "memory at its boundary.",
                               algorithm, "evolving", {"evolving", "boundary"}, Renews::kernels)),
        levels,
    };
}

int64_t last_drawn_boundary(const Parameters& p) {
    return ceil_divide(p.integer("length"), strategy_named(p.text("drawn_strategy")).chunk_of(p));
}

std::vector<Parameter> drawn_parameters() {
    return {
        drawn_parameter("drawn_batch", "sequence", "batch", 16383),
        drawn_parameter("drawn_channel", "channel", "d", 1023),
        choice_parameter("drawn_strategy",
                         "Variant shown beside sequential on the time axis; its memory is drawn.", Group::run,
                         "chunkwise_gd", names_of(strategies()), Renews::figures),
        ends_at({last_drawn_boundary, "the last boundary"},
                integer_parameter("drawn_boundary",
                                  "Boundary whose memory is drawn; the last one if there are fewer.",
                                  Group::run, "boundary", 1, 0, most_tokens, Step::linear, Renews::figures)),
    };
}

std::vector<Parameter> run_parameters() {
    using enum Group;
    return {
        dtype_parameter("f32", {"f32", "f16", "bf16"}),
        only_on_cuda(choice_parameter("precision", "Precision of matrix products on the GPU.", numerics,
                                      "f32", {"f32", "tf32", "bf16"}, Renews::kernels)),
        cited(interface + ", The Sawtooth Problem",
              only_on_cuda(choice_parameter("launch",
                                            "How launches follow one another on the GPU: with a wait after "
                                            "each (sync), in a stream, or in a graph.",
                                            run, "stream", {"sync", "stream", "graph", "graph_pdl"},
                                            Renews::kernels))),
    };
}

std::vector<Parameter> parameters() {
    std::vector<Parameter> all;
    for (const auto& rows :
         {shape_parameters(), rule_parameters(), strategy_parameters(), run_parameters(), drawn_parameters()})
        all.insert(all.end(), rows.begin(), rows.end());
    return all;
}

bool has_levels(const Parameters& p) { return !levels_of(p).empty(); }
int64_t level_count(const Parameters& p) { return static_cast<int64_t>(levels_of(p).size()); }

// The shape of a state: [B, d, d], or [B, slot_count, d] for the slots of lattice.
Shape state_shape(const Parameters& p, const Arrays& = {}) {
    return {p.integer("batch"), p.integer(rule_has<has_slots>(p) ? "slot_count" : "d"), p.integer("d")};
}

Shape omega_shape(const Parameters& p, const Arrays&) { return {p.integer("d"), 2 * p.integer("d")}; }

Shape shape_of_boundaries(const Parameters& p, int64_t chunk) {
    const Shape state = state_shape(p);
    return {state[0], ceil_divide(p.integer("length"), chunk) + 1, state[1], state[2]};
}

Shape boundaries_shape(const Parameters& p, const Arrays&) {
    return shape_of_boundaries(p, std::min(p.integer("chunk"), p.integer("length")));
}

// Boundaries follow the chunk parameter of the strategy.
Shape output_shape(const Variant& variant, const ArraySpec& output, const Parameters& p,
                   const Arrays& inputs) {
    return output.name == "boundaries" ? shape_of_boundaries(p, strategy_of(variant).chunk_of(p))
                                       : output.shape_for(p, inputs);
}

Shape pulse_shape(const Parameters& p, const Arrays&) { return {level_count(p), p.integer("length")}; }

Shape level_shape(const Parameters& p, const Arrays&) {
    return {p.integer("batch"), level_count(p), p.integer("length"), p.integer("d")};
}

// An output that kernels keep in f32.
ArraySpec state_row(std::string name, std::string meaning, std::vector<std::string> dimensions,
                    bool (*used)(const Parameters&),
                    Shape (*shape)(const Parameters&, const Arrays&) = nullptr) {
    ArraySpec row =
        array_row(Role::output, std::move(name), std::move(meaning), std::move(dimensions), used, shape);
    row.rounded = false;
    return row;
}

std::vector<ArraySpec> arrays() {
    using enum Role;
    using Dimensions = std::vector<std::string>;
    const Dimensions vectors = {"batch", "length", "d"}, gates = {"batch", "length"};
    const Dimensions matrix = {"batch", "d", "d"}, keys = {"batch", "compress", "d"},
                     values = {"batch", "d", "compress"};
    const std::string state = "d (lattice: slot_count)";
    ArraySpec windows =
        array_row(optional, "omega_windows",
                  "Window of each token, in tokens; omega_window for all if absent. Given "
                  "windows set omega_window to the largest of them, and operations are counted for it.",
                  gates, rule_has<is_windowed>);
    windows.dtype = Dtype::int32;
    windows.rounded = false;
    ArraySpec boundaries =
        state_row("boundaries",
                  "Memory, or slots of lattice, before each chunk and after the last; tnt: one per shard.",
                  {"batch", "chunks + 1", state, "d"}, rule_has<has_one_state>, boundaries_shape);
    boundaries.extra = true;
    ArraySpec pulse = array_row(output, "pulse", "1 where a level fires.", {"number of levels", "length"},
                                has_levels, pulse_shape);
    pulse.dtype = Dtype::int32;
    return {
        array_row(input, "k", "Keys.", vectors),
        array_row(input, "v", "Values.", vectors),
        array_row(input, "q", "Queries.", vectors),
        array_row(input, "alpha", "How much each token forgets.", gates, rule_has<&UpdateRule::forgets>),
        array_row(input, "eta", "How much momentum each token keeps.", gates,
                  rule_has<&UpdateRule::has_momentum>),
        array_row(input, "theta", "The step each token takes.", gates, rule_has<&UpdateRule::has_step>),
        array_row(input, "w_omega", "Matrix that maps key and value to the right-hand side of atlas.",
                  {"d", "2 d"}, rule_has<&UpdateRule::reads_w_omega>, omega_shape),
        array_row(input, "slots", "Slots before the first token; normalised before use.",
                  {"batch", "slot_count", "d"}, rule_has<has_slots>),
        array_row(input, "x", "Input that trellis compresses.", vectors, rule_has<&UpdateRule::reads_x>),
        std::move(windows),
        array_row(optional, "m0", "Memory before the first token; zeros if absent.", matrix,
                  rule_has<has_matrix>),
        array_row(optional, "s0", "Momentum before the first token; zeros if absent.", matrix,
                  rule_has<&UpdateRule::has_momentum>),
        array_row(optional, "sk0", "Key slots of trellis before the first token; zeros if absent.", keys,
                  rule_has<has_two_matrices>),
        array_row(optional, "sv0", "Value slots of trellis before the first token; zeros if absent.", values,
                  rule_has<has_two_matrices>),
        array_row(output, "y", "Output of each token.", vectors),
        state_row("m", "Memory, or slots of lattice, after the last token.", {"batch", state, "d"},
                  rule_has<has_one_state>, state_shape),
        state_row("s", "Momentum after the last token.", matrix, rule_has<&UpdateRule::has_momentum>),
        state_row("sk", "Key slots of trellis after the last token.", keys, rule_has<has_two_matrices>),
        state_row("sv", "Value slots of trellis after the last token.", values, rule_has<has_two_matrices>),
        std::move(boundaries),
        std::move(pulse),
        array_row(output, "level_y", "Output of each token from each level at its last boundary.",
                  {"batch", "number of levels", "length", "d"}, has_levels, level_shape),
    };
}

std::vector<Variant> variants() {
    std::vector<Variant> all = variants_of(strategies(), {.check = check,
                                                          .exact = is_exact,
                                                          .plan_cpu = plan_on_cpu,
                                                          .plan_cuda = plan_on_cuda,
                                                          .shape = output_shape});
    for (Variant& variant : all) {
        variant.outputs = strategy_of(variant).outputs;
        variant.rare_on_cuda = strategy_of(variant).on_cuda.rare;
        variant.definition = strategy_of(variant).walks_by_token() ? "sequential" : variant.name;
    }
    return all;
}

// y is cut along the sequence into the chunks of the strategy, and these into the local memories of tnt, or
// on the CPU into tiles.
std::vector<Tiling> tilings(const Variant& variant, const std::string& output, const Parameters& parameters,
                            Backend backend) {
    const Strategy& strategy = strategy_of(variant);
    if (output != "y" || strategy.walks_by_token()) return {};
    const int64_t length = parameters.integer("length"), chunk = strategy.chunk_of(parameters),
                  tile = strategy.most_tile();
    std::vector<Tiling> tilings = {{"length", strategy.chunk, chunk}};
    if (strategy.exact == Exact::inside_locals)
        tilings.push_back({"length", "C_L", std::min(parameters.integer("C_L"), length)});
    else if (backend == Backend::cpu && !strategy.scans && chunk > tile &&
             (chunk == length || chunk % tile == 0))
        tilings.push_back({"length", "tile", tile});
    return tilings;
}

std::optional<Refusal> check_compress(const Parameters& parameters) {
    const int64_t width = parameters.integer("d");
    if (rule_has<has_two_matrices>(parameters) && parameters.integer("compress") > width)
        return Refusal{
            "compress", to_text(parameters.at("compress")),
            "must be up to d = " + std::to_string(width) + ": slots hold the first numbers of a key"};
    return {};
}

// The windows of tokens that the rule uses; empty if they are not given.
std::span<const int32_t> windows_in(const Parameters& parameters, const Arrays& given) {
    const Array* const windows = find(given, "omega_windows");
    const bool is_usable = windows && windows->data && windows->dtype == Dtype::int32;
    if (!is_usable || !rule_has<is_windowed>(parameters)) return {};
    return windows->as<int32_t>();
}

// Kernels keep as many tokens as the longest window has.
void settle(Parameters& parameters, const Arrays& given, Backend) {
    const auto sizes = windows_in(parameters, given);
    if (sizes.empty()) return;
    const int64_t longest = *std::ranges::max_element(sizes);
    parameters.set("omega_window", std::clamp<int64_t>(longest, 1, most_tokens));
}

std::optional<Refusal> check_windows(const Parameters& parameters, const Arrays& given) {
    const int64_t longest = parameters.integer("omega_window"), length = parameters.integer("length");
    const auto sizes = windows_in(parameters, given);
    const auto wrong = std::ranges::find_if(sizes, [&](int32_t size) { return size < 1 || size > longest; });
    if (wrong == sizes.end()) return {};
    const int64_t at = wrong - sizes.begin();
    return Refusal{"omega_windows[" + std::to_string(at / length) + ", " + std::to_string(at % length) + "]",
                   std::to_string(*wrong), "must be 1 to " + std::to_string(most_tokens) + " tokens"};
}

Family make_family() {
    Family family;
    family.name = "memory";
    family.title = "Memory rules and chunks";
    family.summary =
        "A memory that every token updates, computed token by token, in chunks, by scans and in shards.";
    family.source = interface + "; " + rule_sources;
    family.parameters = parameters();
    family.main_parameters = {"rule", "chunk", "length", "d"};
    family.presets = {{"paper",
                       {{"batch", 16},
                        {"length", 4096},
                        {"d", 64},
                        {"rule", "titans"},
                        {"chunk", 64},
                        {"C_G", 512},
                        {"C_L", 64}}}};
    family.arrays = arrays();
    family.variants = variants();
    family.settle = settle;
    family.check = check_compress;
    family.check_inputs = check_windows;
    family.generate = generate;
    family.reference = reference;
    family.kernel_reference = reference_at_chunks;
    family.definition = definition;
    family.rounding = rounding;
    family.definition_reads = {"chunk", "C_G", "C_L", "readout", "levels"};
    family.tilings = tilings;
    family.main_output = "y";
    family.work = work;
    family.sequence_axis = "length";
    family.causal = [](const Parameters&) { return true; };
    family.diverges = [](const Parameters& parameters) {
        return !rule_of(parameters).is(State::matrix);  // the norms of slots
    };
    family.bench_cases = bench_cases;
    family.sweeps = sweeps;
    family.figures = figures;
    family.story = story();
    family.about = about();
    return family;
}

}  // namespace
}  // namespace sawtooth::memory

const sawtooth::Family& sawtooth::memory_family() {
    static const Family family = memory::make_family();
    return family;
}
