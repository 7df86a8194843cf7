#pragma once

#include <stop_token>
#include <string>

#include "app/engine/compare/comparison_report.h"
#include "app/engine/session/session.h"

namespace sawtooth {

// Compares the results of two sessions that have equal settings (family, parameters that compute something,
// seed and kind of inputs, caches, backend) on the same device, variant by variant. The last results of the
// same settings, as many as both have, are rounds of compare_rounds, measured apart. It cannot be told where
// clocks differ by more than 2 % or were throttled. Results without a partner are listed. Errors: those of
// SessionResult::open; cancelled.
Outcome<ComparisonReport> compare_sessions(const Session& a, const Session& b, const std::string& name_a,
                                           const std::string& name_b, std::stop_token stop = {});

}  // namespace sawtooth
