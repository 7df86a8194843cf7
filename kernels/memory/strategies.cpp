// The two tables of the family, rules and strategies, and the functions of their rows.

#include "kernels/memory/strategies.h"

#include <algorithm>

#include "kernels/core/common_parameters.h"
#include "kernels/memory/cpu/job.h"
#include "kernels/memory/cuda/strategies.h"

namespace sawtooth::memory {

// A product with a matrix takes 2 operations per number, an update with decay 3, momentum 2 more.
const std::vector<UpdateRule>& rules() {
    static const std::vector<UpdateRule> all = {
        {.name = "titans", .has_momentum = true, .operations = 9, .least_chunk = 64, .most_chunk = 512},
        {.name = "delta", .operations = 7},
        {.name = "hebbian", .has_step = false, .reads_memory = false, .operations = 5},
        {.name = "atlas",
         .has_momentum = true,
         .reads_memory = false,
         .reads_w_omega = true,
         .operations = 11},
        {.name = "atlas_omega",
         .has_momentum = true,
         .is_windowed = true,
         .operations = 5,
         .operations_of_windows = 4},
        {.name = "lattice",
         .state = State::slots,
         .forgets = false,
         .has_step = false,
         .operations = 13,
         .least_chunk = 16,
         .most_chunk = 256},
        {.name = "trellis", .state = State::trellis, .reads_x = true, .operations = 16},
    };
    return all;
}

std::vector<std::string> names_of_rules(bool (*has)(const UpdateRule&)) {
    std::vector<std::string> names;
    for (const UpdateRule& rule : rules())
        if (has(rule)) names.push_back(rule.name);
    return names;
}

const UpdateRule& rule_of(const Parameters& parameters) {
    const std::string& name = parameters.text("rule");
    return *std::find_if(rules().begin(), rules().end(),
                         [&](const UpdateRule& rule) { return rule.name == name; });
}

std::vector<int64_t> levels_of(const Parameters& parameters) {
    const auto* const levels = std::get_if<std::vector<int64_t>>(&parameters.at("levels"));
    return levels ? *levels : std::vector<int64_t>{};
}

namespace {

std::vector<Strategy> make_strategies() {
    const auto every_rule = names_of_rules([](const UpdateRule&) { return true; });
    const auto matrix_rules = names_of_rules([](const UpdateRule& rule) { return rule.is(State::matrix); });
    const std::vector<std::string> every_output = {"y", "m", "s", "sk", "sv", "boundaries"};
    return {
        {.name = "sequential",
         .idea = "One step per token and one launch per token: the sawtooth itself.",
         .rules = every_rule,
         .outputs = every_output,
         .chunk = "",
         .exact = Exact::always,
         .on_cpu = on_cpu::sequential,
         .on_cuda = {add_sequential, shared_bytes::sequential}},
        {.name = "sequential_persistent",
         .idea = "One step per token, all in one launch.",
         .rules = every_rule,
         .outputs = every_output,
         .chunk = "",
         .exact = Exact::always,
         .on_cpu = on_cpu::sequential_persistent,
         .on_cuda = {add_sequential_persistent, shared_bytes::sequential_persistent}},
        {.name = "chunkwise_gd",
         .idea =
             "Matrix products with all prediction errors of a chunk taken at its start; exact with chunk 1.",
         .rules = every_rule,
         .outputs = {"y", "m", "s", "sk", "sv", "boundaries", "pulse", "level_y"},
         .on_cpu = on_cpu::chunkwise_gd,
         .on_cuda = {add_chunkwise_gd, shared_bytes::frozen, true}},
        {.name = "associative_scan",
         .idea = "A tree scan over matrices for momentum and memory; only prediction errors are approximate: "
                 "those "
                 "of a chunk are taken at its start.",
         .rules = matrix_rules,
         .outputs = {"y", "m", "s", "boundaries"},
         .scans = true,
         .on_cpu = on_cpu::associative_scan,
         .on_cuda = {add_associative_scan, shared_bytes::associative_scan}},
        {.name = "tnt",
         .idea =
             "Local memories of C_L tokens, where windows begin, run in parallel inside shards of C_G "
             "tokens; "
             "then the global memory takes one step, or for lattice and trellis the slots of the last local "
             "memory.",
         .rules = every_rule,
         .outputs = {"y", "m", "sk", "sv", "boundaries"},
         .chunk = "C_G",
         .least_chunk = 128,
         .most_chunk = 2048,
         .exact = Exact::inside_locals,
         .on_cpu = on_cpu::tnt,
         .on_cuda = {add_tnt, shared_bytes::tnt}},
        {.name = "lattice_gla",
         .idea = "The update of lattice linearised at the boundary slots, which makes it a gated linear "
                 "recurrence; for trellis chunkwise_gd with rows scaled to norms sqrt(d) and sqrt(compress) "
                 "at every boundary.",
         .rules = {"lattice", "trellis"},
         .outputs = {"y", "m", "sk", "sv", "boundaries"},
         .linearises = true,
         .rescales = true,
         .on_cpu = on_cpu::lattice_gla,
         .on_cuda = {add_lattice_gla, shared_bytes::frozen, true}},
        {.name = "atlas_parallel",
         .idea = "All right-hand sides at once, a scan for momentum, then the memory; on a GPU the same as "
                 "chunkwise_gd.",
         .rules = {"atlas", "atlas_omega"},
         .outputs = {"y", "m", "s", "boundaries"},
         .on_cpu = on_cpu::atlas_parallel,
         .on_cuda = {.add_launches = add_chunkwise_gd, .uses_precision = true}},
        {.name = "exact_chunk",
         .idea = "Solves a triangular system for the prediction errors of a chunk (WY form); exact with any "
                 "chunk.",
         .rules = {"delta"},
         .outputs = {"y", "m", "boundaries"},
         .exact = Exact::always,
         .on_cpu = on_cpu::exact_chunk,
         .on_cuda = {.add_launches = add_exact_chunk,
                     .uses_precision = true,
                     .rare = {{"chain_fused.cu",
                               {{"batch", int64_t{64}},
                                {"d", int64_t{64}},
                                {"chunk", int64_t{64}},
                                {"readout", "evolving"},
                                {"dtype", "bf16"},
                                {"precision", "bf16"}}}}}},
    };
}

std::optional<std::string> check_rule(const Strategy& strategy, const UpdateRule& rule) {
    if (strategy.goes_with(rule)) return {};
    return "needs rule " + alternatives({strategy.rules.begin(), strategy.rules.end()});
}

// Local memories lie inside a chunk. Sizes above the length act like the length.
std::optional<std::string> check_locals(const Strategy& strategy, const Sizes& sizes) {
    if (strategy.exact != Exact::inside_locals || sizes.local_tokens <= sizes.chunk) return {};
    return "C_L = " + std::to_string(sizes.local_tokens) + ": a local memory must fit in a shard, up to " +
           strategy.chunk + " = " + std::to_string(sizes.chunk);
}

}  // namespace

const std::vector<Strategy>& strategies() {
    static const std::vector<Strategy> all = make_strategies();
    return all;
}

const Strategy& strategy_of(const Variant& variant) { return strategies()[variant.row]; }

const Strategy& strategy_named(const std::string& name) {
    return *std::find_if(strategies().begin(), strategies().end(),
                         [&](const Strategy& strategy) { return strategy.name == name; });
}

bool Strategy::goes_with(const UpdateRule& rule) const {
    return std::find(rules.begin(), rules.end(), rule.name) != rules.end();
}

Exact Strategy::exact_for(const UpdateRule& rule) const {
    if (rescales && rule.is(State::trellis)) return Exact::never;
    return exact == Exact::at_chunk_one && !rule.reads_memory ? Exact::always : exact;
}

int64_t Strategy::chunk_of(const Parameters& parameters) const {
    return std::min(parameters.integer(walks_by_token() ? "chunk" : chunk), parameters.integer("length"));
}

std::optional<std::string> check(const Variant& variant, const Parameters& parameters, const Chip& chip) {
    const Strategy& strategy = strategy_of(variant);
    const Sizes sizes(parameters, strategy);
    if (auto refused = check_rule(strategy, *sizes.rule)) return refused;
    if (auto refused = check_locals(strategy, sizes)) return refused;
    if (chip.backend != Backend::cuda) return {};
    if (auto refused = check_on_cuda(parameters, chip)) return refused;
    const auto shared_bytes = strategy.on_cuda.shared_bytes;
    return shared_bytes ? check_shared_bytes(sizes, shared_bytes(sizes), chip) : std::nullopt;
}

// Levels and their reference both read at a boundary: only frozen errors make them differ.
bool is_exact(const Variant& variant, const Parameters& parameters) {
    const Strategy& strategy = strategy_of(variant);
    const Sizes sizes(parameters, strategy);
    const Exact exact = strategy.exact_for(*sizes.rule);
    if (strategy.walks_by_token()) return true;
    if (sizes.reads_boundary || exact == Exact::inside_locals || exact == Exact::never) return false;
    if (exact == Exact::always) return true;
    const std::vector<int64_t> levels = levels_of(parameters);
    const auto is_one = [&](int64_t chunk) { return std::min(chunk, sizes.length) == 1; };
    return is_one(sizes.chunk) && std::all_of(levels.begin(), levels.end(), is_one);
}

// Only tensor cores round the factors of products. With bf16, keys, values, errors and the states of tiles
// are also stored in bf16 between launches.
Rounding rounding(const Variant& variant, const Parameters& parameters, Backend backend) {
    Rounding rounding;
    if (backend != Backend::cuda || !strategy_of(variant).on_cuda.uses_precision) return rounding;
    if (parameters.is("precision", "tf32")) rounding.narrow = 0x1p-11;
    if (parameters.is("precision", "bf16")) {
        rounding.narrow = rounding.stored = unit_of(Storage::bf16);
        rounding.largest = largest_of(Storage::bf16);
    }
    return rounding;
}

}  // namespace sawtooth::memory
