#pragma once

#include <string>

#include "app/engine/judge.h"
#include "tests/catch.h"
#include "tests/run_family.h"

// Judges outputs of the CPU like the engine, for tests.
namespace sawtooth {

inline std::vector<OutputVerdict> judged(const Family& family, const std::string& variant,
                                         const Parameters& parameters, const Arrays& inputs,
                                         const Arrays& outputs) {
    const DefinitionRequest request{*family.variant(variant), parameters, inputs, true};
    auto definition = family.definition(request);
    REQUIRE(definition);
    std::vector<Expected> all;
    for (Array& want : *definition) all.push_back({std::move(want)});
    const Rounding rounding = rounding_of(family, request.variant, parameters, Backend::cpu);
    REQUIRE_FALSE(add_spread(family, request, rounding, 2, all));
    std::vector<OutputVerdict> verdicts;
    for (const Expected& expected : all) {
        const Array* const got = find(outputs, expected.want.name);
        REQUIRE(got);
        verdicts.push_back(judge(*got, expected, rounding, storage_of(*family.array(got->name), parameters)));
    }
    return verdicts;
}

// The definition of every variant, without noise, against the reference: the largest relative distance in L2.
inline double distance_of_definitions(const Family& family, const Parameters& parameters,
                                      const Arrays& inputs) {
    const auto reference = family.reference(parameters, inputs, {});
    REQUIRE(reference);
    double largest = 0;
    for (const Variant& variant : family.variants) {
        const auto definition = family.definition({variant, parameters, inputs, true});
        REQUIRE(definition);
        CHECK(definition->size() == reference->size());
        for (const Array& output : *definition)
            largest = std::max(largest, distance(output, *find(*reference, output.name)));
    }
    return largest;
}

}  // namespace sawtooth
