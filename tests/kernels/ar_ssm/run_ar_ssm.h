#pragma once

#include <functional>

#include "kernels/ar_ssm/family.h"
#include "kernels/ar_ssm/parts.h"
#include "tests/kernels/cuda/cuda_devices.h"
#include "tests/kit/run_family.h"

// Helpers for tests of the family ar_ssm.
namespace sawtooth::ar_ssm_facts {

inline const std::vector<std::string> weights = {"conv",   "gate_w1", "gate_b1",  "gate_w2", "gate_b2",
                                                 "u_proj", "v_proj",  "out_proj", "out_bias"};

inline Parameters parameters_with(const Settings& settings) { return settled(ar_ssm_family(), settings); }
inline Arrays reference_for(const Parameters& parameters, const Arrays& inputs) {
    return *ar_ssm::reference(parameters, inputs, {});
}

inline void fill(Array& array, float value) {
    for (float& number : array.as<float>()) number = value;
}

// Generated inputs, whose biases are multiples of 1/8, which every dtype holds.
inline Arrays inputs_for(const Parameters& parameters, uint64_t seed = 1) {
    Arrays inputs = generated_inputs(ar_ssm_family(), parameters, false, seed);
    for (const char* name : {"gate_b1", "gate_b2", "out_bias"}) {
        Random random(seed, name);
        for (float& bias : find(inputs, name)->as<float>())
            bias = static_cast<float>(std::round(8 * random.normal()) / 8);
    }
    return inputs;
}

// A variant on a backend.
struct Implementation {
    std::string name;  // "fused on the CPU"
    const Variant& variant;
    Backend backend;
    std::function<Arrays(const Parameters&, const Arrays&)> run;
};
// All variants on the CPU, and on the GPU if there is one.
inline std::vector<Implementation> implementations() {
    static cuda::Device* const device = gpu();
    std::vector<Implementation> all;
    for (const Variant& variant : ar_ssm_family().variants) {
        all.push_back({variant.name + " on the CPU", variant, Backend::cpu,
                       [&variant](const Parameters& parameters, const Arrays& inputs) {
                           return run(ar_ssm_family(), variant.name, parameters, inputs).outputs;
                       }});
        if (device)
            all.push_back({variant.name + " on the GPU", variant, Backend::cuda,
                           [&variant](const Parameters& parameters, const Arrays& inputs) {
                               return run_on_device(*device, ar_ssm_family(), variant.name, parameters,
                                                    inputs);
                           }});
    }
    return all;
}

}  // namespace sawtooth::ar_ssm_facts
