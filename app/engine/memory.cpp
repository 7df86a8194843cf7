#include "app/engine/memory.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

#include "kernels/core/table.h"

namespace sawtooth {
namespace {

std::optional<int64_t> number_in(const char* path) {
    std::ifstream file(path);
    int64_t number = 0;
    if (file >> number) return number;
    return {};
}

}  // namespace

int64_t free_memory_bytes() {
    int64_t available = std::numeric_limits<int64_t>::max();
    std::ifstream file("/proc/meminfo");
    for (std::string word; file >> word;)
        if (word == "MemAvailable:") {
            int64_t kibibytes = 0;
            file >> kibibytes;
            available = kibibytes * 1024;
        }
    const auto limit = number_in("/sys/fs/cgroup/memory.max"),
               used = number_in("/sys/fs/cgroup/memory.current");
    if (limit && used) available = std::min(available, std::max<int64_t>(*limit - *used, 0));
    return available;
}

MemoryNeed needed_memory(const Configuration& configuration, const Machine& machine) {
    const Family& family = *configuration.family;
    Arrays shapes;  // inputs without data
    int64_t inputs = 0, outputs = 0;
    for (const ArraySpec& spec : family.arrays) {
        if (!spec.is_used(configuration.parameters)) continue;
        const Array* const given = find(configuration.given, spec.name);
        if (spec.role == Role::optional && !given) continue;
        Array array;
        array.name = spec.name;
        array.dtype = spec.dtype_for ? spec.dtype_for(configuration.parameters) : spec.dtype;
        array.shape = given ? given->shape : spec.shape_for(configuration.parameters, shapes);
        if (spec.role == Role::output) {
            outputs += array.bytes();
        } else {
            inputs += array.bytes();
            shapes.push_back(std::move(array));
        }
    }
    int64_t largest = 0, together = 0;
    for (const Variant* variant : configuration.variants) {
        const auto plan = plan_on(machine, *variant, configuration.parameters, shapes, true);
        if (!plan) continue;  // it will not run, and says why when it is its turn
        largest = std::max(largest, plan->memory_bytes);
        together += plan->memory_bytes;
    }
    const auto variants = static_cast<int64_t>(configuration.variants.size());
    MemoryNeed need;
    need.host = inputs + 2 * outputs + variants * outputs;
    if (machine.backend() == Backend::cpu) {
        need.host += largest;
    } else {
        need.device = largest + GpuTimer::scratch_bytes(machine.chip);
        need.device_together = together + GpuTimer::scratch_bytes(machine.chip);
    }
    return need;
}

std::optional<Error> check_memory(int64_t needed, std::optional<int64_t> limit) {
    const int64_t allowed = limit ? *limit : free_memory_bytes();
    if (needed <= allowed) return {};
    return Error::failure("memory: this needs " + short_bytes(static_cast<double>(needed)) + " and " +
                          short_bytes(static_cast<double>(allowed)) +
                          (limit ? " are allowed; raise --memory-limit or make the shape smaller"
                                 : " are free; make the shape smaller or name fewer variants"));
}

std::optional<Error> check_memory(const MemoryNeed& need, const Machine& machine,
                                  std::optional<int64_t> limit) {
    if (auto error = check_memory(need.host, limit)) return error;
    if (!machine.device()) return {};
    const int64_t free = machine.device()->free_bytes();
    const int64_t allowed = limit ? std::min(*limit, free) : free;
    if (need.device <= allowed) return {};
    return Error::failure("memory: this needs " + short_bytes(static_cast<double>(need.device)) + " on " +
                          machine.chip.name + " and " + short_bytes(static_cast<double>(allowed)) +
                          (limit && *limit <= free
                               ? " are allowed; raise --memory-limit or make the shape smaller"
                               : " are free there; make the shape smaller or name fewer variants"));
}

}  // namespace sawtooth
