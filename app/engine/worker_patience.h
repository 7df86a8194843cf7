#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "app/engine/runner.h"

namespace sawtooth {

// How long to wait for a worker during a job, however busy it looks. The caller passes all times; this class
// has no clock. A worker must be stopped
// - if the job has not finished within the time limit. Progress does not extend it; only compiling, which
//   happens once per kernel, is excused where `excuses_compiling` is set, up to 2 minutes a job;
// - if the job has not finished within 2 s after it was cancelled;
// - if nothing was heard for the time limit (absent: 10 s) plus the same time again, but for that second time
//   at least 0.5 s and at most 2 s.
class WorkerPatience {
  public:
    using Time = std::chrono::steady_clock::time_point;
    WorkerPatience(std::optional<double> limit_seconds, bool excuses_compiling, Time now)
        : limit_(limit_seconds), excuses_compiling_(excuses_compiling), began_(now), heard_(now) {}

    void began(Time now) { began_ = heard_ = now; }  // the worker has the job
    void heard(Time now) { heard_ = now; }           // any sign of life
    void said(const Progress& progress, Time now);
    void was_cancelled(Time now) { cancelled_ = now; }
    bool cancelled() const { return cancelled_.has_value(); }

    // When the job exceeds the limit; nullopt without one. Moves while compiling is excused.
    std::optional<Time> deadline(Time now) const;
    // Why the worker must be stopped now; nullopt if it may continue.
    std::optional<std::string> spent(Time now) const;

  private:
    std::optional<double> limit_;
    bool excuses_compiling_;
    Time began_, heard_;
    std::optional<Time> compiling_, cancelled_;  // since when
    Time::duration excused_{0};
    std::string words_ = "the run";  // its last step
};

}  // namespace sawtooth
