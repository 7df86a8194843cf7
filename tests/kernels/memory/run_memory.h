#pragma once

#include "kernels/memory/family.h"
#include "kernels/memory/parts.h"
#include "kernels/memory/strategies.h"
#include "tests/kit/run_family.h"

// Helpers for tests of the family memory.
namespace sawtooth::memory_facts {

inline Parameters parameters_with(const Settings& settings) { return settled(memory_family(), settings); }

// Generated inputs, on request with optional states, which are smaller than states after one token.
inline Arrays inputs_for(const Parameters& parameters, bool with_optional = true, uint64_t seed = 1) {
    Arrays inputs = generated_inputs(memory_family(), parameters, with_optional, seed);
    const Storage storage = storage_named(parameters.text("dtype"));
    for (Array& input : inputs) {
        if (memory_family().array(input.name)->role != Role::optional) continue;
        for (float& value : input.as<float>()) value *= 0.1f;
        cpu::round_to(storage, input.as<float>().data(), input.count());
    }
    return inputs;
}

inline void fill(Arrays& inputs, const char* name, float value) {
    if (Array* const array = find(inputs, name))
        for (float& number : array->as<float>()) number = value;
}

// Names of the strategies that accept the parameters.
inline std::vector<std::string> strategies_for(const Parameters& parameters) {
    std::vector<std::string> names;
    for (const Variant& variant : memory_family().variants)
        if (!variant.refusal(parameters, Chip{})) names.push_back(variant.name);
    return names;
}

inline bool is_exact(const std::string& strategy, const Parameters& parameters) {
    return memory_family().variant(strategy)->is_exact(parameters);
}

inline Ran run(const std::string& strategy, const Parameters& parameters, const Arrays& inputs,
               cpu::Pool& pool = pool_of_one()) {
    return run(memory_family(), strategy, parameters, inputs, pool);
}

inline Plan plan_of(const std::string& strategy, const Parameters& parameters, const Arrays& inputs,
                    bool dry = false) {
    return plan_on_cpu(memory_family(), strategy, parameters, inputs, dry);
}

inline Arrays reference_for(const Parameters& parameters, const Arrays& inputs) {
    Arrays all = *memory::reference(parameters, inputs, {});
    const auto at_chunks = memory::reference_at_chunks(parameters, inputs, true, {});
    all.insert(all.end(), at_chunks->begin(), at_chunks->end());
    return all;
}

inline DefinitionRequest definition_request(const std::string& strategy, const Parameters& parameters,
                                            const Arrays& inputs) {
    return {*memory_family().variant(strategy), parameters, inputs, true};
}

// All outputs of the strategy in float64, by its own rule.
inline Arrays definition_of(const std::string& strategy, const Parameters& parameters, const Arrays& inputs) {
    return *memory::definition(definition_request(strategy, parameters, inputs));
}

}  // namespace sawtooth::memory_facts
