#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/core/launch.h"
#include "kernels/core/refusal.h"

namespace sawtooth {

// A kernel, copy or fill as the GPU ran it, by its own clock.
struct Activity {
    uint64_t start_ns = 0, end_ns = 0;
    bool is_kernel = false;
    Extent grid, block;         // of a kernel, as are the rest
    int registers = 0;          // a thread
    int64_t shared_bytes = 0;   // a block, static and dynamic
    uint64_t filled_bytes = 0;  // of a fill alone
};

// CUPTI's activity records. They are the process's, whatever device and stream: one user at a time. Recording
// slows launches a little and disturbs counters, so that it is on only while something is timed.
class ActivityRecorder {
  public:
    // Failure: CUPTI is not there, or cannot record.
    static Outcome<ActivityRecorder> start();
    ActivityRecorder(ActivityRecorder&& other) noexcept
        : recording_(std::exchange(other.recording_, false)) {}
    ActivityRecorder& operator=(ActivityRecorder&&) = delete;
    ~ActivityRecorder();  // stops

    // Records come some time after the work that they are about. A fill of next_marker() bytes, which differ
    // from one time to the next, marks the end of what is asked for: its record comes last.
    static constexpr int64_t most_marker_bytes = 64;
    int64_t next_marker() { return marker_bytes_ = marker_bytes_ % most_marker_bytes + 1; }
    // The `count` activities before the marker by their start, once the device has done all that it was
    // given; fewer where CUPTI has no more. Forgets them all.
    std::vector<Activity> take_before_marker(size_t count);

  private:
    ActivityRecorder() = default;
    bool recording_ = true;
    int64_t marker_bytes_ = 0;
};

}  // namespace sawtooth
