#pragma once

#include <string>
#include <vector>

#include "kernels/core/figure.h"
#include "kernels/core/result.h"

namespace sawtooth {

// What the launches of one repeat say about time.

double end_us_of(const std::vector<LaunchRecord>& launches);
// Time in which at least one worker was busy, of all or within a range.
double busy_us_of(const std::vector<LaunchRecord>& launches);
double busy_us_of(const std::vector<LaunchRecord>& launches, View::Range within);
// How many launches run within a range, or part of it.
int64_t launches_within(const std::vector<LaunchRecord>& launches, View::Range range);
// Time in which no worker did anything, of the whole: 0 to 1.
double idle_share(const std::vector<LaunchRecord>& launches);
// "1,024 launches, idle 60 % of the time: each takes 2.7 us, of which 0.9 us is work"
std::string idle_words(const Result& result, const VariantResult& variant);
// How many of so many workers a launch keeps busy. Of a GPU none is known: a thread block needs at the most a
// multiprocessor of its own.
int64_t workers_of(const LaunchRecord& launch, int workers);
// Busy time of all workers together, of that of so many who never rest: 0 to 1.
double active_share(const std::vector<LaunchRecord>& launches, int workers);

// Launches as spans of a track, in the range in sight ("time"). Neighbours that a column could not tell apart
// are drawn as one, so that there are at most two spans a column.
std::vector<Tracks::Span> launch_spans(const std::vector<LaunchRecord>& launches, const View& view);
// How many workers are busy, as a stepped curve; where there are more steps than columns each column gives
// its least and its most.
void add_busy_curve(const std::vector<LaunchRecord>& launches, const View& view, Tracks::Track& track);
// A variant in rows: its launches under this label, how many workers are busy (on a GPU: when a launch runs)
// under its share of the time, then what was sampled.
void add_tracks(Tracks& tracks, const VariantResult& variant, const std::string& label, Backend backend,
                const View& view);
// The rows of `add_tracks` one by one.
Tracks::Track launch_track(const VariantResult& variant, const std::string& label, const View& view);
Tracks::Track busy_track(const VariantResult& variant, Backend backend, const View& view);
// Samples as a curve that is level over the step that each of them ends.
Tracks::Track sampled_track(const Track& sampled, const Ink& ink);

}  // namespace sawtooth
