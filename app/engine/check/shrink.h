#pragma once

#include <functional>

#include "kernels/core/family.h"
#include "kernels/core/request.h"

namespace sawtooth {

// The smallest Request that still fails: sizes as small as possible, everything else at its default.
// `fails` tries a Request; it may say no to end the search.
Request shrunk(const Family& family, Request failing, Backend backend,
               const std::function<bool(const Request&)>& fails);

}  // namespace sawtooth
