#pragma once

#include <memory>

#include "kernels/core/launch.h"
#include "kernels/cpu/pool.h"
#include "kernels/memory/job.h"

namespace sawtooth::memory {

// A launch in words; the grid is its items.
std::shared_ptr<const LaunchInfo> describe(std::string name, std::string meaning, int64_t items,
                                           std::string formula, std::vector<ArrayUse> reads,
                                           std::vector<ArrayUse> writes, Work work);

// One dispatch of `info->grid.x` items. A dry plan has no launches.
void add_launch(Plan& plan, std::shared_ptr<const LaunchInfo> info,
                std::function<void(const cpu::Item&)> work);

// Arrays that the tokens of a job bring, and what they leave.
std::vector<ArrayUse> tokens_read(const Job& job, int64_t tokens);
std::vector<ArrayUse> tokens_written(const Job& job, int64_t tokens);

// What the exact rule costs: operations of one token of all sequences, and bytes of what it brings and
// leaves.
double operations_a_token(const Job& job);
double bytes_a_token(const Job& job);

}  // namespace sawtooth::memory
