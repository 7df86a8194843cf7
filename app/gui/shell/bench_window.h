#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/engine/window_options.h"
#include "kernels/core/refusal.h"

namespace sawtooth {

// Measures the window off screen for these families (all if there are none) at their defaults. Prints the
// time of a frame; the time from a moved slider to new outputs and errors, hop by hop, and to new times; and
// the share of a core used by the idle window. The family that fails is named, and the others are measured
// all the same.
std::optional<Error> bench_window(const WindowOptions& options, const std::vector<std::string>& families,
                                  bool json);

}  // namespace sawtooth
