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

// How the launches of a plan follow one another on a GPU; the CPU waits for each.
enum class Follow {
    stream,              // the host runs ahead
    wait,                // the host waits for each before it starts the next
    graph,               // recorded once, started as one
    graph_programmatic,  // the same, and each may start before the previous one ends
};

// A kernel of a .cu file and the macros that it is compiled with.
struct PlannedKernel {
    std::string file, entry;
    std::vector<std::pair<std::string, std::string>> defines;

    bool operator==(const PlannedKernel&) const = default;
};

// The plan of a variant for a Request: memory and launches in order. Variants never time themselves.
struct Plan {
    bool dry = false;  // only counts bytes: nothing is allocated, launches are never started
    std::vector<std::shared_ptr<const void>> memory;  // keeps the memory of the launches alive
    std::vector<std::span<std::byte>> buffers;        // the same in host memory, to flush from the caches
    std::vector<PlannedKernel> kernels;               // of a dry plan on CUDA, each once
    int64_t memory_bytes = 0;                         // on the backend of the launches
    int64_t launch_bytes = 0;                         // in host memory, of the launches themselves
    // Untimed, before every repeat: restores what a run destroys; may be empty.
    std::function<void(Queue&)> reset;
    std::vector<Launch> launches;
    Follow follow = Follow::stream;
    std::function<Outcome<Arrays>()> outputs;  // of the last run, as f32, complex64 or int32
};

}  // namespace sawtooth
