#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/cpu/half.h"
#include "kernels/cpu/pool.h"
#include "kernels/families.h"
#include "profiling/measure.h"
#include "tests/kit/catch.h"

// Runs variants of any family as the engine does, for tests.
namespace sawtooth {

using Settings = std::vector<std::pair<std::string, Value>>;
inline Settings with(Settings settings, const Settings& more) {
    settings.insert(settings.end(), more.begin(), more.end());
    return settings;
}

inline const Chip processor{Backend::cpu, "a processor", "x86-64", 8, 0, int64_t{1} << 34};

// The defaults, overwritten by the settings and then by the automatic values, in the order of the engine.
inline Parameters settled(const Family& family, const Settings& settings = {}, const Arrays& given = {},
                          Backend backend = Backend::cpu) {
    Parameters parameters = family.defaults();
    for (const auto& [name, value] : settings) parameters.set(name, value);
    if (family.settle) family.settle(parameters, given, backend);
    return parameters;
}

// Returns the family whose schema has these parameters, so that functions that take them need no family.
inline const Family& family_of(const Parameters& parameters) {
    constexpr auto name = &std::pair<const std::string, Value>::first;
    for (const Family* family : all_families())
        if (std::ranges::equal(family->defaults().values, parameters.values, {}, name, name)) return *family;
    throw std::logic_error("parameters of no family");
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
inline Arrays generated_inputs(const Parameters& parameters, bool with_optional = false, uint64_t seed = 1) {
    return generated_inputs(family_of(parameters), parameters, with_optional, seed);
}

inline Arrays reference_for(const Parameters& parameters, const Arrays& inputs) {
    const Family& family = family_of(parameters);
    Arrays all = *family.reference(parameters, inputs, {});
    if (!family.kernel_reference) return all;
    const Arrays of_kernels = *family.kernel_reference(parameters, inputs, true, {});
    all.insert(all.end(), of_kernels.begin(), of_kernels.end());
    return all;
}

template <class Number>
Array filled(std::string name, Dtype dtype, Shape shape, const std::vector<Number>& values) {
    Array array = Array::uninitialised(std::move(name), dtype, std::move(shape));
    REQUIRE(array.as<Number>().size() == values.size());
    std::ranges::copy(values, array.as<Number>().begin());
    return array;
}
inline Array floats(std::string name, Shape shape, const std::vector<float>& values) {
    return filled(std::move(name), Dtype::f32, std::move(shape), values);
}
inline Array integers(std::string name, Shape shape, const std::vector<int32_t>& values) {
    return filled(std::move(name), Dtype::int32, std::move(shape), values);
}
inline void fill(Array& array, float value) { std::ranges::fill(array.as<float>(), value); }

// Returns the arrays [batch, heads, ...] with the heads of all sequences in reverse order.
inline Arrays reversed_heads(const Arrays& arrays) {
    Arrays all;
    for (const Array& array : arrays) {
        all.push_back(Array::uninitialised(array.name, array.dtype, array.shape));
        const int64_t heads = array.shape[0] * array.shape[1], numbers = array.count() / heads;
        for (int64_t head = 0; head < heads; ++head)
            std::copy_n(array.as<float>().begin() + head * numbers, numbers,
                        all.back().as<float>().begin() + (heads - 1 - head) * numbers);
    }
    return all;
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

// Returns the names of the launches of a plan or of what ran.
template <class Launched>
std::vector<std::string> names_of(const Launched& launched) {
    std::vector<std::string> names;
    for (const auto& launch : launched.launches) names.push_back(launch.info->name);
    return names;
}

// Runs the same plan twice, so that data left by one run cannot hide an error of the next.
inline Outcome<Arrays> outcome_on(cpu::Pool& pool, const Plan& plan, std::vector<LaunchRecord>& launches) {
    for (int repeat = 0; repeat < 2; ++repeat) run_plan(plan, pool, Cache::hot, launches);
    return plan.outputs();
}
inline Ran run(const Plan& plan, cpu::Pool& pool) {
    Ran ran;
    ran.outputs = *outcome_on(pool, plan, ran.launches);
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
inline Ran run(const std::string& variant, const Parameters& parameters, const Arrays& inputs,
               cpu::Pool& pool = pool_of_one()) {
    return run(family_of(parameters), variant, parameters, inputs, pool);
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
