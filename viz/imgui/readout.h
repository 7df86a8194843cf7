#pragma once

#include "viz/imgui/figure_imgui.h"
#include "viz/marks.h"

namespace sawtooth {

// A row of the tooltip with the exact values under the mouse.
struct ReadoutRow {
    std::string name, value;
    std::optional<Stroke> stroke = {};  // of a line, drawn as in the legend
};

// The values at `mouse`: the nearest point in x of every line, and the bar, cell or span there. `click` is
// the effect of a click there, "" if it has none.
std::vector<ReadoutRow> readout_rows(const Pen& pen, const Figure& figure, Point mouse,
                                     const DescribeSpan& describe_span, const std::string& click);
std::vector<ReadoutRow> readout_rows(const Canvas& canvas, const Figure& figure, const Matrix& matrix,
                                     const Box& area, Point mouse);

// Draws the tooltip, if it has rows.
void draw_readout(const std::vector<ReadoutRow>& rows);

}  // namespace sawtooth
