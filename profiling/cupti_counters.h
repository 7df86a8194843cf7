#pragma once

#include <optional>
#include <vector>

#include "kernels/core/refusal.h"
#include "kernels/core/result.h"
#include "profiling/gpu_timer.h"

namespace sawtooth {

// Reads the counters and the achieved occupancy of the first 3 launches of each name, in a separate run.
// `launches` are the records of the plan's first launches, in order; later launches do not run. Returns how
// often each launch ran. Failure: CUPTI is missing or too old, or counters may not be read (with the setting
// that allows them); cancelled if the timer was stopped.
Outcome<size_t> read_counters(GpuTimer& timer, const Plan& plan, std::vector<LaunchRecord>& launches);

// Tries to read counters on this GPU with an empty kernel. The error says why that failed and what to do.
std::optional<Error> try_counters(cuda::Device& device);
// Why counters cannot be read on any GPU: CUPTI is missing or too old. Does not use a GPU.
std::optional<Error> counters_problem();

}  // namespace sawtooth
