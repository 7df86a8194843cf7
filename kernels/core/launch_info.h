#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernels/core/launch.h"

namespace sawtooth {

// The description of a launch, without the grid and the block, which plan builders fill in.
inline LaunchInfo launch_info(std::string name, std::string meaning, std::vector<ArrayUse> reads,
                              std::vector<ArrayUse> writes, double operations) {
    LaunchInfo info = {.name = std::move(name), .meaning = std::move(meaning)};
    info.reads = std::move(reads);
    info.writes = std::move(writes);
    info.work.operations = operations;
    return info;
}

}  // namespace sawtooth
