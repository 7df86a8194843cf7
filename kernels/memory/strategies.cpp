#include "kernels/memory/strategies.h"

#include <algorithm>

#include "kernels/memory/cuda.h"

namespace sawtooth::memory {
namespace {

bool goes_with(const Strategy& strategy, const std::string& rule) {
    return std::find(strategy.rules.begin(), strategy.rules.end(), rule) != strategy.rules.end();
}

std::optional<std::string> check_rule(const Parameters& parameters, const std::string& name) {
    const std::string& rule = parameters.text("rule");
    std::string those;
    for (const Strategy& strategy : strategies()) {
        if (!goes_with(strategy, rule)) continue;
        if (strategy.name == name) return {};
        those += (those.empty() ? "" : ", ") + strategy.name;
    }
    return "rule = " + rule + ": " + name + " does not go with it; those that do are " + those;
}

// A check and a plan are plain functions and know no name of their own, so that a place in the table stands
// for the strategy.
template <size_t row>
std::optional<std::string> check_row(const Parameters& parameters, const Chip& chip) {
    const std::string& name = strategies()[row].name;
    if (auto refused = check_rule(parameters, name)) return refused;
    return chip.backend == Backend::cuda ? check_on_gpu(parameters, name, chip) : std::nullopt;
}

template <size_t row>
Plan plan_row(const PlanRequest& request) {
    return plan_fold(strategies()[row], request, 0);
}

template <size_t row>
Outcome<Plan> plan_row_on_gpu(const PlanRequest& request) {
    return plan_on_gpu(strategies()[row], request);
}

// Sizes above the length act as the length.
std::optional<std::string> check_tnt(const Parameters& parameters, const Chip& chip) {
    if (auto refused = check_row<4>(parameters, chip)) return refused;
    const int64_t length = parameters.integer("length");
    const int64_t shard = std::min(parameters.integer("C_G"), length);
    const int64_t local = std::min(parameters.integer("C_L"), length);
    if (local <= shard) return {};
    return "C_L = " + std::to_string(local) +
           ": the tokens of a local memory lie inside a shard; accepted is up to " +
           "C_G = " + std::to_string(shard);
}

Exact always(UpdateRule) { return Exact::always; }
Exact inside_locals(UpdateRule) { return Exact::inside_locals; }
// Frozen errors are no approximation where errors do not read the memory.
Exact where_nothing_is_frozen(UpdateRule rule) {
    return rule == UpdateRule::hebbian || rule == UpdateRule::atlas ? Exact::always : Exact::at_chunk_one;
}

}  // namespace

const std::vector<std::string>& rules() {
    static const std::vector<std::string> all = {"titans",      "delta",   "hebbian", "atlas",
                                                 "atlas_omega", "lattice", "trellis"};
    return all;
}

UpdateRule rule_of(const Parameters& parameters) {
    const auto found = std::find(rules().begin(), rules().end(), parameters.text("rule"));
    return static_cast<UpdateRule>(found - rules().begin());
}

bool has_rule(const Parameters& parameters, std::initializer_list<std::string_view> rules) {
    return std::any_of(rules.begin(), rules.end(),
                       [&](std::string_view rule) { return parameters.is("rule", rule); });
}

const std::vector<Strategy>& strategies() {
    static const std::vector<std::string> matrix_rules = {"titans", "delta", "hebbian", "atlas",
                                                          "atlas_omega"};
    static const std::vector<std::string> every_output = {"y", "m", "s", "sk", "sv", "boundaries"};
    static const std::vector<Strategy> all = {
        {"sequential", "One step a token, one launch a token: the sawtooth itself.", rules(), every_output,
         check_row<0>, always, forward::sequential, nullptr, plan_row<0>, plan_row_on_gpu<0>},
        {"sequential_persistent", "One step a token, all of them in one launch.", rules(), every_output,
         check_row<1>, always, forward::sequential_persistent, nullptr, plan_row<1>, plan_row_on_gpu<1>},
        {"chunkwise_gd",
         "Errors of a whole chunk against the state at its boundary, in matrix products; exact at chunk 1.",
         rules(),
         {"y", "m", "s", "sk", "sv", "boundaries", "pulse", "level_y"},
         check_row<2>,
         where_nothing_is_frozen,
         forward::chunkwise_gd,
         room::chunkwise_gd,
         plan_row<2>,
         plan_row_on_gpu<2>},
        {"associative_scan",
         "Momentum and memory by a tree scan over matrices, exact but for the errors, which are frozen at "
         "the boundary.",
         matrix_rules,
         {"y", "m", "s", "boundaries"},
         check_row<3>,
         where_nothing_is_frozen,
         forward::associative_scan,
         room::associative_scan,
         plan_row<3>,
         plan_row_on_gpu<3>},
        {"tnt",
         "Local memories of C_L tokens in parallel inside shards of C_G tokens, then one step of the global "
         "memory.",
         {"titans", "delta", "hebbian"},
         {"y", "m", "boundaries"},
         check_tnt,
         inside_locals,
         forward::tnt,
         room::tnt,
         plan_row<4>,
         plan_row_on_gpu<4>},
        {"lattice_gla",
         "Lattice's update linearised at the boundary slots, which makes it a gated linear recurrence.",
         {"lattice"},
         {"y", "m", "boundaries"},
         check_row<5>,
         where_nothing_is_frozen,
         forward::lattice_gla,
         room::lattice_gla,
         plan_row<5>,
         plan_row_on_gpu<5>},
        {"atlas_parallel",
         "All right-hand sides at once, momentum by scan, then the memory; on a GPU chunkwise_gd does the "
         "same.",
         {"atlas", "atlas_omega"},
         {"y", "m", "s", "boundaries"},
         check_row<6>,
         where_nothing_is_frozen,
         forward::atlas_parallel,
         room::atlas_parallel,
         plan_row<6>,
         plan_row_on_gpu<6>},
        {"exact_chunk",
         "The errors of a chunk by a triangular solve (WY form), exact at any chunk.",
         {"delta"},
         {"y", "m", "boundaries"},
         check_row<7>,
         always,
         forward::exact_chunk,
         room::exact_chunk,
         plan_row<7>,
         plan_row_on_gpu<7>},
    };
    return all;
}

}  // namespace sawtooth::memory
