#pragma once

#include <string>
#include <vector>

#include "kernels/core/launch.h"
#include "kernels/memory/job.h"
#include "kernels/memory/tiling.h"

// Every launch in words, once for both backends: name, meaning, arrays, bytes and operations. Builders add
// grid, block and resources.
namespace sawtooth::memory::describe {

// Arrays that tokens bring: k, v, q, x, the gates and w_omega, as far as the rule reads them.
std::vector<ArrayUse> inputs_of(const Job& job, int64_t tokens);

// All rules, token by token: "token" where a launch has one, else "tokens".
LaunchInfo tokens(const Job& job, int64_t tokens);

// A range of a chain's tokens in tiles. Four launches for it, or three where tokens cannot be added before
// the memory is known.
struct TiledRange {
    const Job& job;
    const Chain& chain;
    Tiling tiling;
    int64_t element_bytes = 4;  // of a key, value, error or state between launches
};
LaunchInfo prepare(const TiledRange& range);     // keys, values and gates of every tile
LaunchInfo solve(const TiledRange& range);       // the same, of the chunk's exact errors
LaunchInfo walk(const TiledRange& range);        // errors and states from boundary to boundary
LaunchInfo sum_tiles(const TiledRange& range);   // where no error reads the memory: what every tile adds,
LaunchInfo scan_tiles(const TiledRange& range);  // and the states that these sums make
// What tokens read of the chain, and what of.
struct Reading {
    std::string suffix = "";    // of the launch's name
    std::string queries = "q";  // an input, or what a launch before wrote
    std::string result = "";    // what it writes
    bool at_boundary = false;   // of the chunk's boundary memory instead of the evolving one
};
LaunchInfo read(const TiledRange& range, const Reading& reading);

// `brings`: what the launch reads of the tokens, inputs_of or what a `prepare` before it wrote.
LaunchInfo tree(const Job& job, Range range, std::vector<ArrayUse> brings);

// A shard of tnt.
LaunchInfo locals(const Job& job, Range shard);
LaunchInfo global_step(const Job& job, Range shard);

// Slots of lattice, frozen at the boundaries of chunks; `brings` as for tree.
LaunchInfo walk_slots(const Job& job, const Tiling& tiling, std::vector<ArrayUse> brings);
LaunchInfo read_slots(const Job& job, const Tiling& tiling, std::vector<ArrayUse> brings);

// Where a level fires.
LaunchInfo pulse(int64_t length);

}  // namespace sawtooth::memory::describe
