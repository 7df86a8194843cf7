#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernels/core/launch.h"

namespace sawtooth {

using Uses = Buffers;

// The description of a launch, without the grid and the block, which plan builders fill in.
inline LaunchInfo launch_info(std::string name, std::string meaning, Uses reads, Uses writes,
                              double operations) {
    LaunchInfo info = {.name = std::move(name), .meaning = std::move(meaning)};
    info.reads = std::move(reads);
    info.writes = std::move(writes);
    info.work.operations = operations;
    return info;
}

inline LaunchInfo with_scratch(LaunchInfo info, int64_t bytes_of_worker) {
    info.scratch_bytes = bytes_of_worker;
    return info;
}

// The same, for a launch that moves other bytes than each of its arrays once.
inline LaunchInfo with_bytes(LaunchInfo info, double bytes) {
    info.work.bytes = bytes;
    return info;
}

}  // namespace sawtooth
