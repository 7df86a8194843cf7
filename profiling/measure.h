#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "kernels/core/plan.h"
#include "kernels/core/refusal.h"
#include "kernels/core/result.h"
#include "kernels/cpu/pool.h"

namespace sawtooth {

class GpuTimer;

TimeStatistics statistics_of(std::vector<double> samples);

// The device on which plans run and are timed: exactly one of the two is set.
struct Executor {
    cpu::Pool* pool = nullptr;
    GpuTimer* gpu = nullptr;
};

// One run of a plan, in microseconds since its first launch. The launches may be missing if a GPU run was
// timed by events: then they come from another run.
struct TimedRun {
    double total_us = 0;                 // from the start of the first launch to the end of the last one
    std::vector<LaunchRecord> launches;  // at most most_kept_launches
};

// How a plan is timed on a GPU. CUPTI records every launch, which slows down chains of short launches; two
// events around all launches cost a short plan more.
enum class TimedBy { records, events };

// Runs the reset, flushes the caches if `cache` is cold, and runs the launches in order. A pool has only one
// clock. Errors: cancelled if the pool or the timer was stopped; a failure of the GPU.
Outcome<TimedRun> run_plan(const Plan& plan, const Executor& on, Cache cache, TimedBy by);
// The same on a pool; false if it was stopped.
bool run_plan(const Plan& plan, cpu::Pool& pool, Cache cache, std::vector<LaunchRecord>& records);

// Runs a plan once and records its launches: by CUPTI, or without CUPTI by two events around each launch,
// which add about a microsecond.
Outcome<std::vector<LaunchRecord>> record_launches(const Plan& plan, const Executor& on, Cache cache);

// The way of timing that gives the shorter times for a plan, determined after a warm-up run, and the launches
// of the run that tried CUPTI records, if there is a choice. Takes up to three runs on a GPU; `before_run` is
// called before each.
struct TimingChoice {
    TimedBy by = TimedBy::records;
    std::vector<LaunchRecord> launches = {};
};
Outcome<TimingChoice> choose_timing(const Plan& plan, const Executor& on, Cache cache,
                                    const std::function<void()>& before_run);

struct Measured {
    TimeStatistics time;
    std::vector<LaunchRecord> launches;  // of a repeat close to the median, or of TimingChoice
    std::string note;                    // why launches were not recorded; "" if they were
};

// Times plans that take turns: in every round each plan runs once, so that anything that lasts longer than a
// round disturbs all of them alike. The order changes from round to round. A disturbed repeat is run again at
// once, within a budget for all. With hot caches, an untimed run of the same plan precedes each repeat. The
// caller is responsible for the warm-up runs of a pool. `before_run` gets the index of the plan and the
// round; before all other runs it gets that of the first or last round. Errors: those of run_plan.
using BeforeRun = std::function<void(size_t plan, int round)>;
Outcome<std::vector<Measured>> measure(const std::vector<const Plan*>& plans, const Executor& on, Cache cache,
                                       int rounds, const BeforeRun& before_run);

// Evicts the memory from all caches.
void flush_from_caches(std::span<const std::byte> memory);

}  // namespace sawtooth
