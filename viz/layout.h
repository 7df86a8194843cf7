#pragma once

#include <optional>
#include <string>
#include <vector>

#include "viz/axis.h"
#include "viz/canvas.h"

namespace sawtooth {

// The rectangle of a plot and the values at its edges.
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

// The bounds of the data; `y` covers the part within `visible`. Rows (bars, tracks, heat maps, levels of a
// tree) run downwards.
struct Bounds {
    Range x, y;
    bool downwards = false;
};
Bounds bounds_of(const Figure& figure, std::optional<Range> visible);

// The names of rows if y is not a number: categories of the axis, or labels of tracks.
std::vector<std::string> row_names(const Figure& figure);
// The value at the top of a curve's row.
double highest(const Tracks::Track& track);
bool has_tree(const Figure& figure);
bool has_arrows(const Figure& figure);  // a tree with arrows
// Time is drawn above its tracks, so that it stays visible if there are many.
bool has_axis_on_top(const Figure& figure);
const Matrix* matrix_of(const Figure& figure);
// Whether x is a continuous axis that can be zoomed.
bool is_zoomable(const Figure& figure);

// Whether a row is a curve in percent, with its scale at its right end.
bool has_scale(const Tracks::Track& track);

// Whether other rules have the same label: then it is shown once, in the legend.
bool is_repeated(const Figure& figure, const Rule& rule);

// The label of a line across the plot, outside of it: above for vertical lines, to the right for horizontal
// ones.
struct RuleLabel {
    const Rule* rule = nullptr;
    std::vector<std::string> lines;
    Box box;
};

// The plot of a figure in an area: the frame and everything around it.
struct Layout {
    Frame frame;
    std::vector<Tick> x_ticks, y_ticks;
    std::string x_name, y_name;  // of the axes, in the units of the ticks
    Box area;
    // Room for labels of rules above; beside for these, a colour bar or scales of rows. Excludes an axis on
    // top.
    float above = 0, beside = 0;
    float before = 0;  // over the names of rows, where labels of rules may start
    float indent = 0;  // of the names of rows, if that of an axis on top is longer
};
Layout lay_out(const Canvas& canvas, const Figure& figure, const Box& area, std::optional<Range> visible);
// The minimum height, with title but without caption, at which every row that needs a name has one; 0 if rows
// have no names.
float least_height(const Canvas& canvas, const Figure& figure);

// Placed without overlap; labels above that do not fit in three rows are omitted.
std::vector<RuleLabel> rule_labels(const Canvas& canvas, const Figure& figure, const Frame& frame,
                                   const Layout& layout);

}  // namespace sawtooth
