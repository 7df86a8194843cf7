#pragma once

#include <string>
#include <vector>

#include "viz/canvas.h"

namespace sawtooth {

struct LegendEntry {
    enum class Kind { line, area, frame, unstable, wrong };
    Kind kind = Kind::line;
    std::string label = "";
    Stroke stroke = {};
    Ink ink = {};
    KindMap::Pattern pattern = KindMap::Pattern::plain;  // of an area
};

// The entries of the legend, each once: lines, bands, kinds of cells, frames, rules that share a label, and
// last the marks of unstable times and wrong results.
std::vector<LegendEntry> legend_of(const Figure& figure, const Theme& theme);
// Of a figure beside a legend of variants: of "chunkwise_gd, predicted" only what the dashes mean.
std::vector<LegendEntry> legend_without_variants(const Figure& figure, const Theme& theme);

struct HeadingOptions {
    bool variants = true;  // in the legend; false if the panel has a legend of variants for all its figures
    float reserved = 0;    // pixels at the right end of the title line, for controls
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
