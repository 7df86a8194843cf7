#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/core/family.h"
#include "kernels/cpu/half.h"
#include "kernels/cpu/pool.h"
#include "profiling/measure.h"

// Runs variants of any family as the engine does, for tests.
namespace sawtooth {

using Settings = std::vector<std::pair<std::string, Value>>;

inline const Chip processor{Backend::cpu, "a processor", "x86-64", 8, 0, int64_t{1} << 34};

// The defaults, overwritten by the settings and then by the automatic values, in the order of the engine.
inline Parameters settled(const Family& family, const Settings& settings = {}, const Arrays& given = {},
                          Backend backend = Backend::cpu) {
    Parameters parameters = family.defaults();
    for (const auto& [name, value] : settings) parameters.set(name, value);
    if (family.settle) family.settle(parameters, given, backend);
    return parameters;
}

// Calls each(row) for every input that these parameters use.
template <class Each>
void for_each_input(const Family& family, const Parameters& parameters, bool with_optional, Each&& each) {
    for (const ArraySpec& row : family.arrays) {
        if (row.role == Role::output || !row.is_used(parameters)) continue;
        if (row.role == Role::optional && !with_optional) continue;
        each(row);
    }
}

// Generated inputs, rounded to the dtype.
inline Arrays generated_inputs(const Family& family, const Parameters& parameters, bool with_optional = false,
                               uint64_t seed = 1) {
    const Storage storage = parameters.has("dtype") ? storage_named(parameters.text("dtype")) : Storage::f32;
    Arrays inputs;
    for_each_input(family, parameters, with_optional, [&](const ArraySpec& row) {
        Array array = family.generate(row, parameters, inputs, Random(seed, row.name), {});
        if (row.rounded && array.dtype == Dtype::f32)
            cpu::round_to(storage, array.as<float>().data(), array.count());
        inputs.push_back(std::move(array));
    });
    return inputs;
}

inline std::vector<std::string> variant_names(const Family& family) {
    std::vector<std::string> names;
    for (const Variant& variant : family.variants) names.push_back(variant.name);
    return names;
}

// A pool with one thread: several wake slowly if tests share a machine, and another test checks that bits do
// not depend on the number of threads.
inline cpu::Pool& pool_of_one() {
    static cpu::Pool pool(1);
    return pool;
}

struct Ran {
    Arrays outputs;
    std::vector<LaunchRecord> launches;

    const Array& operator[](std::string_view name) const { return *find(outputs, name); }
    Tally tally() const {
        Tally sum;
        for (const LaunchRecord& launch : launches) sum += launch.tally;
        return sum;
    }
};

// Runs the same plan twice, so that data left by one run cannot hide an error of the next.
inline Ran run(const Plan& plan, cpu::Pool& pool) {
    Ran ran;
    for (int repeat = 0; repeat < 2; ++repeat) run_plan(plan, pool, Cache::hot, ran.launches);
    ran.outputs = *plan.outputs();
    return ran;
}

// The variant itself, or if it does not run on the CPU, the first variant that does: it serves as the
// reference.
inline const Variant& variant_on_cpu(const Family& family, const std::string& name) {
    const Variant& named = *family.variant(name);
    if (named.runs_on(Backend::cpu)) return named;
    return *std::find_if(family.variants.begin(), family.variants.end(),
                         [](const Variant& variant) { return variant.runs_on(Backend::cpu); });
}

inline Plan plan_on_cpu(const Family& family, const std::string& variant, const Parameters& parameters,
                        const Arrays& inputs, bool dry = false) {
    return std::move(*make_plan({.family = family,
                                 .variant = variant_on_cpu(family, variant),
                                 .parameters = parameters,
                                 .inputs = inputs,
                                 .dry = dry,
                                 .stores_extras = true}));
}

inline Ran run(const Family& family, const std::string& variant, const Parameters& parameters,
               const Arrays& inputs, cpu::Pool& pool = pool_of_one()) {
    return run(plan_on_cpu(family, variant, parameters, inputs), pool);
}

// The relative L2 distance; absolute if all expected values are below the range of f32; infinite if either
// array has values that are not finite.
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
    if (left.size() != right.size()) return false;
    for (size_t i = 0; i < left.size(); ++i)
        if (!same_bits(left[i], right[i])) return false;
    return true;
}

// The number of values that are not of the expected kind (NaN, infinite, finite).
inline int64_t differing_in_kind(const Array& got, const Array& wanted) {
    int64_t differing = 0;
    for (int64_t i = 0; i < wanted.count(); ++i) {
        const double is = got.value(i).real(), should = wanted.value(i).real();
        differing += !(std::isnan(should)   ? std::isnan(is)
                       : std::isinf(should) ? is == should
                                            : std::isfinite(is));
    }
    return differing;
}

}  // namespace sawtooth
