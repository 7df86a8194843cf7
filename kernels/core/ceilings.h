#pragma once

#include <optional>
#include <string>

#include "kernels/core/plan.h"
#include "kernels/core/result.h"

namespace sawtooth {

// The measured ceilings of a machine that apply to given launches and parameters.

// The microseconds per empty launch in a chain of launches that follow one another in this way.
double empty_launch_us(const Ceilings& ceilings, Follow follow);
// The peak for products. On a GPU they run on the tensor cores if the parameter `precision` allows it; tf32
// has by design half the rate of bf16.
double peak_operations_per_second(const Ceilings& ceilings, const Parameters& parameters);

// The share of a measured limit that a rate reaches, 0 to 1. Absent if the rate is so far above the limit
// that the limit does not apply, such as the bandwidth of a copy to data that were still in a cache.
std::optional<double> share_of_limit(double rate, double limit);
// "83 % of copy bandwidth"; "above copy bandwidth" if share_of_limit is absent.
std::string share_words(double rate, double limit, const std::string& name);

// Combines two measurements of one machine: each limit is the faster one; date, driver and clock are those of
// the second.
Ceilings best_of(const Ceilings& earlier, const Ceilings& later);

}  // namespace sawtooth
