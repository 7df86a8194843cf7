#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/core/family.h"

namespace sawtooth::cpu {
class PlanBuilder;
}
namespace sawtooth::cuda {
class PlanBuilder;
}

namespace sawtooth::memory {

// What a rule keeps from token to token: a matrix M [d, d]; `slot_count` rows of d numbers; or two matrices,
// S_K [compress, d] and S_V [d, compress].
enum class State { matrix, slots, trellis };

// How a token changes the memory: one row for each value of the parameter `rule`. What a rule is stands in
// its columns; no other code knows the names.
struct UpdateRule {
    std::string name;  // also in device text
    State state = State::matrix;
    bool has_momentum = false;         // keeps S beside M; reads eta
    bool forgets = true;               // reads alpha
    bool has_step = true;              // reads theta
    bool reads_memory = true;          // what it adds depends on the memory: on M k, or on its slots
    bool is_windowed = false;          // averages its errors over the last omega_window tokens
    bool reads_w_omega = false;        // what it adds comes from w_omega, a key and a value
    bool reads_x = false;              // compresses another input, x
    double operations = 0;             // of a token, for each number of its state (of one matrix of two)
    double operations_of_windows = 0;  // the same, for each token of its window
    // Tokens of a chunk that its source calls usual; 0: it names none.
    int64_t least_chunk = 0, most_chunk = 0;

    bool is(State kind) const { return state == kind; }
    bool has_second_state() const { return has_momentum || is(State::trellis); }
};

// In the order in which they are shown.
const std::vector<UpdateRule>& rules();
std::vector<std::string> names_of_rules(bool (*has)(const UpdateRule&));
// That of the parameter `rule`.
const UpdateRule& rule_of(const Parameters& parameters);
// Those of the parameter `levels`; empty where it is none.
std::vector<int64_t> levels_of(const Parameters& parameters);

struct Job;
struct CpuJob;
struct Range;

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
    std::string chunk = "chunk";
    int64_t least_chunk = 0, most_chunk = 0;  // usual ones, whatever the rule; 0: its source names none
    Exact exact = Exact::at_chunk_one;

    // On the CPU a run is the strategy's fold over the sequence: chunk_forward takes the job's state over
    // these tokens, whole chunks, as many at a time as the room allows, and stores what they read.
    struct OnCpu {
        void (*chunk_forward)(cpu::PlanBuilder&, const CpuJob&, Range tokens, float* room) = nullptr;
        int64_t (*room)(const CpuJob&, Range tokens) = nullptr;  // numbers that it wants of it; null: none
    } on_cpu;
    // On a GPU it adds its launches, in order.
    struct OnCuda {
        void (*add_launches)(cuda::PlanBuilder&, const Job&) = nullptr;
        int64_t (*shared_bytes)(const Job&) = nullptr;  // of the largest thread block; null: fits anywhere
    } on_cuda;

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

// That of the parameter `launch`.
Follow follow_of(const Parameters& parameters);

// What a Variant of the family is made of.
std::optional<std::string> check(const Variant& variant, const Parameters& parameters, const Chip& chip);
bool is_exact(const Variant& variant, const Parameters& parameters);
Outcome<Plan> plan_on_cpu(const PlanRequest& request);
Outcome<Plan> plan_on_cuda(const PlanRequest& request);
// chunk_forward is given that many chunks at a time; 0: as many as fit the room.
Outcome<Plan> plan_fold(const PlanRequest& request, int64_t chunks_at_a_time);

}  // namespace sawtooth::memory
