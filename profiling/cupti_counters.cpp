#include "profiling/cupti_counters.h"

#include <algorithm>
#include <map>
#include <string>

#include "kernels/figures/counters.h"
#include "profiling/cupti_counter_session.h"

namespace sawtooth {
namespace {

constexpr int launches_of_a_name = 3;

}  // namespace

Outcome<size_t> read_counters(GpuTimer& timer, const Plan& plan, std::vector<LaunchRecord>& launches) {
    timer.stop_recording();
    auto session = CounterSession::open(timer.device());
    if (!session) return session.error();
    if (auto error = timer.prepare(plan, Cache::hot)) return *error;
    std::map<std::string, int> seen;
    // Counters of launches without a record could not be stored, so these launches need not run.
    const size_t recorded = std::min(plan.launches.size(), launches.size());
    for (size_t i = 0; i < recorded && !timer.is_stopped(); ++i) {
        const auto start = [&] { return timer.start(plan.launches[i]); };
        if (seen[plan.launches[i].info->name]++ >= launches_of_a_name) {
            if (auto error = start()) return *error;
            continue;
        }
        auto counted = (*session)->count([&] {
            auto error = start();
            return error ? error : timer.wait();
        });
        if (!counted) return counted.error();
        if (const auto active = counted->find(warps_active_percent); active != counted->end())
            launches[i].occupancy.achieved = active->second / 100;
        launches[i].counters = std::move(*counted);
    }
    if (auto error = timer.wait()) return *error;
    return (*session)->passes();
}

std::optional<Error> try_counters(cuda::Device& device) {
    auto session = CounterSession::open(device);
    if (!session) return session.error();
    const auto kernel = device.kernel({"kernels/cuda/ceilings.cu", {}}, "empty");
    if (!kernel) return {};  // without NVRTC no kernel can be tried
    const auto counted = (*session)->count([&]() -> std::optional<Error> {
        Queue queue;
        queue.stream = device.stream();
        cuda::launch(queue, *kernel, {1, 1, 1}, {32, 1, 1}, 0, nullptr);
        if (!queue.error.empty()) return Error::failure(queue.error);
        return device.wait();
    });
    if (!counted) return counted.error();
    return {};
}

std::optional<Error> counters_problem() { return cupti_problem(); }

}  // namespace sawtooth
