#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "app/engine/run/runner.h"

namespace sawtooth {

// Decides how long to wait for a worker during a job, however busy it looks. The caller passes all times;
// this class has no clock. A worker must be stopped in three cases. First, the job has not finished within
// the time limit; progress does not extend the limit, and only excused steps are left out with
// Counts::launches, up to 2 minutes per job, because a GPU may hang in one of these steps, too. Second, the
// job has not finished within 2 s after it was cancelled. Third, nothing was heard for the time limit (10 s
// if absent) plus a grace period of the same length, but at least 0.5 s and at most 2 s.
class WorkerPatience {
  public:
    using Time = std::chrono::steady_clock::time_point;
    WorkerPatience(std::optional<double> limit_seconds, Counts counts, Time now)
        : limit_(limit_seconds), counts_(counts), began_(now), heard_(now) {}

    void began(Time now) { began_ = heard_ = now; }  // the worker has the job
    void heard(Time now) { heard_ = now; }           // any sign of life
    void said(const Progress& progress, Time now);
    void was_cancelled(Time now) { cancelled_ = now; }
    bool cancelled() const { return cancelled_.has_value(); }

    // The time at which the job exceeds the limit; nullopt without a limit. It moves during an excused step.
    std::optional<Time> deadline(Time now) const;
    // Why the worker must be stopped now; nullopt if it may continue.
    std::optional<std::string> spent(Time now) const;
    // Whether nothing was heard for too long.
    bool is_silent(Time now) const;

  private:
    std::optional<double> limit_;
    Counts counts_;
    Time began_, heard_;
    std::optional<Time> excused_since_, cancelled_;
    Time::duration excused_{0};
    std::string words_ = "the run";  // the last step of the worker
};

}  // namespace sawtooth
