#pragma once

#include "viz/theme.h"

namespace sawtooth {

// Sets the styles of Dear ImGui and ImPlot: colours of the theme, spacing on a grid of 4 units, all times
// `scale`.
void apply_theme(const Theme& theme, float scale);

}  // namespace sawtooth
