#pragma once

#include "kernels/core/figure.h"
#include "viz/canvas.h"

namespace sawtooth {

// Draws the whole figure as a picture of its own that starts at (0, 0): background, heading with legend, axes
// and marks. Sizes are in pixels of the canvas.
void draw_page(Canvas& canvas, const Figure& figure, const Theme& theme, float width, float height);
// The minimum height of that picture, without caption and legend, at which every row that needs a name has
// one; at most a margin if rows have no names.
float least_page_height(const Canvas& canvas, const Figure& figure);

}  // namespace sawtooth
