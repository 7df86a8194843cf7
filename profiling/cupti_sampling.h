#pragma once

#include <vector>

#include "kernels/core/refusal.h"
#include "kernels/core/result.h"
#include "profiling/gpu_timer.h"

namespace sawtooth {

// How busy the GPU was while a plan ran: SMs, warps and memory, through PM Sampling of CUPTI, about every
// microsecond (for a plan of more than 8 ms every 8192th part of it). Metrics that cannot be sampled together
// are sampled in separate runs. Time 0 of a track is its first active sample, that is the start of the first
// launch or up to one step later. `plan_us` is the approximate duration of the plan. Failure: CUPTI is
// missing or too old, or samples may not be taken (with the setting that allows them).
Outcome<std::vector<Track>> sample_tracks(GpuTimer& timer, const Plan& plan, Cache cache, double plan_us);

// Samples from `begin` up to but excluding `end`.
struct Stretch {
    size_t begin = 0, end = 0;
    bool is_empty() const { return begin == end; }
};
// From the first active sample to the last, for a metric that is 0 when nothing runs.
Stretch active_stretch(const std::vector<double>& values);
// The stretch of `count` samples with the largest sum, for a metric that is never 0.
Stretch busiest_stretch(const std::vector<double>& values, size_t count);
// The values of a metric at even steps in the stretch, which starts at 0, with one step before and after.
Track cut_to(const Stretch& stretch, Track track);

}  // namespace sawtooth
