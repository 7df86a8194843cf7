#pragma once

#include <functional>
#include <optional>

#include "app/engine/window_options.h"
#include "app/gui/state/lab_state.h"

namespace sawtooth {

// Opens the window and returns when it is closed. Failure without a display: says what to do instead.
// A requested stop closes it as its button does, and is cancelled.
std::optional<Error> run_window(const WindowOptions& options);
// The same, but closes when `done` returns true; called after every frame.
std::optional<Error> run_window_until(const WindowOptions& options,
                                      const std::function<bool(const LabState&)>& done);

}  // namespace sawtooth
