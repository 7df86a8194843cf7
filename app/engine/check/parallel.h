#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/engine/check/check.h"

namespace sawtooth {

// Several families in workers, which take them one after another; several workers for a GPU, where most of
// the time goes into compiling kernels. A launch that ends its worker is a finding. `news` tells of every
// family, also when it is complete. Errors: usage, no such machine, cancelled, or no worker could be started.
Outcome<std::vector<CheckReport>> check_in_workers(const std::string& cache_directory,
                                                   const std::vector<CheckRequest>& requests,
                                                   std::stop_token stop, const OnCheck& news);

}  // namespace sawtooth
