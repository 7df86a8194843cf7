#pragma once

#include "kernels/core/plan.h"
#include "kernels/core/result.h"

namespace sawtooth {

// What a machine can do at most, of the measured ceilings, for launches and parameters like these.

// Microseconds of an empty launch in a chain of launches that follow one another so.
double empty_launch_us(const Ceilings& ceilings, Follow follow);
// Products run on a GPU's tensor cores where the parameter `precision` allows it; tf32 at half the rate of
// bf16, by their design.
double peak_operations_per_second(const Ceilings& ceilings, const Parameters& parameters);

}  // namespace sawtooth
