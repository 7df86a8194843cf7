#pragma once

#include <string>
#include <utility>
#include <vector>

#include "kernels/core/figure.h"
#include "kernels/core/result.h"

namespace sawtooth {

// The launch that a span of the timeline stands for; null if it is not in this result.
const LaunchRecord* launch_of(const Result& result, const Tracks::Track& track, const Tracks::Span& span);

// The facts about a launch, as names and values: its meaning, its grid with the formula, its block, its
// arrays with their shapes, registers, shared memory, occupancy, bytes and their rate, what limits it, and
// counters. `processors`: the SMs of the GPU; 0: not known.
std::vector<std::pair<std::string, std::string>> facts_of(const LaunchRecord& launch, int processors);

}  // namespace sawtooth
