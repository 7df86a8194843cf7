#pragma once

#include "viz/theme.h"

namespace sawtooth {

// Sets the styles of Dear ImGui and ImPlot: the colours of the theme, and spacing on a grid of 4 units,
// everything multiplied by `scale`.
void apply_theme(const Theme& theme, float scale);

}  // namespace sawtooth
