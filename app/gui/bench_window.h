#pragma once

#include "app/engine/window_options.h"

namespace sawtooth {

// Measures the window off screen and prints how long it takes from a moved slider to the new plot, how long a
// frame takes, and what share of a core the idle window needs: the exit code.
int bench_window(const WindowOptions& options, bool json);

}  // namespace sawtooth
