#include "profiling/measure.h"

#include <algorithm>
#include <cmath>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace sawtooth {
namespace {

// Linear between neighbours, as NumPy's percentile.
double quantile(const std::vector<double>& sorted, double share) {
    const double place = share * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<size_t>(place);
    const size_t above = std::min(below + 1, sorted.size() - 1);
    return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
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
    // No instruction for it: reading four times the usual last-level cache pushes everything else out.
    static std::vector<std::byte> other(size_t{128} << 20, std::byte{1});
    volatile std::byte sink{};
    if (!memory.empty())
        for (size_t at = 0; at < other.size(); at += 64) sink = other[at];
#endif
}

double elapsed_us(const cpu::Pool& pool) {
    return pool.records().empty() ? 0 : pool.end_us() - pool.records().front().start_us;
}

bool run_plan(const Plan& plan, cpu::Pool& pool, Cache cache, std::vector<LaunchRecord>& records) {
    Queue queue{&pool};
    if (plan.reset) plan.reset(queue);
    if (cache == Cache::cold)
        for (const auto& buffer : plan.buffers) flush_from_caches(buffer);
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

Measured measure(const Plan& plan, cpu::Pool& pool, Cache cache, int repeats,
                 const std::function<void(int)>& before_repeat) {
    std::vector<std::vector<LaunchRecord>> runs;
    std::vector<double> samples;
    for (int repeat = 0; repeat < repeats; ++repeat) {
        before_repeat(repeat);
        runs.emplace_back();
        if (!run_plan(plan, pool, cache, runs.back())) return {};
        samples.push_back(elapsed_us(pool));
    }
    Measured measured{statistics_of(samples), {}, pool.dispatches()};
    const auto distance = [&](size_t run) { return std::fabs(samples[run] - measured.time.median); };
    size_t nearest = 0;
    for (size_t run = 1; run < runs.size(); ++run)
        if (distance(run) < distance(nearest)) nearest = run;
    if (!runs.empty()) measured.launches = std::move(runs[nearest]);
    return measured;
}

}  // namespace sawtooth
