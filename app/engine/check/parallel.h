#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/engine/check/check.h"

namespace sawtooth {

// Checks several families in workers, which take them one after another; a GPU gets several workers, because
// compiling kernels takes most of the time. A launch that ends its worker is a finding. `news` gets reports
// of every family, including the complete one. Errors: usage, no such machine, cancelled, or no worker could
// be started.
Outcome<std::vector<CheckReport>> check_in_workers(const std::string& cache_directory,
                                                   const std::vector<CheckRequest>& requests,
                                                   std::stop_token stop, const OnCheck& news);

}  // namespace sawtooth
