#pragma once

#include <vector>

#include "kernels/core/refusal.h"
#include "kernels/core/result.h"
#include "profiling/gpu_timer.h"

namespace sawtooth {

// How busy the GPU was while a plan ran: multiprocessors, warps and memory, through CUPTI's PM Sampling,
// about every microsecond (a plan of more than 8 ms: every 8192th part of it). What cannot be sampled
// together is sampled in runs of its own. Time 0 of a track is the first sample in which something happened,
// which is when the first launch started, or up to one step later. `plan_us` is about how long the plan
// takes. Failure: no CUPTI, one that is too old, or samples that may not be taken and which setting allows
// them.
Outcome<std::vector<Track>> sample_tracks(GpuTimer& timer, const Plan& plan, Cache cache, double plan_us);

// Samples from `begin` to before `end`.
struct Stretch {
    size_t begin = 0, end = 0;
    bool is_empty() const { return begin == end; }
};
// From the first sample to the last in which something happened, by a metric that is 0 where nothing does.
Stretch active_stretch(const std::vector<double>& values);
// The stretch of this many samples with most in it, by a metric that never rests.
Stretch busiest_stretch(const std::vector<double>& values, size_t count);
// The values of a metric at even steps in that stretch, which begins at 0, with a step before and one after.
Track cut_to(const Stretch& stretch, Track track);

}  // namespace sawtooth
