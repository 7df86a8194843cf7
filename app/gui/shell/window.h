#pragma once

#include <functional>
#include <optional>

#include "app/engine/window_options.h"
#include "app/gui/state/lab_state.h"

namespace sawtooth {

// Opens the window and returns when it is closed. Failure without a display: the error says what to do
// instead. A requested stop closes the window as its button does, and returns `cancelled`.
std::optional<Error> run_window(const WindowOptions& options);
// The same, but the window also closes when `done` returns true; `done` is called after every frame.
std::optional<Error> run_window_until(const WindowOptions& options,
                                      const std::function<bool(const LabState&)>& done);

}  // namespace sawtooth
