#pragma once

#include <string>

#include "kernels/core/figure.h"
#include "kernels/core/result.h"

namespace sawtooth {

// A figure of whole runs, and a figure of a part of them with an axis of its own.

// The Axis::shared of the two figures, different from that of the timeline.
constexpr const char* time_of_runs = "time of runs";
constexpr const char* time_of_zoom = "time of the zoom";

// The end of the first `count` launches, including the gap after the last.
double end_of_launches(const std::vector<LaunchRecord>& launches, size_t count);
// `count` consecutive launches of typical length: the first ones that together take the median time, after
// those that start the run.
View::Range typical_launches(const std::vector<LaunchRecord>& launches, size_t count);

// The view of launches on an axis of that name, which ends at `whole` unless it is limited.
View view_of(const View& view, const std::string& shared, View::Range whole);

// A figure for the tracks of that range of the figure of whole runs, which has `launches` typical launches.
Figure zoom_of(const Figure& whole, View::Range range, size_t launches);

}  // namespace sawtooth
