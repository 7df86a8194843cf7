#pragma once

#include "kernels/scan/family.h"
#include "tests/kit/run_family.h"

// Helpers for tests of the family scan.
namespace sawtooth {

inline std::vector<std::string> variant_names() { return variant_names(scan_family()); }
inline Parameters scan_parameters(const Settings& settings) { return settled(scan_family(), settings); }

}  // namespace sawtooth
