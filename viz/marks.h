#pragma once

#include <functional>
#include <span>

#include "viz/layout.h"

namespace sawtooth {

// Draws every kind of mark, on any canvas.
struct Pen {
    Canvas& canvas;
    const Theme& theme;
    const Frame& frame;
    std::vector<float> rules;  // x of vertical lines, from left to right, which texts avoid
    // The solid lines of variants, if there are several, which are drawn over all other lines. Those that
    // cover most are drawn first, and hide none of the others.
    std::vector<const Line*> crowded;
    // Lines get an edge in the colour of the ground, because they may lie on any colour.
    bool over_cells = false;
};

Pen pen_for(Canvas& canvas, const Theme& theme, const Frame& frame, const Figure& figure);

void draw(const Pen& pen, const Line& line);
void draw(const Pen& pen, const Band& band);
void draw(const Pen& pen, const Bars& bars);
void draw(const Pen& pen, const HeatMap& map);
void draw(const Pen& pen, const KindMap& map);
void draw(const Pen& pen, const Tree& tree);
void draw(const Pen& pen, const Tracks& tracks);
// The row of the spans or of the curve of a track.
Box track_row(const Pen& pen, const Tracks& tracks, size_t index);

// Bands are drawn first, because they would hide other marks.
void draw_marks(const Pen& pen, const Figure& figure);

// Calls a function for each run of points without gaps.
void for_each_run(const Pen& pen, const std::vector<double>& x, const std::vector<double>& y,
                  const std::function<void(std::span<const Point>)>& use);
// The stroke of a line: one with many points is solid and differs only by its markers.
Stroke stroke_of_line(const Theme& theme, const Line& line);
bool is_crowded(const Pen& pen, const Line& line);
void draw_crowded(const Pen& pen);
void draw_markers(const Pen& pen, const Line& line);
std::string label_of_point(const Line& line, size_t point);  // with its name, if it has one
// Draws crossed rings over the points whose results are wrong, and rings where times are unstable.
void draw_marked_points(const Pen& pen, const Figure& figure);
void draw_wrong_marker(Canvas& canvas, const Theme& theme, Point at);
void draw_unstable_marker(Canvas& canvas, const Theme& theme, Point at, Colour ring);

// Draws lines across the plot, thinned if they are dense; over them the texts of bars and the notes, moved
// apart; and outside of the plot the labels of the lines.
void draw_rules(const Pen& pen, const Figure& figure);
void draw_texts(const Pen& pen, const Figure& figure);
void draw_notes(const Pen& pen, const Figure& figure);
void draw_rule_labels(const Pen& pen, const Figure& figure, const Layout& layout);

// Draws the sample of a kind in a legend.
void draw_kind(Canvas& canvas, const Theme& theme, const Box& box, Colour colour, KindMap::Pattern pattern);

// Draws the scale of a heat map to the right of the plot.
void draw_colour_bar(const Pen& pen, const Figure& figure);
// Draws the end of the scale of rows in percent to the right of the plot.
void draw_row_scales(const Pen& pen, const Figure& figure);
// The box of the cell at that row and column.
Box cell_box(const Pen& pen, const HeatMap& map, int64_t row, int64_t column);
// The indices of the cell of the map at a point; absent outside of the map.
struct CellAt {
    int64_t row = 0, column = 0;
};
std::optional<CellAt> cell_at(const Pen& pen, const HeatMap& map, Point at);
void draw_frame(Canvas& canvas, const Stroke& stroke, const Box& box);

// The place of a matrix, which fills its own area, with the names of its rows and columns.
struct MatrixPlace {
    Box cells;
    float cell_width = 0, cell_height = 0;
    size_t columns = 1, lines_of_names = 1;
};
MatrixPlace place_of(const Canvas& canvas, const Figure& figure, const Matrix& matrix, const Box& area);
void draw_matrix(Canvas& canvas, const Theme& theme, const Figure& figure, const Matrix& matrix,
                 const Box& area);

}  // namespace sawtooth
