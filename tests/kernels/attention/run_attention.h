#pragma once

#include "kernels/attention/family.h"
#include "kernels/attention/parts.h"
#include "kernels/attention/tiles.h"
#include "tests/kit/run_family.h"

// Helpers for tests of the family attention.
namespace sawtooth::attention_facts {

inline Parameters parameters_with(const Settings& settings) { return settled(attention_family(), settings); }
inline Arrays inputs_for(const Parameters& parameters, uint64_t seed = 1) {
    return generated_inputs(attention_family(), parameters, false, seed);
}
inline Arrays reference_for(const Parameters& parameters, const Arrays& inputs) {
    return *attention::reference(parameters, inputs, {});
}
inline Ran run(const std::string& variant, const Parameters& parameters, const Arrays& inputs,
               cpu::Pool& pool = pool_of_one()) {
    return run(attention_family(), variant, parameters, inputs, pool);
}

// Positions first … last - 1 of one head, as a family of one head.
inline Array part_of(const Array& array, std::string name, int64_t first, int64_t last) {
    const int64_t d = array.shape[3];
    Array part = Array::uninitialised(std::move(name), array.dtype, {1, 1, last - first, d});
    std::copy_n(array.as<float>().begin() + first * d, (last - first) * d, part.as<float>().begin());
    return part;
}

inline void fill(Array& array, float value) {
    for (float& number : array.as<float>()) number = value;
}

}  // namespace sawtooth::attention_facts
