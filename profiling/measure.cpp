#include "profiling/measure.h"

#include <algorithm>
#include <cmath>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

#include "profiling/disturbances.h"
#include "profiling/gpu_timer.h"

namespace sawtooth {
namespace {

// Interpolates linearly between neighbours, like NumPy's percentile.
double quantile(const std::vector<double>& sorted, double share) {
    const double place = share * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<size_t>(place);
    const size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

// The time from the start of the first launch to the end of the last one, in the pool's last run.
double total_us(const cpu::Pool& pool) {
    return pool.records().empty() ? 0 : pool.end_us() - pool.records().front().start_us;
}

}  // namespace

TimeStatistics statistics_of(std::vector<double> samples) {
    TimeStatistics time;
    time.samples = samples;
    if (samples.empty()) return time;
    std::sort(samples.begin(), samples.end());
    time.median = quantile(samples, 0.5);
    time.q1 = quantile(samples, 0.25);
    time.q3 = quantile(samples, 0.75);
    return time;
}

#if defined(__x86_64__)
namespace {

// Takes a twentieth of the time of clflush, which waits for the previous line.
__attribute__((target("clflushopt"))) void flush_in_any_order(std::span<const std::byte> memory) {
    for (size_t at = 0; at < memory.size(); at += 64)
        _mm_clflushopt(const_cast<std::byte*>(memory.data() + at));
}

// Asked of the processor itself: clang 14 does not know the name of this feature.
bool has_clflushopt() {
    unsigned a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_CLFLUSHOPT);
}

void flush_in_order(std::span<const std::byte> memory) {
    for (size_t at = 0; at < memory.size(); at += 64) _mm_clflush(memory.data() + at);
}

}  // namespace
#endif

void flush_from_caches(std::span<const std::byte> memory) {
#if defined(__x86_64__)
    static const bool in_any_order = has_clflushopt();
    in_any_order ? flush_in_any_order(memory) : flush_in_order(memory);
    _mm_mfence();
#else
    // There is no flush instruction: reading four times the usual last-level cache evicts everything else.
    static std::vector<std::byte> other(size_t{128} << 20, std::byte{1});
    volatile std::byte sink{};
    if (!memory.empty())
        for (size_t at = 0; at < other.size(); at += 64) sink = other[at];
#endif
}

bool run_plan(const Plan& plan, cpu::Pool& pool, Cache cache, std::vector<LaunchRecord>& records) {
    Queue queue{&pool};
    if (plan.reset) plan.reset(queue);
    if (cache == Cache::cold)
        for (const auto& buffer : plan.buffers) flush_from_caches(buffer);
    // Workers fall asleep during the reset; they are woken here so that this does not count in the first
    // launch.
    pool.dispatch(pool.threads(), cpu::Split::contiguous, [](const cpu::Item&) {});
    pool.start_recording();
    for (const Launch& launch : plan.launches) {
        launch.start(queue);
        if (pool.stopped()) return false;
    }
    records.clear();
    const auto& dispatches = pool.records();
    const double origin = dispatches.empty() ? 0 : dispatches.front().start_us;
    for (size_t i = 0; i < dispatches.size(); ++i) {
        LaunchRecord record;
        record.info = plan.launches[i].info;
        record.start_us = dispatches[i].start_us - origin;
        record.duration_us = dispatches[i].end_us - dispatches[i].start_us;
        record.busy = dispatches[i].busy;
        for (BusySpan& span : record.busy) span.start_us -= origin, span.end_us -= origin;
        record.tally = dispatches[i].tally;
        records.push_back(std::move(record));
    }
    return true;
}

Outcome<TimedRun> run_plan(const Plan& plan, const Executor& on, Cache cache, TimedBy by) {
    if (on.gpu && by == TimedBy::records) return on.gpu->time(plan, cache);
    TimedRun run;
    if (on.gpu) {
        const auto us = on.gpu->time_unrecorded(plan, cache);
        if (!us) return us.error();
        run.total_us = *us;
        return run;
    }
    if (!run_plan(plan, *on.pool, cache, run.launches)) return Error::cancelled();
    run.total_us = total_us(*on.pool);
    return run;
}

Outcome<std::vector<LaunchRecord>> record_launches(const Plan& plan, const Executor& on, Cache cache) {
    auto run = run_plan(plan, on, cache, TimedBy::records);
    if (!run) return run.error();
    if (on.gpu && run->launches.empty()) return on.gpu->time_launches_by_events(plan, cache);
    return std::move(run->launches);
}

Outcome<TimingChoice> choose_timing(const Plan& plan, const Executor& on, Cache cache,
                                    const std::function<void()>& before_run) {
    if (!on.gpu) return TimingChoice{};
    on.gpu->expect_new_plan();
    before_run();
    if (const auto error = on.gpu->run(plan)) return *error;
    if (plan.launches.size() == 1) return TimingChoice{};
    before_run();
    auto recorded = run_plan(plan, on, cache, TimedBy::records);
    if (!recorded) return recorded.error();
    if (recorded->launches.empty()) return TimingChoice{TimedBy::events};  // nothing was recorded
    before_run();
    const auto unrecorded = run_plan(plan, on, cache, TimedBy::events);
    if (!unrecorded) return unrecorded.error();
    const bool is_slowed = unrecorded->total_us < recorded->total_us;
    return TimingChoice{is_slowed ? TimedBy::events : TimedBy::records, std::move(recorded->launches)};
}

namespace {

// A plan that takes turns with others.
struct Timed {
    const Plan* plan;
    TimingChoice choice;
    std::vector<double> samples = {};
    std::vector<int64_t> disturbed = {};
    std::vector<TimedRun> kept = {};  // the runs closest to the median so far
    std::string note = {};
};

// Every plan follows every other one about equally often, because a plan leaves the caches to its successor.
// On a GPU the plans timed by records stay together, because switching between the ways of timing is slow.
std::vector<size_t> order_of(const std::vector<Timed>& plans, int round) {
    const size_t count = plans.size();
    const bool is_odd = round % 2 == 1;
    std::vector<size_t> order(count);
    for (size_t i = 0; i < count; ++i)
        order[i] = (static_cast<size_t>(round) + (is_odd ? count - i : i)) % count;
    std::stable_partition(order.begin(), order.end(),
                          [&](size_t plan) { return (plans[plan].choice.by == TimedBy::records) != is_odd; });
    return order;
}

double distance(const Timed& plan, const TimedRun& run) {
    return std::fabs(run.total_us - statistics_of(plan.samples).median);
}

// Keeps only some runs: a run of many launches takes too much memory to keep all of them until the median is
// known.
void keep(Timed& plan, TimedRun run) {
    constexpr size_t most = 3;
    plan.samples.push_back(run.total_us);
    plan.kept.push_back(std::move(run));
    if (plan.kept.size() <= most) return;
    plan.kept.erase(std::max_element(plan.kept.begin(), plan.kept.end(), [&](const auto& a, const auto& b) {
        return distance(plan, a) < distance(plan, b);
    }));
}

class Turns {
  public:
    Turns(const Executor& on, Cache cache, int rounds, size_t plans)
        : on_(on), cache_(cache), disturbances_(on), budget_(rounds * static_cast<int>(plans) / 3) {}

    // Takes one sample of the plan.
    std::optional<Error> take(Timed& plan) {
        while (true) {
            if (auto error = warm_up(plan)) return error;
            disturbances_.start();
            auto run = run_plan(*plan.plan, on_, cache_, plan.choice.by);
            if (!run) return run.error();
            const bool disturbed = disturbances_.were_seen(run->total_us);
            if (disturbed && budget_-- > 0) continue;
            if (disturbed) plan.disturbed.push_back(static_cast<int64_t>(plan.samples.size()));
            if (on_.gpu && !on_.gpu->note().empty()) {
                plan.note = on_.gpu->note();
                plan.choice.by = TimedBy::events;
            }
            keep(plan, std::move(*run));
            return {};
        }
    }

  private:
    // The other plans have emptied the caches. A run as long as this one refills them in a small part of its
    // time.
    std::optional<Error> warm_up(const Timed& plan) {
        constexpr double long_us = 1e5;
        if (on_.gpu && plan.choice.by == TimedBy::records) on_.gpu->expect_new_plan();
        const bool is_long = !plan.samples.empty() && plan.samples.back() > long_us;
        if (cache_ == Cache::cold || is_long) return {};
        const auto run = run_plan(*plan.plan, on_, cache_, plan.choice.by);
        return run ? std::nullopt : std::optional(run.error());
    }

    const Executor& on_;
    Cache cache_;
    Disturbances disturbances_;
    int budget_;  // the number of repeats that may be run again
};

Outcome<Measured> measured_of(Timed plan, const Executor& on, Cache cache,
                              const std::function<void()>& before_run) {
    Measured measured{statistics_of(plan.samples), {}, std::move(plan.note)};
    measured.time.disturbed = plan.disturbed;
    if (plan.samples.empty()) return measured;
    const auto nearest =
        std::min_element(plan.kept.begin(), plan.kept.end(),
                         [&](const auto& a, const auto& b) { return distance(plan, a) < distance(plan, b); });
    measured.launches =
        std::move(plan.choice.by == TimedBy::events ? plan.choice.launches : nearest->launches);
    if (!on.gpu) return measured;
    if (measured.launches.empty()) {
        before_run();
        auto launches = on.gpu->time_launches_by_events(*plan.plan, cache);
        if (!launches) return launches.error();
        measured.launches = std::move(*launches);
    }
    add_theoretical_occupancy(measured.launches, on.gpu->device().chip());
    return measured;
}

}  // namespace

Outcome<std::vector<Measured>> measure(const std::vector<const Plan*>& plans, const Executor& on, Cache cache,
                                       int rounds, const BeforeRun& before_run) {
    std::vector<Timed> timed;
    for (size_t i = 0; i < plans.size(); ++i) {
        auto choice = choose_timing(*plans[i], on, cache, [&] { before_run(i, 0); });
        if (!choice) return choice.error();
        timed.push_back({plans[i], std::move(*choice)});
        if (on.gpu) timed.back().note = on.gpu->note();
    }
    Turns turns(on, cache, rounds, plans.size());
    for (int round = 0; round < rounds; ++round)
        for (const size_t plan : order_of(timed, round)) {
            before_run(plan, round);
            if (auto error = turns.take(timed[plan])) return *error;
        }
    std::vector<Measured> all;
    for (size_t i = 0; i < plans.size(); ++i) {
        auto measured =
            measured_of(std::move(timed[i]), on, cache, [&] { before_run(i, std::max(rounds - 1, 0)); });
        if (!measured) return measured.error();
        all.push_back(std::move(*measured));
    }
    return all;
}

}  // namespace sawtooth
