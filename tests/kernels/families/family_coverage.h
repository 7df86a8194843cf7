#pragma once

#include <vector>

#include "kernels/cuda/device.h"
#include "tests/kernels/families/family_random.h"

// Settings that together compile all kernels of a family.
namespace sawtooth {

// Returns values to try for a tiling parameter: every choice, or for an integer, powers of two and one other.
std::vector<Value> tiling_values(const Parameter& row);

struct CoveringSetting {
    const Variant* variant;
    Parameters parameters;
};
// What settings must cover: every file of kernels; every kernel; also every choice, flag and value of a
// tiling parameter; or all these values and every launch in every variant.
enum class Coverage { files, kernels, values, values_of_every_variant };
// Returns a few settings near the defaults that no variant refuses on the device. They are always the same,
// so that their cubins are cached.
std::vector<CoveringSetting> covering_settings(const Family& family, cuda::Device& device, Coverage coverage);
// Returns every combination of tiling values, with the other parameters at their defaults.
std::vector<CoveringSetting> tiling_grid(const Family& family, const Chip& chip);

}  // namespace sawtooth
