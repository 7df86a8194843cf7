#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/engine/window_options.h"
#include "kernels/core/refusal.h"

namespace sawtooth {

// Measures the window off screen for these families (all if the list is empty) at their defaults. Prints the
// time of a frame; the time from a moved slider to new outputs and errors, hop by hop, and to new times; and
// the share of a core that the idle window uses. A family that fails is named, and the others are still
// measured.
std::optional<Error> bench_window(const WindowOptions& options, const std::vector<std::string>& families,
                                  bool json);

}  // namespace sawtooth
