#pragma once

#include <optional>

#include "app/engine/window_options.h"
#include "kernels/core/refusal.h"

namespace sawtooth {

// Draws the window off screen once the request and the sweeps of its figures are complete.
std::optional<Error> shoot(const ShotOptions& options);

}  // namespace sawtooth
