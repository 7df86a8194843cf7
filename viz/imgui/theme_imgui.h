#pragma once

#include "viz/theme.h"

namespace sawtooth {

// Sets the styles of Dear ImGui and ImPlot: the theme's colours, spacing on a grid of 4 units, everything
// times `scale`.
void apply_theme(const Theme& theme, float scale);

}  // namespace sawtooth
