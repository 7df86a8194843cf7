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
// tree) are counted downwards.
struct Bounds {
    Range x, y;
    bool downwards = false;
};
Bounds bounds_of(const Figure& figure, std::optional<Range> visible);

// The names of rows, if y is not a number: the categories of the axis, or the labels of tracks.
std::vector<std::string> row_names(const Figure& figure);
// The value that corresponds to the top of a curve's row.
double highest(const Tracks::Track& track);
bool has_tree(const Figure& figure);
bool has_arrows(const Figure& figure);  // for a tree with arrows
// Time is drawn above its tracks, so that it stays visible if there are many of them.
bool has_axis_on_top(const Figure& figure);
const Matrix* matrix_of(const Figure& figure);
// Returns whether x is a continuous axis that can be zoomed.
bool is_zoomable(const Figure& figure);

// Returns whether a row is a curve in percent, which has its scale at its right end.
bool has_scale(const Tracks::Track& track);

// The rows with room for their texts: all of them, or only those of bars without the remarks between them, or
// only those without ghosts, or none.
std::vector<size_t> rows_with_text(const Canvas& canvas, const Frame& frame, const Bars& bars);

// Returns whether other rules have the same label, so that it is shown once, in the legend.
bool is_repeated(const Figure& figure, const Rule& rule);

// The label of a line across the plot, outside of the plot: above it for vertical lines, to the right for
// horizontal ones.
struct RuleLabel {
    const Rule* rule = nullptr;
    std::vector<std::string> lines;
    Box box;
};

// The layout of a figure in an area: the frame of the plot and everything around it.
struct Layout {
    Frame frame;
    std::vector<Tick> x_ticks, y_ticks;
    std::string x_name, y_name;  // names of the axes, in the units of the ticks
    Box area;
    // The room above for labels of rules, not counting an axis on top, and the room beside the plot for
    // labels of rules, a colour bar or scales of rows.
    float above = 0, beside = 0;
    float before = 0;  // the room over the names of rows, where labels of rules may start
    float indent = 0;  // indent of the names of rows, if the name of an axis on top is longer than they are
};
Layout lay_out(const Canvas& canvas, const Figure& figure, const Box& area, std::optional<Range> visible);
// The minimum height, including the title but not the caption, at which every row that needs a name has one;
// 0 if rows have no names.
float least_height(const Canvas& canvas, const Figure& figure);

// The labels of rules, placed without overlap; labels above the plot that do not fit in three rows are left
// out.
std::vector<RuleLabel> rule_labels(const Canvas& canvas, const Figure& figure, const Frame& frame,
                                   const Layout& layout);

}  // namespace sawtooth
