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

// Where plans run and by whose clock they are timed: one of the two.
struct Executor {
    cpu::Pool* pool = nullptr;
    GpuTimer* gpu = nullptr;
};

// One run of a plan, in microseconds from its first launch. The launches may be missing where the GPU's are
// timed by events: those come from another run.
struct TimedRun {
    double total_us = 0;                 // first launch's start to last launch's end
    std::vector<LaunchRecord> launches;  // at most most_kept_launches
};

// What times a plan on a GPU: CUPTI's record of each launch, which takes chains of short launches time, or
// two events around them all, which cost a short plan more than that.
enum class TimedBy { records, events };

// Reset, caches flushed where `cache` is cold, launches in order. A pool has one clock alone. Errors:
// cancelled where the pool or the timer was stopped; a failure of the GPU.
Outcome<TimedRun> run_plan(const Plan& plan, const Executor& on, Cache cache, TimedBy by);
// The same on a pool; false when it was stopped meanwhile.
bool run_plan(const Plan& plan, cpu::Pool& pool, Cache cache, std::vector<LaunchRecord>& records);

// What makes a plan shorter after a run that warms up, and the launches of the run by which CUPTI's records
// were tried, where there is a choice. On a GPU it takes up to three runs; `before_run` is called before
// each.
struct TimingChoice {
    TimedBy by = TimedBy::records;
    std::vector<LaunchRecord> launches = {};
};
Outcome<TimingChoice> choose_timing(const Plan& plan, const Executor& on, Cache cache,
                                    const std::function<void()>& before_run);

struct Measured {
    TimeStatistics time;
    std::vector<LaunchRecord> launches;  // of the repeat nearest to the median, or of TimingChoice
};

// `repeats` runs after those that warm up, which on the CPU are the caller's. `before_repeat` hears their
// number, and that of the first or the last one before every other run of the plan. Errors as of run_plan.
Outcome<Measured> measure(const Plan& plan, const Executor& on, Cache cache, int repeats,
                          const std::function<void(int)>& before_repeat);

// The lines of this memory leave every cache.
void flush_from_caches(std::span<const std::byte> memory);

}  // namespace sawtooth
