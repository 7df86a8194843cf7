#pragma once

#include "kernels/scan/family.h"
#include "tests/kit/run_family.h"

// Helpers for tests of the family scan.
namespace sawtooth {

inline std::vector<std::string> variant_names() { return variant_names(scan_family()); }
inline Parameters scan_parameters(const Settings& settings) { return settled(scan_family(), settings); }
inline Arrays scan_inputs(const Parameters& parameters, bool with_optional = false, uint64_t seed = 1) {
    return generated_inputs(scan_family(), parameters, with_optional, seed);
}
inline Ran run_scan(const std::string& variant, const Parameters& parameters, const Arrays& inputs,
                    cpu::Pool& pool) {
    return run(scan_family(), variant, parameters, inputs, pool);
}

}  // namespace sawtooth
