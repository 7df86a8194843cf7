#pragma once

#include <string>
#include <vector>

#include "kernels/core/result.h"

namespace sawtooth::lut {

// All launches of one name, of the median repeat.
struct Kernel {
    std::string name;
    double us = 0, bytes = 0;
    int64_t launches = 0;

    double gigabytes_per_second() const { return bytes / us / 1e3; }
};

// In the order of their first start.
std::vector<Kernel> kernels_of(const VariantResult& variant);
// At most that many, in the same order.
std::vector<Kernel> longest_of(std::vector<Kernel> kernels, size_t most);
double total_us(const std::vector<Kernel>& kernels);

}  // namespace sawtooth::lut
