#pragma once

#include <string>
#include <vector>

#include "viz/canvas.h"

namespace sawtooth {

struct LegendEntry {
    enum class Kind { line, area, wrong };
    Kind kind = Kind::line;
    std::string label = "";
    Stroke stroke = {};
    Ink ink = {};
};

// What the legend names, each once: lines, bands, kinds of cells, rules that share a label, and last the mark
// of points whose results are wrong.
std::vector<LegendEntry> legend_of(const Figure& figure, const Theme& theme);

struct HeadingOptions {
    bool legend = true;  // false where the panel has one for all of its figures
    float reserved = 0;  // pixels at the right end of the title's line, for controls
};
struct Heading {
    Box rest;  // what is left of the area
    bool caption_cut = false;
};
// A piece of what the entry names, from that point to the right.
void draw_sample(Canvas& canvas, const Theme& theme, const LegendEntry& entry, Point left, float width);

// Draws title, caption and legend at the top of the area, outside the data, as far as a small area has room
// for them.
Heading draw_heading(Canvas& canvas, const Theme& theme, const Figure& figure, const Box& area,
                     const HeadingOptions& options = {});

// The sentence of a figure that has no marks yet.
void draw_missing(Canvas& canvas, const Theme& theme, const Figure& figure, const Box& area);

}  // namespace sawtooth
