#pragma once

#include "app/engine/window_options.h"

namespace sawtooth {

// Draws the window off screen when the request and the sweeps of its figures are done: the exit code. What
// went wrong is one line on standard error.
int shoot(const ShotOptions& options);

}  // namespace sawtooth
