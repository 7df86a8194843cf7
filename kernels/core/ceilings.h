#pragma once

#include <optional>
#include <string>

#include "kernels/core/plan.h"
#include "kernels/core/result.h"

namespace sawtooth {

// The measured ceilings of a machine that apply to given launches and parameters.

// Microseconds per empty launch in a chain of launches with this way to launch.
double empty_launch_us(const Ceilings& ceilings, Follow follow);
// Products run on the tensor cores of a GPU if the parameter `precision` allows it; tf32 at half the rate of
// bf16, as designed.
double peak_operations_per_second(const Ceilings& ceilings, const Parameters& parameters);

// A share of a measured limit, 0 to 1; absent where it is so far above 1 that the limit is none, such as the
// bandwidth of a copy for data that were still in a cache.
std::optional<double> share_of_limit(double rate, double limit);
// "83 % of copy bandwidth"; "above copy bandwidth" where there is no share.
std::string share_words(double rate, double limit, const std::string& name);

// Each limit as the faster of two measurements of one machine has it; when and how is that of the second.
Ceilings best_of(const Ceilings& earlier, const Ceilings& later);

}  // namespace sawtooth
