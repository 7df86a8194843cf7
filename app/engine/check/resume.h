#pragma once

#include "app/engine/check/report.h"
#include "kernels/core/result.h"

namespace sawtooth {

// A check that goes on in another worker after the first has ended.

// Both parts as one report.
CheckReport joined(const CheckReport& before, CheckReport later);

// The finding about the Request that the worker was trying when it ended with that error.
Finding lost_with_worker(const CheckReport& so_far, const Error& error);

// What is left to check: the variants with findings are left out.
CheckRequest continued(const CheckRequest& request, const CheckReport& so_far);

}  // namespace sawtooth
