#pragma once

#include "kernels/ar_ssm/family.h"
#include "kernels/ar_ssm/parts.h"
#include "tests/kit/run_family.h"

// Helpers for tests of the family ar_ssm.
namespace sawtooth::ar_ssm_facts {

inline const std::vector<std::string> weights = {"conv",   "gate_w1", "gate_b1",  "gate_w2", "gate_b2",
                                                 "u_proj", "v_proj",  "out_proj", "out_bias"};

inline Parameters parameters_with(const Settings& settings) { return settled(ar_ssm_family(), settings); }

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

// Returns settings for two sequences, with gradients.
inline Settings sized(int64_t length, int64_t width, int64_t rank, int64_t hidden,
                      const Settings& more = {}) {
    const Settings settings = {{"batch", int64_t{2}}, {"length", length},      {"d_model", width},
                               {"max_rank", rank},    {"gate_hidden", hidden}, {"backward", true}};
    return with(settings, more);
}

}  // namespace sawtooth::ar_ssm_facts
