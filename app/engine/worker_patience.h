#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "app/engine/runner.h"

namespace sawtooth {

// How long to wait for a worker during a job. The caller passes all times; this class has no clock. A worker
// must be stopped
// - if a launch does not finish within the time limit; any progress restarts the count, and references,
//   compiling and counter passes (progress that is not `timed`) do not count;
// - if a launch does not finish within 2 s after the job was cancelled;
// - if nothing was heard for the time limit (absent: 10 s) plus the same time again, but for that second time
//   at least 0.5 s and at most 2 s.
class WorkerPatience {
  public:
    using Time = std::chrono::steady_clock::time_point;
    WorkerPatience(std::optional<double> limit_seconds, Time now) : limit_(limit_seconds), heard_(now) {}

    void heard(Time now) { heard_ = now; }  // any sign of life
    void said(const Progress& progress, Time now);
    void was_cancelled(Time now) { cancelled_ = now; }
    bool cancelled() const { return cancelled_.has_value(); }

    // When the running launch exceeds the limit; nullopt if none is running or there is no limit.
    std::optional<Time> deadline() const;
    // Why the worker must be stopped now; nullopt if it may continue.
    std::optional<std::string> spent(Time now) const;

  private:
    std::optional<double> limit_;
    Time heard_;
    std::optional<Time> launched_, cancelled_;
    std::string words_;  // of the launch
};

}  // namespace sawtooth
