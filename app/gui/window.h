#pragma once

#include "app/engine/window_options.h"

namespace sawtooth {

// Opens the window and returns when it is closed: the exit code. Without a display 1, with one line on standard error.
int run_window(const WindowOptions& options);

}  // namespace sawtooth
