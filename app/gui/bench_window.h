#pragma once

#include <optional>

#include "app/engine/window_options.h"
#include "kernels/core/refusal.h"

namespace sawtooth {

// Measures the window off screen for every family at its defaults. Prints the time from a moved slider to new
// outputs and errors, hop by hop, and to new times; the time of a frame; and the share of a core used by the
// idle window.
std::optional<Error> bench_window(const WindowOptions& options, bool json);

}  // namespace sawtooth
