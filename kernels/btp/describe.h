#pragma once

#include "kernels/core/launch.h"
#include "kernels/core/parameter.h"

namespace sawtooth::btp::describe {

// Descriptions of the launches, shared by both backends: name, meaning, arrays and operations.

// Of sequential, one per token, and of decode.
LaunchInfo token(const Parameters& parameters);
LaunchInfo decode(const Parameters& parameters);

// Of two_pass. There is no second pass for order 1, which has no carry, and no first gradient pass.
LaunchInfo first_pass(const Parameters& parameters);
LaunchInfo second_pass(const Parameters& parameters);
LaunchInfo first_gradient_pass(const Parameters& parameters);
LaunchInfo second_gradient_pass(const Parameters& parameters);

// Of fused.
LaunchInfo fused(const Parameters& parameters);
LaunchInfo gradients(const Parameters& parameters);

}  // namespace sawtooth::btp::describe
