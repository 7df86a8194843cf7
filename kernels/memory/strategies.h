#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/core/family.h"
#include "kernels/memory/job.h"
#include "kernels/memory/tiles.h"

namespace sawtooth::memory {

// Where a strategy gives what the sequential rule gives, up to rounding, when tokens are read at the evolving
// memory.
enum class Exact { always, at_chunk_one, inside_locals };

// A strategy is a variant: one way to walk the sequence, for the rules that allow it. A run is its fold:
// chunk_forward over the chunks of the sequence, as many at a time as the room allows.
struct Strategy {
    std::string name;
    std::string idea;                  // one sentence
    std::vector<std::string> rules;    // those that it goes with
    std::vector<std::string> outputs;  // those of any of its rules; the rule says which are used
    std::optional<std::string> (*check)(const Parameters&, const Chip&);
    Exact (*exact)(UpdateRule);
    // Adds the launches that take the job's state over these tokens, whole chunks of the pulse, and that
    // store what the tokens read.
    void (*chunk_forward)(Plan&, const Job& state, Range tokens, Pulse pulse, float* room);
    // How many floats it wants as `room` for so many tokens; null: none.
    int64_t (*room_for)(const Job&, Range tokens, Pulse pulse);
    Plan (*plan_cpu)(const PlanRequest&);
    Outcome<Plan> (*plan_cuda)(const PlanRequest&);
};

const std::vector<Strategy>& strategies();

// The rules in the order in which they are shown.
const std::vector<std::string>& rules();
bool has_rule(const Parameters& parameters, std::initializer_list<std::string_view> rules);
UpdateRule rule_of(const Parameters& parameters);

// The plan of a strategy on the CPU: its fold over the sequence, then that of every level where it gives
// levels. `chunks_a_call`: how many chunks chunk_forward is given at a time; 0: as many as fit the room.
Plan plan_fold(const Strategy& strategy, const PlanRequest& request, int64_t chunks_a_call);

// The plan of a strategy on a GPU.
Outcome<Plan> plan_on_gpu(const Strategy& strategy, const PlanRequest& request);

// What parameters alone say of a job: rule and sizes, no memory.
Job sizes_of(const Parameters& parameters);

// Every how many tokens the strategy has a boundary, as far as there are tokens: `chunk`, of tnt `C_G`.
int64_t chunk_of(const Parameters& parameters, std::string_view strategy);

// One file each: what the strategies above are made of.
namespace forward {
void sequential(Plan&, const Job&, Range, Pulse, float*);
void sequential_persistent(Plan&, const Job&, Range, Pulse, float*);
void chunkwise_gd(Plan&, const Job&, Range, Pulse, float*);
void associative_scan(Plan&, const Job&, Range, Pulse, float*);
void tnt(Plan&, const Job&, Range, Pulse, float*);
void lattice_gla(Plan&, const Job&, Range, Pulse, float*);
void atlas_parallel(Plan&, const Job&, Range, Pulse, float*);
void exact_chunk(Plan&, const Job&, Range, Pulse, float*);
}  // namespace forward
namespace room {
int64_t chunkwise_gd(const Job&, Range, Pulse);
int64_t associative_scan(const Job&, Range, Pulse);
int64_t tnt(const Job&, Range, Pulse);
int64_t lattice_gla(const Job&, Range, Pulse);
int64_t atlas_parallel(const Job&, Range, Pulse);
int64_t exact_chunk(const Job&, Range, Pulse);
}  // namespace room

}  // namespace sawtooth::memory
