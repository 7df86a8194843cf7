#pragma once

#include <string>
#include <vector>

#include "app/engine/check/check.h"

namespace sawtooth {

// Runs a small part of the battery of every variant of these families under each tool of compute-sanitizer:
// memcheck, racecheck, initcheck and synccheck. Whatever a tool reports becomes a finding of the variant.
// Errors: usage, cancelled, no GPU, or compute-sanitizer is missing.
Outcome<std::vector<CheckReport>> sanitize(const std::string& cache_directory,
                                           const std::vector<CheckRequest>& requests, std::stop_token stop,
                                           const OnCheck& news);

// The first report in the log of a tool, as a sentence; "" if the tool ended and reported nothing.
std::string first_report(const std::string& log);

}  // namespace sawtooth
