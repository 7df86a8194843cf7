#pragma once

#include <string>

#include "kernels/core/figure.h"
#include "viz/theme.h"

namespace sawtooth {

// A complete SVG document with the figure; sizes are in CSS pixels.
std::string to_svg(const Figure& figure, const Theme& theme, int width, int height);

}  // namespace sawtooth
