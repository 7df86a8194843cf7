#pragma once

#include "kernels/lut/family.h"
#include "kernels/lut_sequence/family.h"
#include "tests/kit/catch.h"
#include "tests/kit/run_judge.h"

// Helpers for tests of the families lut and lut_sequence.
namespace sawtooth::lut_facts {

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
    Outcome<Arrays> run(const Implementation& implementation) const {
        return implementation.outcome(parameters, inputs);
    }
};

// Returns settings of the family lut, with gradients.
inline Settings sized(int64_t batch, int64_t inputs, int64_t outputs, int64_t detectors, int64_t anchors,
                      const Settings& more = {}) {
    const Settings settings = {{"batch", batch},     {"inputs", inputs},
                               {"outputs", outputs}, {"detectors", detectors},
                               {"backward", true},   {"anchors_per_detector", anchors}};
    return with(settings, more);
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
    check_on_every_backend(problem.parameters, problem.inputs);
}

}  // namespace sawtooth::lut_facts
