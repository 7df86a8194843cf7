#pragma once

#include <functional>
#include <optional>

#include "app/engine/window_options.h"
#include "app/gui/lab_state.h"

namespace sawtooth {

// Opens the window and returns when it is closed. Without a display a failure that names what to do instead.
std::optional<Error> run_window(const WindowOptions& options);
// The same, closed when `done` says so; asked after every frame.
std::optional<Error> run_window_until(const WindowOptions& options,
                                      const std::function<bool(const LabState&)>& done);

}  // namespace sawtooth
