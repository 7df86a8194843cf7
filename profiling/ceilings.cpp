#include "profiling/ceilings.h"

#include <algorithm>
#include <fstream>
#include <string>

#include "kernels/core/integers.h"
#include "kernels/cpu/limits.h"

namespace sawtooth {
namespace {

constexpr int repeats = 7;

// The smallest time that `once` returns, in microseconds. A ceiling is the best that the machine can do, and
// other programs only make it slower. nullopt if stopped.
template <class Once>
std::optional<double> least_us(const std::stop_token& stop, Once&& once) {
    double least = once();
    for (int repeat = 0; repeat < repeats && !stop.stop_requested(); ++repeat)
        least = std::min(least, once());
    return stop.stop_requested() ? std::nullopt : std::optional(least);
}

// Filled by the pool, so that it can be stopped on the way: a gigabyte takes a second.
Array zeros(cpu::Pool& pool, int64_t bytes) {
    constexpr int64_t part = 1 << 20;
    Array array = Array::uninitialised("", Dtype::f32, {bytes / 4});
    const auto all = array.as<std::byte>();
    pool.dispatch(ceil_divide(bytes, part), cpu::Split::contiguous, [&](const cpu::Item& item) {
        const auto rest = all.subspan(static_cast<size_t>(item.index * part));
        std::ranges::fill(rest.first(std::min<size_t>(part, rest.size())), std::byte{});
    });
    return array;
}

double last_dispatch_us(const cpu::Pool& pool) {
    const cpu::DispatchRecord& record = pool.records().back();
    return record.end_us - record.start_us;
}

}  // namespace

Ceilings ceilings_of(const LimitTimes& times) {
    Ceilings ceilings;
    ceilings.copy_bytes_per_second = 2 * times.array_bytes / times.copy_us * 1e6;
    ceilings.triad_bytes_per_second = 3 * times.array_bytes / times.triad_us * 1e6;
    ceilings.operations_per_second = times.operations / times.operations_us * 1e6;
    ceilings.launch_us = times.launches_us / times.launches;
    return ceilings;
}

std::optional<Ceilings> measure_ceilings(cpu::Pool& pool, int64_t bytes, std::stop_token stop) {
    Array arrays[3];
    for (Array& array : arrays) array = zeros(pool, bytes);
    if (stop.stop_requested()) return {};
    const auto left = arrays[0].as<float>(), right = arrays[1].as<float>(), to = arrays[2].as<float>();
    const auto count = static_cast<int64_t>(left.size());

    LimitTimes times;
    times.array_bytes = static_cast<double>(count) * 4;
    const auto copy_us = least_us(stop, [&] {
        pool.start_recording();
        cpu::copy(pool, left.data(), to.data(), count);
        return last_dispatch_us(pool);
    });
    const auto triad_us = least_us(stop, [&] {
        pool.start_recording();
        cpu::triad(pool, left.data(), right.data(), to.data(), count);
        return last_dispatch_us(pool);
    });
    const auto operations_us = least_us(stop, [&] {
        pool.start_recording();
        times.operations = cpu::multiply_add(pool, 8e7 * pool.threads());
        return last_dispatch_us(pool);
    });
    const std::function<void(const cpu::Item&)> nothing = [](const cpu::Item&) {};
    times.launches = 256;
    const auto launches_us = least_us(stop, [&] {
        pool.start_recording();
        for (int i = 0; i < times.launches && !stop.stop_requested(); ++i)
            pool.dispatch(pool.threads(), cpu::Split::contiguous, nothing);
        return pool.end_us();
    });
    if (!copy_us || !triad_us || !operations_us || !launches_us) return {};
    times.copy_us = *copy_us;
    times.triad_us = *triad_us;
    times.operations_us = *operations_us;
    times.launches_us = *launches_us;
    Ceilings ceilings = ceilings_of(times);
    ceilings.threads = pool.threads();
    return ceilings;
}

std::optional<double> processor_mhz(const std::string& folder) {
    double sum = 0;
    int cores = 0;
    for (;; ++cores) {
        std::ifstream file(folder + "/cpu" + std::to_string(cores) + "/cpufreq/scaling_cur_freq");
        double kilohertz = 0;
        if (!(file >> kilohertz)) break;
        sum += kilohertz / 1e3;
    }
    if (cores == 0) return {};
    return sum / cores;
}

}  // namespace sawtooth
