#pragma once

#include <optional>
#include <string>
#include <vector>

#include "viz/axis.h"
#include "viz/canvas.h"

namespace sawtooth {

// The rectangle of a plot and what its edges stand for.
struct Frame {
    Box box;
    Scale scale_x = Scale::linear, scale_y = Scale::linear;
    Range x;
    double y_bottom = 0, y_top = 1;

    Point at(double x, double y) const;
    float at_x(double x) const;
    float at_y(double y) const;
    double x_at(float pixel) const;
    double y_at(float pixel) const;
};

// What the data takes. `y` is that of the part within `visible`. Rows (bars, tracks, heat maps, levels of a
// tree) run downwards.
struct Bounds {
    Range x, y;
    bool downwards = false;
};
Bounds bounds_of(const Figure& figure, std::optional<Range> visible);

// The names of rows, where y is not a number: categories of the axis, or the labels of tracks.
std::vector<std::string> row_names(const Figure& figure);
// What the height of a curve's row stands for.
double highest(const Tracks::Track& track);
bool has_tree(const Figure& figure);
// Time stands above its tracks, whose names begin beside it: it stays in sight where they are many.
bool has_axis_on_top(const Figure& figure);
const Matrix* matrix_of(const Figure& figure);
// Whether x is a continuous axis that one may zoom into.
bool is_zoomable(const Figure& figure);

// Whether other rules bear the same label: then it stands once, in the legend.
bool is_repeated(const Figure& figure, const Rule& rule);

// A label of a straight line across the plot, outside of it: above for vertical lines, to the right for
// horizontal.
struct RuleLabel {
    const Rule* rule = nullptr;
    std::vector<std::string> lines;
    Box box;
};

// A figure's plot within an area: the frame with all that stands around it.
struct Layout {
    Frame frame;
    std::vector<Tick> x_ticks, y_ticks;
    Box area;
    // Taken from the area for labels of rules, and for them or a colour bar; not for an axis on top.
    float above = 0, beside = 0;
    float before = 0;  // over the names of rows, where labels of rules may begin
    float indent = 0;  // of the names of rows, where that of an axis on top is longer
};
Layout lay_out(const Canvas& canvas, const Figure& figure, const Box& area, std::optional<Range> visible);
// The height, with title but without caption, at which every row that needs a name has one; 0 where rows have
// no names.
float least_height(const Canvas& canvas, const Figure& figure);

// Placed so that they do not overlap; those above for which three rows do not suffice are left out.
std::vector<RuleLabel> rule_labels(const Canvas& canvas, const Figure& figure, const Frame& frame,
                                   const Layout& layout);

}  // namespace sawtooth
