#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernels/core/family.h"
#include "kernels/core/range.h"

namespace sawtooth::cpu {
class PlanBuilder;
}
namespace sawtooth::cuda {
class PlanBuilder;
}

namespace sawtooth::memory {

// The state that a rule keeps: a matrix M [d, d]; `slot_count` rows of d numbers; or two matrices,
// S_K [compress, d] and S_V [d, compress].
enum class State { matrix, slots, trellis };

// How a token changes the memory: one row per value of the parameter `rule`. The columns define the rule; no
// other code knows the names.
struct UpdateRule {
    std::string name;  // a value of the parameter `rule`
    State state = State::matrix;
    bool has_momentum = false;         // keeps S beside M; reads eta
    bool forgets = true;               // reads alpha
    bool has_step = true;              // reads theta
    bool reads_memory = true;          // its updates depend on the memory: on M k or the slots
    bool is_windowed = false;          // averages its errors over the last omega_window tokens
    bool reads_w_omega = false;        // its updates come from w_omega, a key and a value
    bool reads_x = false;              // compresses a further input, x
    double operations = 0;             // per token and number of the state (of one matrix if it has two)
    double operations_of_windows = 0;  // per token of the window, likewise
    // The usual chunk sizes according to Parallelization Interface, Chunk Size Selection; 0 if it names none.
    int64_t least_chunk = 0, most_chunk = 0;

    bool is(State kind) const { return state == kind; }
    bool has_second_state() const { return has_momentum || is(State::trellis); }
};

// The rules, in the order in which they are shown.
const std::vector<UpdateRule>& rules();
std::vector<std::string> names_of_rules(bool (*has)(const UpdateRule&));
// The rule that the parameter `rule` names.
const UpdateRule& rule_of(const Parameters& parameters);
// The chunk sizes that the parameter `levels` lists; empty if there are none.
std::vector<int64_t> levels_of(const Parameters& parameters);

struct Sizes;
struct Tensors;
struct CpuJob;
class Room;
using AddRange = std::function<void(cpu::PlanBuilder&, Range tokens)>;

// Where a strategy equals the sequential rule up to rounding, provided that tokens read the evolving memory.
enum class Exact { always, at_chunk_one, inside_locals, never };

// The most tokens that the CPU takes together in products of matrices: the work inside a tile, and what its
// sums round, grow with its tokens.
constexpr int64_t usual_tile = 64, solved_tile = 256;

// A strategy is a variant: one way to walk the sequence, for the rules that allow it. The columns define it;
// no other code knows the names.
struct Strategy {
    std::string name;
    std::string idea;                  // one sentence
    std::vector<std::string> rules;    // the rules that it supports
    std::vector<std::string> outputs;  // outputs of all its rules; the rule decides which are used
    // The name of the parameter that sets the number of tokens between boundaries, where errors are
    // refreshed. It is empty if the strategy walks token by token; then boundaries, stored at `chunk`, change
    // nothing.
    std::string chunk = "chunk";
    int64_t least_chunk = 0, most_chunk = 0;  // usual sizes for any rule; 0: none
    Exact exact = Exact::at_chunk_one;
    bool scans = false;       // computes the state after every token, not a matrix form
    bool linearises = false;  // linearises the update of slots, does not add up frozen terms
    bool rescales = false;    // scales the rows of S_K and S_V of trellis at every boundary

    // A CPU run folds the strategy over the sequence. This function takes the arrays of the longest range
    // from the room and returns the function that adds the launches of a range. A range is whole chunks, as
    // many as the room allows.
    AddRange (*on_cpu)(const CpuJob&, Range longest, Room&) = nullptr;
    // A GPU run adds the launches in order.
    struct OnCuda {
        void (*add_launches)(cuda::PlanBuilder&, const Tensors&) = nullptr;
        // The shared memory of its largest thread block in bytes; null if it always fits.
        int64_t (*shared_bytes)(const Sizes&) = nullptr;
        bool uses_precision = false;    // its products of matrices have the parameter `precision`
        std::vector<Preset> rare = {};  // Variant::rare_on_cuda
    } on_cuda;

    bool goes_with(const UpdateRule& rule) const;
    bool walks_by_token() const { return chunk.empty(); }
    // Where the strategy is exact for the rule. Frozen errors are exact if the rule does not read the memory;
    // rescaled rows never are.
    Exact exact_for(const UpdateRule& rule) const;
    // The number of tokens between its boundaries, at most the length.
    int64_t chunk_of(const Parameters& parameters) const;
    // True if it solves for the exact errors of a tile.
    bool solves() const { return exact == Exact::always && !walks_by_token(); }
    // The tokens of its tiles on the CPU; longer chunks are cut. The definition has the same tiles.
    int64_t most_tile() const { return solves() ? solved_tile : usual_tile; }
};

// The variants of the family, in this order.
const std::vector<Strategy>& strategies();
const Strategy& strategy_of(const Variant& variant);
const Strategy& strategy_named(const std::string& name);

// How launches follow one another, according to the parameter `launch`.
Follow follow_of(const Parameters& parameters);

// The functions that the variants of the family share.
std::optional<std::string> check(const Variant& variant, const Parameters& parameters, const Chip& chip);
bool is_exact(const Variant& variant, const Parameters& parameters);
Rounding rounding(const Variant& variant, const Parameters& parameters, Backend backend);
Outcome<Plan> plan_on_cpu(const PlanRequest& request);
Outcome<Plan> plan_on_cuda(const PlanRequest& request);
// A plan for the CPU with this many chunks in a range; 0: as many as fit the room.
Outcome<Plan> plan_fold(const PlanRequest& request, int64_t chunks_at_a_time);

}  // namespace sawtooth::memory
