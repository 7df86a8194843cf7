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

// The values of one metric at even steps, cut to the stretch in which something happened, with one step
// before and after; nothing where nothing did. `activity` are values of the metric that tells so, at the same
// steps.
Track cut_to_activity(Track track, const std::vector<double>& activity);

}  // namespace sawtooth
