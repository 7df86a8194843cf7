#include "profiling/measure.h"

#include <algorithm>
#include <cmath>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "profiling/gpu_timer.h"

namespace sawtooth {
namespace {

// Linear between neighbours, like NumPy's percentile.
double quantile(const std::vector<double>& sorted, double share) {
    const double place = share * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<size_t>(place);
    const size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

// From the start of the first launch to the end of the last, in the pool's last run.
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

void flush_from_caches(std::span<const std::byte> memory) {
#if defined(__x86_64__)
    for (size_t at = 0; at < memory.size(); at += 64) _mm_clflush(memory.data() + at);
    _mm_mfence();
#else
    // Without a flush instruction: reading four times the usual last-level cache evicts everything else.
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
    // Workers fall asleep during the reset; waking them here keeps it out of the first launch.
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

Outcome<Measured> measure(const Plan& plan, const Executor& on, Cache cache, int repeats,
                          const std::function<void(int)>& before_repeat) {
    auto choice = choose_timing(plan, on, cache, [&] { before_repeat(0); });
    if (!choice) return choice.error();
    std::vector<TimedRun> runs;
    std::vector<double> samples;
    for (int repeat = 0; repeat < repeats; ++repeat) {
        before_repeat(repeat);
        auto run = run_plan(plan, on, cache, choice->by);
        if (!run) return run.error();
        samples.push_back(run->total_us);
        runs.push_back(std::move(*run));
    }
    Measured measured{statistics_of(samples), {}};
    if (runs.empty()) return measured;
    const auto distance = [&](const TimedRun& run) { return std::fabs(run.total_us - measured.time.median); };
    const auto nearest = std::min_element(
        runs.begin(), runs.end(), [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
    measured.launches = std::move(choice->by == TimedBy::events ? choice->launches : nearest->launches);
    if (!on.gpu) return measured;
    if (measured.launches.empty()) {
        before_repeat(repeats - 1);
        auto launches = on.gpu->time_launches_by_events(plan, cache);
        if (!launches) return launches.error();
        measured.launches = std::move(*launches);
    }
    add_theoretical_occupancy(measured.launches, on.gpu->device().chip());
    return measured;
}

}  // namespace sawtooth
