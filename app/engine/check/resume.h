#pragma once

#include "app/engine/check/report.h"
#include "kernels/core/result.h"

namespace sawtooth {

// Continues a check in another worker after the first worker has ended.

// The reports before and after the change of workers, as one.
CheckReport joined(const CheckReport& before, CheckReport later);

// The finding for the Request that the worker was trying when it ended with that error.
Finding lost_with_worker(const CheckReport& so_far, const Error& error);

// The rest of the check, without the variants that have findings.
CheckRequest continued(const CheckRequest& request, const CheckReport& so_far);

}  // namespace sawtooth
