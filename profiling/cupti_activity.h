#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/core/launch.h"
#include "kernels/core/refusal.h"

namespace sawtooth {

// A kernel, copy or fill on the GPU, timed by the clock of the GPU.
struct Activity {
    uint64_t start_ns = 0, end_ns = 0;
    bool is_kernel = false;
    Extent grid, block;         // only of kernels, as are the fields below
    int registers = 0;          // per thread
    int64_t shared_bytes = 0;   // per block, static plus dynamic
    uint64_t filled_bytes = 0;  // only of fills
};

// The activity records of CUPTI. They belong to the process, for all devices and streams, so there is one
// user at a time. Recording slows down launches a little and disturbs counters, so it is only on while
// something is timed.
class ActivityRecorder {
  public:
    // Failure: CUPTI is missing or cannot record.
    static Outcome<ActivityRecorder> start();
    ActivityRecorder(ActivityRecorder&& other) noexcept
        : recording_(std::exchange(other.recording_, false)) {}
    ActivityRecorder& operator=(ActivityRecorder&&) = delete;
    ~ActivityRecorder();  // stops recording

    // Records arrive some time after the work. A fill of next_marker() bytes, whose size is different every
    // time, marks the end of a run: its record comes last.
    static constexpr int64_t most_marker_bytes = 64;
    int64_t next_marker() { return marker_bytes_ = marker_bytes_ % most_marker_bytes + 1; }
    // The last `count` activities before the marker, by start time, once the device is idle; fewer if CUPTI
    // has fewer. Discards all records.
    std::vector<Activity> take_before_marker(size_t count);

  private:
    ActivityRecorder() = default;
    bool recording_ = true;
    int64_t marker_bytes_ = 0;
};

}  // namespace sawtooth
