#pragma once

#include <vector>

#include "kernels/core/refusal.h"
#include "kernels/core/result.h"
#include "profiling/gpu_timer.h"

namespace sawtooth {

// Samples how busy the GPU was while a plan ran: SMs, warps and memory, through PM Sampling of CUPTI, about
// every microsecond (for a plan of more than 8 ms, every 8192nd part of it). Metrics that cannot be sampled
// together are sampled in separate runs. Time 0 of a track is its first active sample, which is the start of
// the first launch or up to one step later. `plan_us` is the approximate duration of the plan. Failure: CUPTI
// is missing or too old, or samples may not be taken (with the setting that allows them).
Outcome<std::vector<Track>> sample_tracks(GpuTimer& timer, const Plan& plan, Cache cache, double plan_us);

// The samples from `begin` up to but excluding `end`.
struct SampleRange {
    size_t begin = 0, end = 0;
    bool is_empty() const { return begin == end; }
};
// The range from the first active sample to the last, for a metric that is 0 when nothing runs.
SampleRange active_range(const std::vector<double>& values);
// The range of `count` samples with the largest sum, for a metric that is never 0.
SampleRange busiest_range(const std::vector<double>& values, size_t count);
// The values of a metric at even steps in the range, which starts at time 0, and one step before and after
// it.
Track cut_to(const SampleRange& range, Track track);

}  // namespace sawtooth
