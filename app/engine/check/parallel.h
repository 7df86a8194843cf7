#pragma once

#include <functional>
#include <stop_token>
#include <string>

#include "app/engine/check/check.h"

namespace sawtooth {

// The same in workers: several for a GPU, where most of the time goes into compiling kernels. A launch that
// ends its worker is a finding. Errors: usage, no such machine, cancelled, or no worker could be started.
Outcome<CheckReport> check_in_workers(const std::string& cache_directory, const CheckRequest& request,
                                      std::stop_token stop, const OnCheck& news);

}  // namespace sawtooth
