#pragma once

#include <string>
#include <vector>

#include "viz/canvas.h"

namespace sawtooth {

struct LegendEntry {
    enum class Kind { line, point, area, frame, unstable, wrong };
    Kind kind = Kind::line;
    std::string label = "";
    Stroke stroke = {};
    Ink ink = {};
    KindMap::Pattern pattern = KindMap::Pattern::plain;  // only for an area
};

// The entries of the legend, each one once: lines, points, bands, kinds of cells, frames, rules that share a
// label, and finally the marks of unstable times and wrong results.
std::vector<LegendEntry> legend_of(const Figure& figure, const Theme& theme);
// The entries for a figure beside a legend of variants: "chunkwise_gd, predicted" becomes "predicted", which
// the dashes mean.
std::vector<LegendEntry> legend_without_variants(const Figure& figure, const Theme& theme);

struct HeadingOptions {
    bool variants = true;  // whether the legend has the variants; false if one legend of the panel has them
                           // for all figures
    float reserved = 0;    // pixels at the right end of the title line, for controls
};
struct Heading {
    Box rest;  // the remaining area
    bool caption_cut = false, legend_cut = false;
};
// Draws a sample of the entry from that point to the right.
void draw_sample(Canvas& canvas, const Theme& theme, const LegendEntry& entry, Point left, float width);

// Draws title, caption and legend at the top of the area, outside the data; a small area leaves some of them
// out.
Heading draw_heading(Canvas& canvas, const Theme& theme, const Figure& figure, const Box& area,
                     const HeadingOptions& options = {});

// Draws the sentence that a figure without marks has instead.
void draw_missing(Canvas& canvas, const Theme& theme, const Figure& figure, const Box& area);

}  // namespace sawtooth
