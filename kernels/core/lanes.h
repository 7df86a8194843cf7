#pragma once

#include "kernels/core/figure.h"
#include "kernels/core/result.h"

namespace sawtooth {

// Where the first `count` launches end, with the time after the last of them.
double end_of_launches(const std::vector<LaunchRecord>& launches, size_t count);
// `count` neighbours to show large: the first ones, or where something held them up those that took as long
// as most.
View::Range usual_launches(const std::vector<LaunchRecord>& launches, size_t count);

// The tracks of a figure that has whole runs on one scale, and under them a part of each, stretched to the
// same width.
class Lanes {
  public:
    static constexpr const char* time = "time of lanes";  // Axis::shared: the timeline has one of its own

    // Of runs that take `whole`, parts that take `part`.
    Lanes(const View& view, double whole, double part);

    // What to make tracks for: of whole runs, or from `start` on.
    View whole() const;
    View from(double start) const;
    void add(Tracks::Track track) { tracks_.tracks.push_back(std::move(track)); }
    void add_from(double start, Tracks::Track track);
    Tracks take() { return std::move(tracks_); }

  private:
    double stretch_;
    View::Range seen_;
    int columns_;
    Tracks tracks_;
};

}  // namespace sawtooth
