#pragma once

#include "kernels/btp/family.h"
#include "kernels/btp/parts.h"
#include "tests/kernels/figures/figure_facts.h"
#include "tests/kit/run_family.h"

// Helpers for tests of the family btp.
namespace sawtooth::btp_facts {

inline Parameters parameters_with(const Settings& settings) { return settled(btp_family(), settings); }

// The choices of `order`.
inline const Value one = 1, two = 2, full = "full";

// Puts gates that logarithms and divisions cannot take into the first half of the heads. What they stop
// travels on in the other half.
inline Arrays with_special_gates(Arrays inputs) {
    const auto a = find(inputs, "a")->as<float>();
    for (size_t i = 0; i < a.size() / 2; ++i) {
        if (i % 7 == 3) a[i] = 0;
        if (i % 7 == 5) a[i] = 1;
        if (i % 11 == 2) a[i] = 1e-30f;
    }
    return inputs;
}

// Parameters and inputs of one head with one channel, where every array has the same number everywhere.
struct Constant {
    Parameters parameters;
    Arrays inputs;

    Constant(const Value& order, int64_t length, float gate, float u = 1, float dx = 1)
        : parameters(parameters_with(
              {{"H", int64_t{1}}, {"L", length}, {"DH", int64_t{1}}, {"order", order}, {"backward", true}})),
          inputs(generated_inputs(parameters)) {
        fill(*find(inputs, "a"), gate);
        fill(*find(inputs, "u"), u);
        fill(*find(inputs, "dx"), dx);
    }
};

inline const std::vector<std::string> variants = {"sequential", "two_pass", "fused", "decode"};

inline Result result_of(const Settings& settings) { return figure_facts::result_of(btp_family(), settings); }

}  // namespace sawtooth::btp_facts
