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

// Reset, caches flushed where `cache` is cold, launches in order. Errors: cancelled where the pool or the
// timer was stopped; a failure of the GPU.
Outcome<TimedRun> run_plan(const Plan& plan, const Executor& on, Cache cache);
// The same, but that a GPU's launches are not recorded, which takes each of them time.
Outcome<TimedRun> run_unrecorded(const Plan& plan, const Executor& on, Cache cache);
// The same on a pool; false when it was stopped meanwhile.
bool run_plan(const Plan& plan, cpu::Pool& pool, Cache cache, std::vector<LaunchRecord>& records);

struct Measured {
    TimeStatistics time;
    // Of the repeat nearest to the median; of a run of their own where recording them takes a GPU longer than
    // leaving it be.
    std::vector<LaunchRecord> launches;
};

// `repeats` runs after those that warm up, which on the CPU are the caller's; `before_repeat` hears their
// number. Errors as of run_plan.
Outcome<Measured> measure(const Plan& plan, const Executor& on, Cache cache, int repeats,
                          const std::function<void(int)>& before_repeat);

// The lines of this memory leave every cache.
void flush_from_caches(std::span<const std::byte> memory);

}  // namespace sawtooth
