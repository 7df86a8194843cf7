#pragma once

#include <optional>

#include "app/engine/window_options.h"
#include "kernels/core/refusal.h"

namespace sawtooth {

// Measures the window off screen, for every family at its defaults, and prints how long it takes from a moved
// slider to new outputs and errors, hop by hop, and to new times; how long a frame takes; and what share of a
// core the idle window needs.
std::optional<Error> bench_window(const WindowOptions& options, bool json);

}  // namespace sawtooth
