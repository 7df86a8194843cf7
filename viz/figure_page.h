#pragma once

#include "kernels/core/figure.h"
#include "viz/canvas.h"

namespace sawtooth {

// Draws the whole figure as a picture of its own that starts at (0, 0): background, heading with legend, axes
// and marks. Sizes are in pixels of the canvas.
void draw_page(Canvas& canvas, const Figure& figure, const Theme& theme, float width, float height);

}  // namespace sawtooth
