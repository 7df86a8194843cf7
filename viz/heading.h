#pragma once

#include <string>
#include <vector>

#include "viz/canvas.h"

namespace sawtooth {

struct LegendEntry {
    enum class Kind { line, area, frame, wrong };
    Kind kind = Kind::line;
    std::string label = "";
    Stroke stroke = {};
    Ink ink = {};
    KindMap::Pattern pattern = KindMap::Pattern::plain;  // of an area
};

// The entries of the legend, each once: lines, bands, kinds of cells, frames, rules that share a label, and
// last the mark of wrong results.
std::vector<LegendEntry> legend_of(const Figure& figure, const Theme& theme);

struct HeadingOptions {
    bool legend = true;  // false if the panel has one legend for all its figures
    float reserved = 0;  // pixels at the right end of the title line, for controls
};
struct Heading {
    Box rest;  // the rest of the area
    bool caption_cut = false;
};
// Draws a sample of the entry, from that point to the right.
void draw_sample(Canvas& canvas, const Theme& theme, const LegendEntry& entry, Point left, float width);

// Draws title, caption and legend at the top of the area, outside the data; a small area may omit some.
Heading draw_heading(Canvas& canvas, const Theme& theme, const Figure& figure, const Box& area,
                     const HeadingOptions& options = {});

// Draws the sentence of a figure without marks.
void draw_missing(Canvas& canvas, const Theme& theme, const Figure& figure, const Box& area);

}  // namespace sawtooth
