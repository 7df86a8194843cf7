#include "kernels/figures/counters.h"

#include <fmt/format.h>

#include <algorithm>

namespace sawtooth {
namespace {

constexpr double busy_percent = 60;  // from here on Nsight Compute calls a part of the chip well used

constexpr const char *sm_throughput = "SM throughput (%)", *dram_throughput = "DRAM throughput (%)",
                     *l2_throughput = "L2 throughput (%)";

std::optional<double> value_of(const LaunchRecord& launch, const char* key) {
    const auto found = launch.counters.find(key);
    return found == launch.counters.end() ? std::nullopt : std::optional(found->second);
}

std::string share(const char* name, const char* whose, double percent) {
    return fmt::format("{} at {:.0f} % of {} peak", name, percent, whose);
}

}  // namespace

std::string_view name_of(CounterSection section) {
    switch (section) {
        case CounterSection::memory:
            return "memory";
        case CounterSection::compute:
            return "compute";
        case CounterSection::latency:
            return "latency";
    }
    return "";
}

std::string_view name_of(LaunchLimit::By by) {
    switch (by) {
        case LaunchLimit::By::memory:
            return "memory";
        case LaunchLimit::By::compute:
            return "compute";
        case LaunchLimit::By::latency:
            return "latency";
        case LaunchLimit::By::launch:
            return "launch";
    }
    return "";
}

const std::vector<Counter>& counters() {
    static const std::vector<Counter> all{
        {"dram__throughput.avg.pct_of_peak_sustained_elapsed", dram_throughput, CounterSection::memory,
         "The bytes that DRAM moves, as a share of the most that it can move in that time."},
        {"dram__bytes.sum", "DRAM bytes", CounterSection::memory, "The bytes read from and written to DRAM."},
        {"lts__throughput.avg.pct_of_peak_sustained_elapsed", l2_throughput, CounterSection::memory,
         "How busy the busiest part of the L2 cache is."},
        {"lts__t_sector_hit_rate.pct", "L2 hit rate (%)", CounterSection::memory,
         "The share of accesses to the L2 cache that it answers without DRAM."},
        {"sm__throughput.avg.pct_of_peak_sustained_elapsed", sm_throughput, CounterSection::compute,
         "How busy the busiest pipeline of the SMs is."},
        {"sm__inst_executed_pipe_tensor.sum", "tensor instructions", CounterSection::compute,
         "Instructions of the tensor cores."},
        {"smsp__issue_active.avg.pct_of_peak_sustained_active", "issue active (%)", CounterSection::latency,
         "The share of cycles in which a scheduler issues an instruction. In the others all of its warps "
         "wait."},
        {"sm__warps_active.avg.pct_of_peak_sustained_active", warps_active_percent, CounterSection::latency,
         "Achieved occupancy: the resident warps as a share of the most that fit."},
        {"gpu__time_duration.sum", "duration (ns)", CounterSection::latency,
         "The time of the launch while counters are read, with the clock that CUPTI sets."},
    };
    return all;
}

const Counter* find_counter(std::string_view key) {
    for (const Counter& counter : counters())
        if (counter.key == key) return &counter;
    return nullptr;
}

std::optional<LaunchLimit> limit_of(const LaunchRecord& launch, int processors) {
    const auto sm = value_of(launch, sm_throughput), dram = value_of(launch, dram_throughput);
    if (!sm || !dram) return {};
    const double l2 = value_of(launch, l2_throughput).value_or(0), memory = std::max(*dram, l2);
    const std::string of_memory =
        *dram >= l2 ? share("DRAM", "its", *dram) : share("the L2 cache", "its", l2);
    if (memory >= busy_percent && memory >= *sm) return LaunchLimit{LaunchLimit::By::memory, of_memory};
    if (*sm >= busy_percent) return LaunchLimit{LaunchLimit::By::compute, share("the SMs", "their", *sm)};
    const int64_t blocks = launch.info->grid.x * launch.info->grid.y * launch.info->grid.z;
    if (processors > 0 && blocks < processors)
        return LaunchLimit{LaunchLimit::By::launch,
                           fmt::format("fewer blocks, {}, than SMs, {}", blocks, processors)};
    return LaunchLimit{LaunchLimit::By::latency,
                       fmt::format("warps wait: {}, {}", of_memory, share("the SMs", "their", *sm))};
}

}  // namespace sawtooth
