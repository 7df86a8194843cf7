#pragma once

#include "kernels/memory/family.h"
#include "kernels/memory/parts.h"
#include "kernels/memory/strategies.h"
#include "tests/kit/run_family.h"

// Helpers for tests of the family memory.
namespace sawtooth::memory_facts {

inline Parameters parameters_with(const Settings& settings) { return settled(memory_family(), settings); }

// Generated inputs, on request with optional states, which are smaller than states after one token. Without
// omega_windows: all windows are omega_window.
inline Arrays inputs_for(const Parameters& parameters, bool with_optional = true, uint64_t seed = 1) {
    Arrays inputs = generated_inputs(memory_family(), parameters, with_optional, seed);
    const Storage storage = storage_named(parameters.text("dtype"));
    std::erase_if(inputs, [](const Array& input) { return input.name == "omega_windows"; });
    for (Array& input : inputs) {
        if (memory_family().array(input.name)->role != Role::optional) continue;
        for (float& value : input.as<float>()) value *= 0.1f;
        cpu::round_to(storage, input.as<float>().data(), input.count());
    }
    return inputs;
}

// The same for the rule atlas_omega, with a window of every token from 1 to omega_window.
inline Arrays inputs_with_windows(const Parameters& parameters) {
    Arrays inputs = inputs_for(parameters);
    inputs.push_back(memory_family().generate(*memory_family().array("omega_windows"), parameters, inputs,
                                              Random(2, "omega_windows"), {}));
    return inputs;
}

inline void fill(Arrays& inputs, const char* name, float value) {
    if (Array* const array = find(inputs, name)) sawtooth::fill(*array, value);
}

inline const std::vector<const char*> every_rule = {"titans",      "delta",   "hebbian", "atlas",
                                                    "atlas_omega", "lattice", "trellis"};
// Static, because GENERATE expands to other names in every file.
static inline std::string any_rule() { return GENERATE(from_range(every_rule)); }

// Names of the strategies that accept the parameters.
inline std::vector<std::string> strategies_for(const Parameters& parameters, const Chip& chip = {}) {
    std::vector<std::string> names;
    for (const Variant& variant : memory_family().variants)
        if (!variant.refusal(parameters, chip)) names.push_back(variant.name);
    return names;
}

inline bool is_exact(const std::string& strategy, const Parameters& parameters) {
    return memory_family().variant(strategy)->is_exact(parameters);
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
