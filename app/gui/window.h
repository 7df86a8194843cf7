#pragma once

#include <functional>

#include "app/engine/window_options.h"
#include "app/gui/lab_state.h"

namespace sawtooth {

// Opens the window and returns when it is closed: the exit code. Without a display 1, with one line on
// standard error.
int run_window(const WindowOptions& options);
// The same, closed when `done` says so; asked after every frame.
int run_window_until(const WindowOptions& options, const std::function<bool(const LabState&)>& done);

}  // namespace sawtooth
