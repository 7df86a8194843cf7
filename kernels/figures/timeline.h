#pragma once

#include <string>
#include <vector>

#include "kernels/core/figure.h"
#include "kernels/core/result.h"

namespace sawtooth {

// Analysis of the times of the launches of one repeat.

double end_us_of(const std::vector<LaunchRecord>& launches);
// The time in which at least one worker is busy, in total or within a range.
double busy_us_of(const std::vector<LaunchRecord>& launches);
// The time from the first to the last work of the workers of a launch, which is shorter than the launch
// because workers have to wake. On a GPU it is the whole launch.
View::Range work_of(const LaunchRecord& launch);
double busy_us_of(const std::vector<LaunchRecord>& launches, View::Range within);
// The number of launches that overlap a range.
int64_t launches_within(const std::vector<LaunchRecord>& launches, View::Range range);
// The share of the time in which no worker is busy, 0 to 1.
double idle_share(const std::vector<LaunchRecord>& launches);
// The utilisation: the share of the time in which a worker (or SM) is busy, averaged over all of them, 0 to
// 1; in total or within a range.
double utilisation(const std::vector<LaunchRecord>& launches, int workers);
double utilisation(const std::vector<LaunchRecord>& launches, int workers, View::Range within);
// The definitions of both in a sentence each, for the caption of a figure that shows them.
std::string terms_of_launches(Backend backend);
// "1,024 launches, idle 60 % of the time: each takes 2.7 us, of which 0.9 us is work"
std::string idle_words(const Result& result, const VariantResult& variant);
// " (9.4 us when not recorded)" where the timed repeats took clearly less: CUPTI slows every launch, but
// timed repeats may run without it. `parts` divides the time. "" otherwise.
std::string words_when_not_recorded(const Result& result, const VariantResult& variant, double recorded_us,
                                    int64_t parts = 1);
// How many of `workers` a launch uses. On a GPU this is not recorded; a thread block uses at most one SM.
int64_t workers_of(const LaunchRecord& launch, int workers);

// The work of launches as spans of a track, in the visible range ("time"); between spans the device is idle.
// Neighbours within one column are merged, so that there are at most two spans per column.
std::vector<Tracks::Span> launch_spans(const std::vector<LaunchRecord>& launches, const View& view);
// Adds the share of the workers that are busy, in percent, as a stepped curve, whose mean is the utilisation.
// If the steps are too dense to be seen, the curve has the mean of every few columns.
void add_utilisation(const std::vector<LaunchRecord>& launches, int workers, const View& view,
                     Tracks::Track& track);
// Adds the rows of a variant: its launches with this label, the utilisation, then the samples.
void add_tracks(Tracks& tracks, const Result& result, const VariantResult& variant, const std::string& label,
                const View& view);
// The rows of `add_tracks` one by one.
Tracks::Track launch_track(const VariantResult& variant, const std::string& label, const View& view);
Tracks::Track utilisation_track(const Result& result, const VariantResult& variant, const View& view);
// The samples as a stepped curve; each sample holds for the step that it ends.
Tracks::Track sampled_track(const Track& sampled, const Ink& ink);

}  // namespace sawtooth
