#include "app/engine/copy_times.h"

#include <algorithm>
#include <new>

#include "app/engine/limit_plans.h"
#include "profiling/measure.h"

namespace sawtooth {
namespace {

// From this size on the rate of a copy no longer depends on its size.
constexpr double most_bytes = 256 << 20;
constexpr int repeats = 5;

Outcome<Measured> measured_copy(const Machine& machine, double bytes, Cache cache) try {
    auto plan = copy_plan(machine, bytes);
    if (!plan) return plan.error();
    auto measured = measure(*plan, machine.executor(), cache, repeats, [](int) {});
    // A copy is still using the memory of the plan; freeing it would wait forever.
    if (machine.timer && machine.timer->abandoned()) new Plan(std::move(*plan));
    return measured;
} catch (const std::bad_alloc&) {
    return Error::failure("out of memory");
}

}  // namespace

Outcome<Copy> CopyTimes::of(const Machine& machine, double bytes, Cache cache) {
    const std::tuple key{machine.words, bytes, cache};
    if (const auto known = known_.find(key); known != known_.end()) return known->second;
    const double copied = std::min(bytes, most_bytes);
    const auto measured = measured_copy(machine, copied, cache);
    if (!measured) return measured.error();
    return known_[key] = {bytes, measured->time.median * bytes / copied};
}

}  // namespace sawtooth
