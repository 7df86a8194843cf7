#pragma once

#include <optional>
#include <vector>

#include "kernels/core/refusal.h"
#include "kernels/core/result.h"
#include "profiling/gpu_timer.h"

namespace sawtooth {

// The counters of the first 3 launches of each name, in a run of their own, and their achieved occupancy.
// `launches` are the records of the plan's first launches, in order; the rest are not run. How often each of
// them ran for it. Failure: no CUPTI, a CUPTI that is too old, or counters that may not be read and which
// setting allows them; cancelled where the timer was stopped.
Outcome<size_t> read_counters(GpuTimer& timer, const Plan& plan, std::vector<LaunchRecord>& launches);

// May counters be read on this GPU? Tried with an empty kernel; an error says why not and what to do.
std::optional<Error> try_counters(cuda::Device& device);
// Why no counters can be read on any GPU here: CUPTI is missing or too old. Asks no GPU.
std::optional<Error> counters_problem();

}  // namespace sawtooth
