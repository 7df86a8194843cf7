#pragma once

#include <string>
#include <vector>

#include "kernels/core/figure.h"
#include "kernels/core/result.h"

namespace sawtooth {

// Time analysis of the launches of one repeat.

double end_us_of(const std::vector<LaunchRecord>& launches);
// Time with at least one busy worker, in total or within a range.
double busy_us_of(const std::vector<LaunchRecord>& launches);
double busy_us_of(const std::vector<LaunchRecord>& launches, View::Range within);
// Number of launches that overlap a range.
int64_t launches_within(const std::vector<LaunchRecord>& launches, View::Range range);
// Share of the time without any busy worker: 0 to 1.
double idle_share(const std::vector<LaunchRecord>& launches);
// "1,024 launches, idle 60 % of the time: each takes 2.7 us, of which 0.9 us is work"
std::string idle_words(const Result& result, const VariantResult& variant);
// How many of `workers` a launch uses. Not recorded on a GPU: there a thread block uses at most one SM.
int64_t workers_of(const LaunchRecord& launch, int workers);
// Busy time of all workers as a share of the maximum: 0 to 1.
double active_share(const std::vector<LaunchRecord>& launches, int workers);

// Launches as spans of a track, in the visible range ("time"). Neighbours within one column are merged, so
// that there are at most two spans per column.
std::vector<Tracks::Span> launch_spans(const std::vector<LaunchRecord>& launches, const View& view);
// The number of busy workers as a stepped curve; with more steps than columns each column has its minimum and
// maximum.
void add_busy_curve(const std::vector<LaunchRecord>& launches, const View& view, Tracks::Track& track);
// The rows of a variant: its launches with this label, the number of busy workers (on a GPU: when a launch
// runs) with its share of the time, then the samples.
void add_tracks(Tracks& tracks, const VariantResult& variant, const std::string& label, Backend backend,
                const View& view);
// The rows of `add_tracks` one by one.
Tracks::Track launch_track(const VariantResult& variant, const std::string& label, const View& view);
Tracks::Track busy_track(const VariantResult& variant, Backend backend, const View& view);
// Samples as a stepped curve; each sample holds for the step that it ends.
Tracks::Track sampled_track(const Track& sampled, const Ink& ink);

}  // namespace sawtooth
