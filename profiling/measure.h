#pragma once

#include <functional>
#include <span>
#include <vector>

#include "kernels/core/plan.h"
#include "kernels/core/refusal.h"
#include "kernels/core/result.h"
#include "kernels/cpu/pool.h"

namespace sawtooth {

class GpuTimer;

TimeStatistics statistics_of(std::vector<double> samples);

// Where plans run and are timed: exactly one of the two is set.
struct Executor {
    cpu::Pool* pool = nullptr;
    GpuTimer* gpu = nullptr;
};

// One run of a plan, in microseconds from its first launch. The launches may be missing if a GPU run was
// timed by events: then they come from another run.
struct TimedRun {
    double total_us = 0;                 // start of the first launch to end of the last
    std::vector<LaunchRecord> launches;  // at most most_kept_launches
};

// How a plan is timed on a GPU: CUPTI records of each launch, which slow chains of short launches, or two
// events around all launches, which cost a short plan more.
enum class TimedBy { records, events };

// Runs reset, flushes caches if `cache` is cold, then the launches in order. A pool has only one clock.
// Errors: cancelled if the pool or the timer was stopped; a failure of the GPU.
Outcome<TimedRun> run_plan(const Plan& plan, const Executor& on, Cache cache, TimedBy by);
// The same on a pool; false if it was stopped.
bool run_plan(const Plan& plan, cpu::Pool& pool, Cache cache, std::vector<LaunchRecord>& records);

// One run with its launches: by CUPTI records, or without CUPTI by two events around each, which add about a
// microsecond.
Outcome<std::vector<LaunchRecord>> record_launches(const Plan& plan, const Executor& on, Cache cache);

// Which way of timing makes a plan shorter, after a warm-up run, and the launches of the run that tried CUPTI
// records, if there is a choice. Takes up to three runs on a GPU; calls `before_run` before each.
struct TimingChoice {
    TimedBy by = TimedBy::records;
    std::vector<LaunchRecord> launches = {};
};
Outcome<TimingChoice> choose_timing(const Plan& plan, const Executor& on, Cache cache,
                                    const std::function<void()>& before_run);

struct Measured {
    TimeStatistics time;
    std::vector<LaunchRecord> launches;  // of the repeat closest to the median, or of TimingChoice
};

// `repeats` runs after the warm-up runs, which on the CPU are up to the caller. `before_repeat` receives the
// number of the repeat, or that of the first or last one before any other run. Errors as in run_plan.
Outcome<Measured> measure(const Plan& plan, const Executor& on, Cache cache, int repeats,
                          const std::function<void(int)>& before_repeat);

// Evicts the memory from all caches.
void flush_from_caches(std::span<const std::byte> memory);

}  // namespace sawtooth
