#pragma once

#include <string>
#include <vector>

#include "kernels/core/launch.h"
#include "kernels/memory/job.h"

// Descriptions of all launches, shared by both backends: name, meaning, arrays and operations. Builders add
// the grid and the bytes of the arrays.
namespace sawtooth::memory::describe {

// Input arrays of tokens: those of k, v, q, x, the gates and w_omega that the rule reads.
std::vector<Buffer> inputs_of(const Job& job, int64_t tokens);
std::vector<Buffer> gates_of(const Job& job, int64_t tokens);  // only alpha, eta and theta

// All rules, token by token: "token" if a launch has one token, otherwise "tokens".
LaunchInfo tokens(const Job& job, int64_t tokens);

// A range of a chain's tokens in tiles: four launches, or three if the updates depend on the memory.
struct TiledRange {
    const Job& job;
    const Chain& chain;
    Tiling tiling;
    int64_t element_bytes = 4;  // of a key, value, error or state between launches
};
LaunchInfo prepare(const TiledRange& range);     // keys, values and gates of every tile
LaunchInfo solve(const TiledRange& range);       // the same with the exact errors of the chunk
LaunchInfo walk(const TiledRange& range);        // errors and states from boundary to boundary
LaunchInfo sum_tiles(const TiledRange& range);   // if no error reads the memory: the sum of every tile
LaunchInfo scan_tiles(const TiledRange& range);  // and the states from these sums
// How tokens read the chain.
struct Reading {
    std::string suffix = "";    // of the launch name
    std::string queries = "q";  // an input, or written by an earlier launch
    std::string result = "";    // its output
    bool at_boundary = false;   // reads the boundary of the chunk instead of the evolving memory
};
LaunchInfo read(const TiledRange& range, const Reading& reading);

// `brings`: the token arrays that the launch reads, from inputs_of or written by an earlier `prepare`.
LaunchInfo tree(const Job& job, Range range, std::vector<Buffer> brings);

// A shard of tnt.
LaunchInfo locals(const Job& job, Range shard);
LaunchInfo global_step(const Job& job, Range shard);

// Slots of lattice, frozen at the boundaries of chunks; `brings` as in tree.
LaunchInfo walk_slots(const Job& job, const Tiling& tiling, std::vector<Buffer> brings);
LaunchInfo read_slots(const Job& job, const Tiling& tiling, std::vector<Buffer> brings);

// The pulse of a level.
LaunchInfo pulse(int64_t length);

}  // namespace sawtooth::memory::describe
