#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/core/family.h"
#include "kernels/memory/rules.h"
#include "kernels/memory/tiling.h"

namespace sawtooth::cpu {
class PlanBuilder;
}
namespace sawtooth::cuda {
class PlanBuilder;
}

namespace sawtooth::memory {

struct Job;
struct CpuJob;

// Where a strategy gives what the sequential rule gives, up to rounding, when tokens are read at the evolving
// memory.
enum class Exact { always, at_chunk_one, inside_locals };

// A strategy is a variant: one way to walk the sequence, for the rules that allow it. What a strategy is
// stands in its columns; no other code knows the names.
struct Strategy {
    std::string name;
    std::string idea;                  // one sentence
    std::vector<std::string> rules;    // those that it goes with
    std::vector<std::string> outputs;  // those of any of its rules; the rule says which are used
    // The parameter that says after how many tokens a boundary comes, from which on errors are taken anew;
    // "": it walks token by token, and its boundaries at `chunk` change nothing.
    std::string chunk = "";
    int64_t least_chunk = 0,
            most_chunk = 0;  // that its source calls usual, whatever the rule; 0: it names none
    Exact exact = Exact::at_chunk_one;

    // On the CPU a run is the strategy's fold over the sequence: chunk_forward takes the job's state over
    // these tokens, whole chunks, as many at a time as the room allows, and stores what they read.
    void (*chunk_forward)(cpu::PlanBuilder&, const CpuJob&, Range tokens, float* room) = nullptr;
    // How many numbers it wants as `room` for so many tokens; null: none.
    int64_t (*room)(const CpuJob&, Range tokens) = nullptr;

    // On a GPU it adds its launches, in order. What a chip cannot do of it, in words; null: it can do all
    // that any strategy can.
    void (*cuda)(cuda::PlanBuilder&, const Job&) = nullptr;
    std::optional<std::string> (*cuda_check)(const Job&, const Chip&) = nullptr;

    bool goes_with(const UpdateRule& rule) const;
    bool walks_by_token() const { return chunk.empty(); }
    // Where it is exact for that rule: frozen errors are no approximation where none reads the memory.
    Exact exact_for(const UpdateRule& rule) const;
    // Tokens between its boundaries, as far as there are any.
    int64_t chunk_of(const Parameters& parameters) const;
};

// The family's variants are its rows, in this order.
const std::vector<Strategy>& strategies();
const Strategy& strategy_of(const Variant& variant);
const Strategy& strategy_named(const std::string& name);

// What a Variant of the family is made of.
std::optional<std::string> check(const Variant& variant, const Parameters& parameters, const Chip& chip);
bool is_exact(const Variant& variant, const Parameters& parameters);
Outcome<Plan> plan_on_cpu(const PlanRequest& request);
Outcome<Plan> plan_on_cuda(const PlanRequest& request);
// chunk_forward is given that many chunks at a time; 0: as many as fit the room.
Outcome<Plan> plan_fold(const PlanRequest& request, int64_t chunks_at_a_time);

}  // namespace sawtooth::memory
