#pragma once

#include <functional>
#include <stop_token>

#include "app/engine/check/report.h"
#include "app/engine/run/runner.h"

namespace sawtooth {

// Called before each Request and after the last.
using OnCheck = std::function<void(const CheckReport&)>;

// Tries Requests that make wrong kernels fail (Battery) and judges every output. A variant that is wrong is
// left out from then on, with the smallest Request that shows it. Errors: usage, no such machine, cancelled;
// a failure after which the process must end (Runner::broken): the report shown last has the finding, but
// after a launch that hangs only the Request that was tried, because a stalled machine looks the same.
Outcome<CheckReport> check(Runner& runner, const CheckRequest& request, std::stop_token stop,
                           const OnCheck& news);

}  // namespace sawtooth
