#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/core/sweep.h"

namespace sawtooth {

// One of several parts of a sweep, for jobs that run at different times or on different machines.
struct Shard {
    size_t number = 1;  // 1 to `count`
    size_t count = 1;
};
constexpr size_t most_shards = 100000;

// An estimate of what each cell costs, in bytes moved and operations of its outputs, on top of a constant for
// all that does not depend on them. It is the same on every machine.
std::vector<uint64_t> costs_of_cells(const Sweep& sweep);

// The cells of a shard, in order. Every cell is in exactly one shard; the costs of all shards are about the
// same: each cell, the costliest first, goes to the shard that has the least (Graham 1969).
std::vector<size_t> cells_of_shard(const std::vector<uint64_t>& costs, const Shard& shard);

}  // namespace sawtooth
