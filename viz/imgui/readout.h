#pragma once

#include "viz/imgui/figure_imgui.h"
#include "viz/marks.h"

namespace sawtooth {

// Draws a tooltip with the exact values at `mouse`: the nearest point in x of every line, and the bar, cell
// or span there. `click` is the effect of a click there, "" if it has none.
void draw_readout(const Pen& pen, const Figure& figure, Point mouse, const DescribeSpan& describe_span,
                  const std::string& click);
void draw_matrix_readout(const Canvas& canvas, const Figure& figure, const Matrix& matrix, const Box& area,
                         Point mouse);

}  // namespace sawtooth
