#pragma once

#include <string>
#include <vector>

#include "viz/canvas.h"

namespace sawtooth {

struct LegendEntry {
    enum class Kind { line, area };
    Kind kind = Kind::line;
    std::string label;
    Stroke stroke;
};

// What the legend names, each once: lines, bands, kinds of cells, and rules that share a label.
std::vector<LegendEntry> legend_of(const Figure& figure, const Theme& theme);

// Draws title, caption and legend at the top of the area, outside of the data, with as much of them as a
// small area has room for; returns what is left of it.
Box draw_heading(Canvas& canvas, const Theme& theme, const Figure& figure, const Box& area);

// The sentence of a figure that has no marks yet.
void draw_missing(Canvas& canvas, const Theme& theme, const Figure& figure, const Box& area);

}  // namespace sawtooth
