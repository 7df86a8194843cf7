#pragma once

#include <functional>

#include "kernels/lut/family.h"
#include "kernels/lut_sequence/family.h"
#include "tests/kit/catch.h"
#include "tests/kit/run_judge.h"

// Helpers for tests of the families lut and lut_sequence.
namespace sawtooth::lut_facts {

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

// The parameters of either family and its inputs: the given arrays, and others that are generated.
struct Problem {
    const Family& family;
    Parameters parameters;
    Arrays inputs;

    Problem(const Family& schema, const Settings& settings, const Arrays& given = {}, uint64_t seed = 1)
        : family(schema), parameters(settled(schema, settings, given)) {
        for (const ArraySpec& row : family.arrays) {
            if (row.role == Role::output || !row.is_used(parameters)) continue;
            if (const Array* const array = find(given, row.name))
                inputs.push_back(*array);
            else if (row.role != Role::optional)
                inputs.push_back(family.generate(row, parameters, inputs, Random(seed, row.name), {}));
        }
    }

    Array& operator[](std::string_view name) { return *find(inputs, name); }
    const Array& operator[](std::string_view name) const { return *find(inputs, name); }

    Outcome<Arrays> reference() const { return family.reference(parameters, inputs, {}); }
    // Returns the outputs of a variant on the CPU, with their own data.
    Outcome<Arrays> run(const std::string& variant, cpu::Pool& pool = pool_of_one()) const {
        const Plan plan = plan_on_cpu(family, variant, parameters, inputs);
        std::vector<LaunchRecord> launches;
        // Two runs, so that an error caused by what the first leaves behind shows.
        for (int repeat = 0; repeat < 2; ++repeat) run_plan(plan, pool, Cache::hot, launches);
        auto outputs = plan.outputs();
        return outputs ? Outcome<Arrays>(copied(*outputs)) : outputs;
    }
    Outcome<Arrays> run_on(cuda::Device& device, const std::string& variant) const {
        const Plan plan = plan_on_device(device, family, variant, parameters, inputs);
        GpuTimer timer(device);
        for (int repeat = 0; repeat < 2; ++repeat)
            if (auto error = timer.run(plan)) return *error;
        return plan.outputs();
    }
};

// Returns settings of the family lut, with gradients.
inline Settings sized(int64_t batch, int64_t inputs, int64_t outputs, int64_t detectors, int64_t anchors,
                      Settings more = {}) {
    Settings settings = {{"batch", batch},         {"inputs", inputs}, {"outputs", outputs},
                         {"detectors", detectors}, {"backward", true}, {"anchors_per_detector", anchors}};
    settings.insert(settings.end(), more.begin(), more.end());
    return settings;
}

// A problem of the family lut in integer arithmetic, whose detectors have 0 as their only difference: each
// adds its weight to y of every item, and all dy to its gradient.
inline Problem sums_of(const std::vector<float>& weights, const std::vector<float>& dy, double rescale,
                       double lr = 1) {
    std::vector<float> rows;
    for (const float weight : weights) rows.insert(rows.end(), {weight, weight});
    const auto detectors = static_cast<int64_t>(weights.size()), batch = static_cast<int64_t>(dy.size());
    return Problem(
        lut_family(),
        sized(batch, 1, 1, detectors, 1, {{"arithmetic", "integer"}, {"rescale", rescale}, {"lr", lr}}),
        {integers("anchors", {detectors, 1, 2}, std::vector<int32_t>(weights.size() * 2)),
         floats("weights", {detectors, 2, 1}, rows), floats("dy", {batch, 1}, dy)});
}

// A variant on a backend.
struct Implementation {
    std::string name;  // "fused on the CPU"
    std::function<Outcome<Arrays>(const Problem&)> run;
};
// Returns all variants on the CPU, and on the GPU if there is one.
inline std::vector<Implementation> implementations(const Family& family) {
    static cuda::Device* const device = gpu();
    std::vector<Implementation> all;
    for (const Variant& variant : family.variants) {
        all.push_back({variant.name + " on the CPU",
                       [&variant](const Problem& problem) { return problem.run(variant.name); }});
        if (device && variant.plan_cuda)
            all.push_back({variant.name + " on the GPU", [&variant](const Problem& problem) {
                               return problem.run_on(*device, variant.name);
                           }});
    }
    return all;
}

inline std::vector<double> values_of(const Array& array) {
    std::vector<double> values;
    for (int64_t i = 0; i < array.count(); ++i) values.push_back(array.value(i).real());
    return values;
}
// Returns the relative L2 distance of the values, whatever their shapes.
inline double distance_of_values(Array output, Array wanted) {
    output.shape = {output.count()};
    wanted.shape = {wanted.count()};
    return distance(output, wanted);
}

inline std::vector<double> values_of(const Outcome<Arrays>& outputs, std::string_view name) {
    REQUIRE(outputs);
    const Array* const array = find(*outputs, name);
    REQUIRE(array);
    return values_of(*array);
}

inline void check_variants(const Problem& problem) {
    for (const Backend backend : backends())
        check_variants(problem.family, problem.parameters, problem.inputs, backend);
}

}  // namespace sawtooth::lut_facts
