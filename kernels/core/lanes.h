#pragma once

#include "kernels/core/figure.h"
#include "kernels/core/result.h"

namespace sawtooth {

// The end of the first `count` launches, including the gap after the last.
double end_of_launches(const std::vector<LaunchRecord>& launches, size_t count);
// `count` consecutive launches to zoom into: the first ones, or if they were delayed, ones of typical length.
View::Range usual_launches(const std::vector<LaunchRecord>& launches, size_t count);

// The tracks of a figure with whole runs on one scale and, below, a part of each, stretched to the same
// width.
class Lanes {
  public:
    static constexpr const char* time = "time of lanes";  // Axis::shared: different from that of the timeline

    // Runs of length `whole` with parts of length `part`.
    Lanes(const View& view, double whole, double part);

    // The view of whole runs, or from `start` on.
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
