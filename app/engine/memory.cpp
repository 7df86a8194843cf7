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

// Inputs without data, and what outputs will take.
struct Shapes {
    const Configuration& configuration;
    Arrays inputs;
    int64_t input_bytes = 0;

    explicit Shapes(const Configuration& of) : configuration(of) {
        for (const ArraySpec& spec : of.family->arrays) {
            const Array* const given = find(of.given, spec.name);
            const bool absent = spec.role == Role::optional && !given;
            if (spec.role == Role::output || absent || !spec.is_used(of.parameters)) continue;
            Array array;
            array.name = spec.name;
            array.dtype = dtype_of(spec);
            array.shape = given ? given->shape : spec.shape_for(of.parameters, inputs);
            input_bytes += array.bytes();
            inputs.push_back(std::move(array));
        }
    }
    Dtype dtype_of(const ArraySpec& spec) const {
        return spec.dtype_for ? spec.dtype_for(configuration.parameters) : spec.dtype;
    }
    bool has_output(const ArraySpec& spec, bool extras) const {
        return spec.role == Role::output && spec.is_used(configuration.parameters) && (extras || !spec.extra);
    }
    int64_t bytes_of(const ArraySpec& spec, const Variant* variant) const {
        const Parameters& parameters = configuration.parameters;
        return count_of(variant && variant->shape ? variant->shape(spec, parameters, inputs)
                                                  : spec.shape_for(parameters, inputs)) *
               sawtooth::bytes_of(dtype_of(spec));
    }
};

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

int64_t needed_memory_bytes(const Configuration& configuration, bool with_extras) {
    const Shapes shapes(configuration);
    int64_t reference = 0, outputs = 0, largest_plan = 0;
    for (const ArraySpec& spec : configuration.family->arrays)
        if (shapes.has_output(spec, with_extras)) reference += 2 * shapes.bytes_of(spec, nullptr);
    for (const Variant* variant : configuration.variants) {
        if (variant->check && variant->check(configuration.parameters, cpu_chip())) continue;
        for (const ArraySpec& spec : configuration.family->arrays)
            if (shapes.has_output(spec, with_extras)) outputs += shapes.bytes_of(spec, variant);
        const PlanRequest dry{configuration.parameters, shapes.inputs, true, with_extras};
        largest_plan = std::max(largest_plan, variant->plan_cpu(dry).memory_bytes);
    }
    return shapes.input_bytes + reference + outputs + largest_plan;
}

bool stores_extras(const Configuration& configuration, Extras extras) {
    constexpr int64_t drawable_bytes = 32 << 20;
    if (extras != Extras::drawable) return extras == Extras::all;
    const Shapes shapes(configuration);
    for (const Variant* variant : configuration.variants)
        for (const ArraySpec& spec : configuration.family->arrays)
            if (spec.extra && shapes.has_output(spec, true) &&
                shapes.bytes_of(spec, variant) > drawable_bytes)
                return false;
    return true;
}

std::optional<Error> check_memory(int64_t needed, std::optional<int64_t> limit) {
    const int64_t allowed = limit ? *limit : free_memory_bytes();
    if (needed <= allowed) return {};
    return Error::failure("memory: this needs " + short_bytes(static_cast<double>(needed)) + " and " +
                          short_bytes(static_cast<double>(allowed)) +
                          (limit ? " are allowed; raise --memory-limit or make the shape smaller"
                                 : " are free; make the shape smaller or name fewer variants"));
}

}  // namespace sawtooth
