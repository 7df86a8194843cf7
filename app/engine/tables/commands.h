#pragma once

#include <string>

#include "kernels/core/request.h"
#include "kernels/core/sweep.h"

namespace sawtooth {

// A command that reproduces the numbers, quoted for a shell: "sawtooth run scan --set length=8192 …".
std::string command_of(const Request& request);
// The same for a sweep: "sawtooth sweep scan --over length=512,1024 …".
std::string command_of(const Sweep& sweep);

}  // namespace sawtooth
