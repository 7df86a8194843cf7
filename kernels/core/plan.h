#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/core/array.h"
#include "kernels/core/launch.h"
#include "kernels/core/refusal.h"

namespace sawtooth {

// How the launches of a plan follow one another on a GPU. On the CPU the host always waits for each.
enum class Follow {
    stream,              // the host runs ahead
    wait,                // the host waits for each launch before it starts the next
    graph,               // launches are recorded once and started together
    graph_programmatic,  // the same, and each launch may start before the previous one ends
};

// A kernel of a .cu file and the macros that it is compiled with.
struct PlannedKernel {
    std::string file, entry;
    std::vector<std::pair<std::string, std::string>> defines;

    bool operator==(const PlannedKernel&) const = default;
};

// The plan of a variant for a Request: memory and launches in order. Variants never time themselves.
struct Plan {
    bool dry = false;  // only counts bytes; nothing is allocated, launches never run
    std::vector<std::shared_ptr<const void>> memory;  // keeps the memory of the launches alive
    std::vector<std::span<std::byte>> buffers;        // its part in host memory, to flush from caches
    std::vector<PlannedKernel> kernels;               // in a dry plan on CUDA, each kernel once
    int64_t memory_bytes = 0;                         // on the backend of the launches
    int64_t launch_bytes = 0;                         // host memory of the launches themselves
    // Restores, before every repeat and untimed, what a run destroys; may be empty.
    std::function<void(Queue&)> reset;
    std::vector<Launch> launches;
    Follow follow = Follow::stream;
    std::function<Outcome<Arrays>()> outputs;  // reads those of the last run, as f32, complex64 or int32
};

}  // namespace sawtooth
