#pragma once

#include "app/engine/check/report.h"
#include "kernels/core/result.h"

namespace sawtooth {

// Continues a check in another worker after the first worker has ended.

// The reports before and after the change of workers, as one.
CheckReport joined(const CheckReport& before, CheckReport later);

// The finding for the Request that the worker was trying when it ended with that error. The first such loss
// proves nothing, as the system or the network may have ended the worker: its finding names no variant, and
// the next worker tries the Request again.
Finding lost_with_worker(const CheckReport& so_far, const Error& error);
bool is_lost_once(const Finding& finding);
// The report without such findings.
CheckReport without_lost_once(CheckReport report);

// The rest of the check, without the variants that have findings.
CheckRequest continued(const CheckRequest& request, const CheckReport& so_far);

}  // namespace sawtooth
