#pragma once

#include <functional>
#include <span>
#include <vector>

#include "kernels/core/plan.h"
#include "kernels/core/result.h"
#include "kernels/cpu/pool.h"

namespace sawtooth {

TimeStatistics statistics_of(std::vector<double> samples);

// One run of a plan on the pool: reset, caches flushed where `cache` is cold, launches in order. Records are
// in microseconds from the first launch, as far as the pool keeps them; false when it was stopped meanwhile.
bool run_plan(const Plan& plan, cpu::Pool& pool, Cache cache, std::vector<LaunchRecord>& records);

// Of the pool's last run: from the first launch's start to the last one's end.
double elapsed_us(const cpu::Pool& pool);

struct Measured {
    TimeStatistics time;
    std::vector<LaunchRecord> launches;  // of the repeat nearest to the median, the first of them
    int64_t launch_count = 0;            // all of a repeat
};

// `repeats` runs after a first one that warms up; `before_repeat` hears their number. Empty samples when
// stopped.
Measured measure(const Plan& plan, cpu::Pool& pool, Cache cache, int repeats,
                 const std::function<void(int)>& before_repeat);

// The lines of this memory leave every cache.
void flush_from_caches(std::span<const std::byte> memory);

}  // namespace sawtooth
