#pragma once

#include <functional>

#include "kernels/core/family.h"
#include "kernels/core/request.h"

namespace sawtooth {

// The smallest Request that still fails: its sizes are as small as possible, and everything else has its
// default. `fails` tries a Request; it may return false to end the search.
Request shrunk(const Family& family, Request failing, Backend backend,
               const std::function<bool(const Request&)>& fails);

}  // namespace sawtooth
