#pragma once

#include <functional>

#include "profiling/measure.h"

namespace sawtooth {

// A plan, and the device on which it is timed.
struct TimedPlan {
    const Plan* plan = nullptr;
    Executor on;
};

struct PairTimes {
    TimeStatistics first, second;  // sample i of both is from the same turn
};

// Times two plans that take turns; the order changes from turn to turn. Both run once before that; with hot
// caches, also before each of their short repeats, because the other plan has emptied them. A turn in which
// either was disturbed is taken again at once, up to `repeats` times in total. `before_turn` is called before
// every turn, and before the runs that choose how to time. Errors: those of run_plan.
Outcome<PairTimes> measure_pair(const TimedPlan& first, const TimedPlan& second, Cache cache, int repeats,
                                const std::function<void()>& before_turn);

}  // namespace sawtooth
