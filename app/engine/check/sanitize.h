#pragma once

#include <string>
#include <vector>

#include "app/engine/check/check.h"

namespace sawtooth {

// Runs a small part of the battery of every variant of these families under each tool of compute-sanitizer:
// memcheck, racecheck, initcheck and synccheck. What a tool reports is a finding of its variant. Errors:
// usage, cancelled, no GPU, or compute-sanitizer is missing.
Outcome<std::vector<CheckReport>> sanitize(const std::string& cache_directory,
                                           const std::vector<CheckRequest>& requests, std::stop_token stop,
                                           const OnCheck& news);

// What the log of a tool reports first, in a sentence; "" if it ended and reports nothing.
std::string first_report(const std::string& log);

}  // namespace sawtooth
