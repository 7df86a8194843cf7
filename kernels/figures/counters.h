#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/core/result.h"

namespace sawtooth {

// What the counter of a GPU tells about.
enum class CounterSection { memory, compute, latency };
std::string_view name_of(CounterSection section);

struct Counter {
    const char* metric;  // its name in CUPTI and Nsight Compute
    const char* key;     // its name in results, with the unit
    CounterSection section;
    const char* meaning;
};
// The counters that are read, by section; those that a chip does not have are left out.
const std::vector<Counter>& counters();
const Counter* find_counter(std::string_view key);  // null: there is none

// The counter of achieved occupancy: resident warps as a share of the maximum.
constexpr const char* warps_active_percent = "warps active (%)";

// What limits a launch, judged like Nsight Compute's "GPU Speed of Light": a part of the chip that is busy
// for most of the time limits it; otherwise the launch is too small to fill the chip, or its warps wait for
// one another.
struct LaunchLimit {
    enum class By { memory, compute, latency, launch };
    By by = By::latency;
    std::string words;  // a sentence with the numbers that say so
};
std::string_view name_of(LaunchLimit::By by);
// Absent if the counters of the launch were not read. `processors`: the SMs of the GPU; 0: not known.
std::optional<LaunchLimit> limit_of(const LaunchRecord& launch, int processors);

}  // namespace sawtooth
