#include "app/engine/machine/memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <set>
#include <string>

#include "app/engine/files/files.h"
#include "app/engine/run/definitions.h"
#include "kernels/core/integers.h"
#include "kernels/core/table.h"

namespace sawtooth {
namespace {

// The number that follows a word of the file.
std::optional<int64_t> number_after(std::string_view name, const std::string& path) {
    std::ifstream file(path);
    int64_t number = 0;
    for (std::string word; file >> word;)
        if (word == name && file >> number) return number;
    return {};
}

int64_t bytes_of(const Shape& shape, Dtype dtype) {
    int64_t bytes = sawtooth::bytes_of(dtype);
    for (const int64_t extent : shape) bytes = saturating_multiply(bytes, extent);
    return bytes;
}

// The given inputs, the generated ones without data, and the sizes of outputs.
struct Shapes {
    const Configuration& configuration;
    Arrays inputs;
    int64_t input_bytes = 0;

    explicit Shapes(const Configuration& settled) : configuration(settled) {
        for (const ArraySpec& spec : configuration.family->arrays) {
            const Array* const given = find(configuration.given, spec.name);
            const bool absent = spec.role == Role::optional && !given && !configuration.with_optional;
            if (spec.role == Role::output || absent || !spec.is_used(configuration.parameters)) continue;
            const Array array = given ? *given
                                      : Array{spec.name, spec.dtype_with(configuration.parameters),
                                              spec.shape_for(configuration.parameters, inputs), nullptr};
            input_bytes = saturating_add(input_bytes, bytes_of(array.shape, array.dtype));
            inputs.push_back(array);
        }
    }
    // The bytes of the outputs of a variant; null: of the reference.
    int64_t output_bytes(const Variant* variant, bool with_extras) const {
        const Parameters& parameters = configuration.parameters;
        int64_t bytes = 0;
        for (const ArraySpec& spec : configuration.family->arrays) {
            if (spec.role != Role::output || !spec.is_used(parameters)) continue;
            if (spec.extra && !with_extras) continue;
            const Shape shape =
                variant ? variant->shape_of(spec, parameters, inputs) : spec.shape_for(parameters, inputs);
            bytes = saturating_add(bytes, bytes_of(shape, spec.dtype_with(parameters)));
        }
        return bytes;
    }
};

// Nothing if it has no limit.
std::optional<int64_t> free_bytes_of_address_space() {
    rlimit limit{};
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return {};
    const auto pages = leading_number_in("/proc/self/statm");
    if (!pages) return {};
    return std::max<int64_t>(0, static_cast<int64_t>(limit.rlim_cur) - *pages * sysconf(_SC_PAGESIZE));
}

}  // namespace

std::optional<int64_t> free_bytes_of_group(const std::string& folder) {
    const auto limit = leading_number_in(folder + "/memory.max"),
               used = leading_number_in(folder + "/memory.current");
    if (!limit || !used) return {};
    const int64_t cached = number_after("inactive_file", folder + "/memory.stat").value_or(0);
    return std::clamp<int64_t>(*limit - *used + cached, 0, *limit);
}

int64_t free_memory_bytes() {
    constexpr int64_t most = std::numeric_limits<int64_t>::max();
    const auto kibibytes = number_after("MemAvailable:", "/proc/meminfo");
    return std::min({kibibytes ? *kibibytes * 1024 : most,
                     free_bytes_of_group("/sys/fs/cgroup").value_or(most),
                     free_bytes_of_address_space().value_or(most)});
}

MemoryNeed needed_memory(const Configuration& configuration, const Machine& machine, bool stores_extras) {
    const Shapes shapes(configuration);
    MemoryNeed need;
    // The reference is f64; one with chosen rows is smaller.
    const int64_t reference_bytes = saturating_multiply(2, shapes.output_bytes(nullptr, stores_extras));
    const Family& family = *configuration.family;
    const int64_t computing_bytes =
        family.definition_bytes ? family.definition_bytes(configuration.parameters) : 0;
    std::set<std::string> definitions;
    for (const Variant* variant : configuration.variants) definitions.insert(variant->definition);
    need.host = saturating_add(saturating_add(shapes.input_bytes, reference_bytes),
                               judging_bytes(reference_bytes, computing_bytes, std::ssize(definitions),
                                             may_diverge(family, configuration.parameters)));
    const bool on_cpu = machine.backend() == Backend::cpu;
    int64_t largest_on_host = 0, all_on_host = 0;
    const Chip chip = planned_chip(machine.chip, configuration.multiprocessors);
    for (const Variant* variant : configuration.variants) {
        if (variant->refusal(configuration.parameters, chip)) continue;
        const auto plan = make_plan({.family = *configuration.family,
                                     .variant = *variant,
                                     .parameters = configuration.parameters,
                                     .inputs = shapes.inputs,
                                     .dry = true,
                                     .device = machine.device(),
                                     .multiprocessors = configuration.multiprocessors,
                                     .workers = machine.workers(),
                                     .stores_extras = stores_extras});
        if (!plan) continue;  // it will not run; the reason is reported later
        const int64_t outputs = shapes.output_bytes(variant, stores_extras);
        need.host = saturating_add(need.host, outputs);
        const int64_t of_plan = saturating_add(plan->launch_bytes, on_cpu ? plan->memory_bytes : 0);
        // The outputs of the last repeat are kept, too.
        const int64_t repeated = saturating_add(of_plan, outputs);
        largest_on_host = std::max(largest_on_host, repeated);
        all_on_host = saturating_add(all_on_host, repeated);
        if (on_cpu) continue;
        need.device = std::max(need.device, plan->memory_bytes);
        need.device_together = saturating_add(need.device_together, plan->memory_bytes);
    }
    need.host_together = saturating_add(need.host, all_on_host);
    need.host = saturating_add(need.host, largest_on_host);
    if (!on_cpu)
        for (int64_t* const bytes : {&need.device, &need.device_together})
            *bytes = saturating_add(*bytes, GpuTimer::scratch_bytes(machine.chip));
    return need;
}

bool stores_extras(const Configuration& configuration, Extras extras) {
    constexpr int64_t most_drawable = 32 << 20;
    const Shapes shapes(configuration);
    int64_t bytes = 0;
    for (const Variant* variant : configuration.variants)
        bytes = std::max(bytes, shapes.output_bytes(variant, true) - shapes.output_bytes(variant, false));
    if (bytes == 0 || extras == Extras::none) return false;
    return extras == Extras::all || bytes <= most_drawable;
}

namespace {

std::string too_little(bool limited) {
    return limited ? " is allowed. Raise --memory-limit or use a smaller shape"
                   : " is free. Use a smaller shape or name fewer variants";
}

}  // namespace

std::optional<Error> check_memory(int64_t needed, std::optional<int64_t> limit) {
    const int64_t allowed = limit ? *limit : free_memory_bytes();
    if (needed <= allowed) return {};
    return Error::failure("out of memory: this run needs " + short_bytes(static_cast<double>(needed)) + "; " +
                          short_bytes(static_cast<double>(allowed)) + too_little(limit.has_value()));
}

bool fit_together(const MemoryNeed& need, const Machine& machine, std::optional<int64_t> limit) {
    if (need.host_together > (limit ? *limit : free_memory_bytes())) return false;
    return !machine.device() || need.device_together <= machine.device()->free_bytes() / 2;
}

std::optional<Error> check_memory(const MemoryNeed& need, const Machine& machine,
                                  std::optional<int64_t> limit) {
    if (auto error = check_memory(need.host, limit)) return error;
    if (!machine.device()) return {};
    const int64_t free = machine.device()->free_bytes();
    const int64_t allowed = limit ? std::min(*limit, free) : free;
    if (need.device <= allowed) return {};
    return Error::failure("out of memory: this run needs " + short_bytes(static_cast<double>(need.device)) +
                          " on " + machine.chip.name + "; " + short_bytes(static_cast<double>(allowed)) +
                          too_little(limit.has_value()));
}

}  // namespace sawtooth
