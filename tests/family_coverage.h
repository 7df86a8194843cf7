#pragma once

#include <vector>

#include "kernels/cuda/device.h"
#include "tests/family_random.h"

// Settings by which all kernels of a family are compiled.
namespace sawtooth {

// What a tiling parameter is tried with: every choice; of an integer powers of two and one that is none.
std::vector<Value> tiling_values(const Parameter& row);

struct CoveringSetting {
    const Variant* variant;
    Parameters parameters;
};
// A few settings, near the defaults, that no variant refuses on the device: with every launch that a variant
// makes there, every choice and flag, and every value of every tiling parameter, in every variant where
// `thorough`. The same ones every time, so that their cubins are kept.
std::vector<CoveringSetting> covering_settings(const Family& family, cuda::Device& device, bool thorough);
// Every combination of tiling values, the others at their defaults.
std::vector<CoveringSetting> tiling_grid(const Family& family, const Chip& chip);

}  // namespace sawtooth
