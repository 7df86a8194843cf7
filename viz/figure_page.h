#pragma once

#include "kernels/core/figure.h"
#include "viz/canvas.h"

namespace sawtooth {

// The whole figure as a picture of its own, from (0, 0) on: ground, heading with legend, axes and marks.
// Sizes in the canvas' pixels.
void draw_page(Canvas& canvas, const Figure& figure, const Theme& theme, float width, float height);

}  // namespace sawtooth
