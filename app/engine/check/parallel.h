#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/engine/check/check.h"

namespace sawtooth {

// Checks several families, which have the same base, in workers. Each family is divided among all workers,
// one for each command (TeamTask); without commands they are on this machine, or those of `base.on`. There, a
// GPU gets several workers, because compiling kernels takes most of the time. An illegal launch is a
// finding, and so is a Request with which a worker ended or hung and then a second one. A worker that cannot
// be started again is lost, and the others do its part. `news` gets reports of every family, including the
// complete one, and `told` a line for each lost worker. Errors: usage, no such machine, cancelled, or all
// workers are lost; what was found until then, `news` had.
Outcome<std::vector<CheckReport>> check_in_workers(const std::string& cache_directory,
                                                   const std::vector<CheckRequest>& requests,
                                                   std::stop_token stop, const OnCheck& news,
                                                   const std::vector<std::string>& commands = {},
                                                   const std::function<void(const std::string&)>& told = {});

}  // namespace sawtooth
