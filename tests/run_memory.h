#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/core/family.h"
#include "kernels/cpu/half.h"
#include "kernels/cpu/pool.h"
#include "kernels/memory/family.h"
#include "kernels/memory/parts.h"
#include "kernels/memory/strategies.h"
#include "profiling/measure.h"

namespace sawtooth::memory_facts {

// What the tests of the memory rules share.

using Settings = std::vector<std::pair<std::string, Value>>;

inline Parameters parameters_with(const Settings& settings) {
    Parameters parameters = memory_family().defaults();
    for (const auto& [name, value] : settings) parameters.set(name, value);
    return parameters;
}

// Generated inputs, rounded to the dtype; optional states too where asked for, smaller than one token makes
// them.
inline Arrays inputs_for(const Parameters& parameters, bool with_optional = true, uint64_t seed = 1) {
    Arrays inputs;
    for (const ArraySpec& spec : memory_family().arrays) {
        if (spec.role == Role::output || !spec.is_used(parameters)) continue;
        if (spec.role == Role::optional && !with_optional) continue;
        inputs.push_back(memory::generate(spec, parameters, inputs, Random(seed, spec.name), {}));
        const auto values = inputs.back().as<float>();
        if (spec.role == Role::optional)
            for (float& value : values) value *= 0.1f;
        cpu::round_to(cpu::precision_named(parameters.text("dtype")), values.data(), inputs.back().count());
    }
    return inputs;
}

inline void fill(Arrays& inputs, const char* name, float value) {
    if (Array* const array = find(inputs, name))
        for (float& number : array->as<float>()) number = value;
}

// Names of the strategies that go with the parameters.
inline std::vector<std::string> strategies_for(const Parameters& parameters) {
    std::vector<std::string> names;
    for (const Variant& variant : memory_family().variants)
        if (!variant.check(parameters, Chip{})) names.push_back(variant.name);
    return names;
}

inline const memory::Strategy& strategy_named(const std::string& name) {
    const auto& all = memory::strategies();
    return *std::find_if(all.begin(), all.end(), [&](const auto& row) { return row.name == name; });
}

// One thread: others wake slowly where tests share a machine, and a test of its own says that bits do not
// depend on them.
inline cpu::Pool& pool_of_one() {
    static cpu::Pool pool(1);
    return pool;
}

struct Ran {
    Arrays outputs;
    std::vector<LaunchRecord> launches;

    const Array& operator[](std::string_view name) const { return *find(outputs, name); }
    int64_t combines() const {
        int64_t sum = 0;
        for (const LaunchRecord& launch : launches) sum += launch.tally.combines;
        return sum;
    }
};

// Run twice over the same plan, so that what a run leaves behind cannot help the next.
inline Ran run(const Plan& plan, cpu::Pool& pool) {
    Ran ran;
    for (int repeat = 0; repeat < 2; ++repeat) run_plan(plan, pool, Cache::hot, ran.launches);
    ran.outputs = *plan.outputs();
    return ran;
}

inline Ran run(const std::string& strategy, const Parameters& parameters, const Arrays& inputs,
               cpu::Pool& pool = pool_of_one()) {
    const PlanRequest request{.parameters = parameters, .inputs = inputs, .stores_extras = true};
    return run(strategy_named(strategy).plan_cpu(request), pool);
}

inline Arrays reference_for(const Parameters& parameters, const Arrays& inputs) {
    Arrays all = *memory::reference(parameters, inputs, {});
    const auto at_chunks = memory::reference_at_chunks(parameters, inputs, true, {});
    all.insert(all.end(), at_chunks->begin(), at_chunks->end());
    return all;
}

// Relative L2 distance, absolute where all that is wanted is below what an f32 holds; infinite where either
// holds what is not finite.
inline double distance(const Array& output, const Array& wanted) {
    if (output.shape != wanted.shape) return INFINITY;
    double difference = 0, square = 0;
    for (int64_t i = 0; i < output.count(); ++i) {
        difference += std::norm(output.value(i) - wanted.value(i));
        square += std::norm(wanted.value(i));
    }
    const double ratio = square > 1e-70 ? std::sqrt(difference / square) : std::sqrt(difference);
    return std::isfinite(ratio) ? ratio : INFINITY;
}

inline bool same_bits(const Array& left, const Array& right) {
    return left.shape == right.shape &&
           std::memcmp(left.data.get(), right.data.get(), static_cast<size_t>(left.bytes())) == 0;
}

inline bool same_bits(const Arrays& left, const Arrays& right) {
    return left.size() == right.size() &&
           std::equal(left.begin(), left.end(), right.begin(),
                      [](const Array& one, const Array& other) { return same_bits(one, other); });
}

}  // namespace sawtooth::memory_facts
