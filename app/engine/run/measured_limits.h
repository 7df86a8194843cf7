#pragma once

#include <stop_token>
#include <vector>

#include "app/engine/run/runner.h"

namespace sawtooth {

// Measures the limits of the CPU, and those of the GPU of the Request if there is one. Errors: cancelled; a
// failure of the GPU.
Outcome<std::vector<Ceilings>> measured_limits(Runner& runner, const Request& base, bool has_gpu,
                                               std::stop_token stop);

}  // namespace sawtooth
