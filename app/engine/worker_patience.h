#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "app/engine/runner.h"

namespace sawtooth {

// How long a worker is waited for while it does a job. The times are the caller's, so that this has none of
// its own. A worker is to be ended
// - where a launch has not finished within the time limit; any progress begins the count anew, and
// references,
//   compiling and counter passes (progress that is not `timed`) do not count;
// - where a launch has not finished 2 s after the job was cancelled;
// - where nothing was heard for the time limit (absent: 10 s) and then for as long again, but at least 0.5 s
// and
//   at most 2 s more.
class WorkerPatience {
  public:
    using Time = std::chrono::steady_clock::time_point;
    WorkerPatience(std::optional<double> limit_seconds, Time now) : limit_(limit_seconds), heard_(now) {}

    void heard(Time now) { heard_ = now; }  // any sign of life
    void said(const Progress& progress, Time now);
    void was_cancelled(Time now) { cancelled_ = now; }
    bool cancelled() const { return cancelled_.has_value(); }

    // When the launch under way will have taken too long; nullopt where none is or no limit is set.
    std::optional<Time> deadline() const;
    // Why the worker is to be ended now; nullopt where it may go on.
    std::optional<std::string> spent(Time now) const;

  private:
    std::optional<double> limit_;
    Time heard_;
    std::optional<Time> launched_, cancelled_;
    std::string words_;  // of the launch
};

}  // namespace sawtooth
