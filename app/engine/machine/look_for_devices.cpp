#include "app/engine/machine/look_for_devices.h"

#include "app/engine/guarded.h"
#include "app/engine/sources/worker_link.h"

namespace sawtooth {

Devices look_for_devices(const std::string& cache_directory, bool tries_counters, std::stop_token stop) {
    constexpr double seconds = 10;
    auto found = guarded([&] {
        WorkerLink link(cache_directory);
        link.leave_when_stopped();
        return link.devices({.tries_counters = tries_counters}, "", seconds, std::move(stop));
    });
    if (found) return std::move(*found);
    Devices devices;
    devices.cpu = find_cpu();
    devices.gpu_reason = devices.counters_reason = found.error().text;
    return devices;
}

}  // namespace sawtooth
