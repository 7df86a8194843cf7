#pragma once

#include "viz/layout.h"

namespace sawtooth {

// What every mark looks like, on any canvas.
struct Pen {
    Canvas& canvas;
    const Theme& theme;
    const Frame& frame;
    std::vector<float> rules;  // x of vertical lines, from left to right: texts keep clear of them
    // Solid lines of variants, where there are several. Each lies on top in its own stripes of the plot, so
    // that where they agree all their colours are seen.
    std::vector<const Line*> taking_turns;
};

Pen pen_for(Canvas& canvas, const Theme& theme, const Frame& frame, const Figure& figure);

void draw(const Pen& pen, const Line& line);
void draw(const Pen& pen, const Band& band);
void draw(const Pen& pen, const Bars& bars);
void draw(const Pen& pen, const HeatMap& map);
void draw(const Pen& pen, const Tree& tree);
void draw(const Pen& pen, const Tracks& tracks);
// Where the spans or the curve of a track lie.
Box track_row(const Pen& pen, const Tracks& tracks, size_t index);

// Bands lie under everything, as they would hide it.
void draw_marks(const Pen& pen, const Figure& figure);

// How a line is drawn: one of many points is solid, and only its markers tell it apart.
Stroke stroke_of_line(const Theme& theme, const Line& line);
bool takes_turns(const Pen& pen, const Line& line);
// Over all lines: the stripes of those that take turns, with their markers.
void draw_turns(const Pen& pen);
void draw_markers(const Pen& pen, const Line& line);
// A crossed ring in place of a point's marker: its result is wrong.
void draw_wrong_marker(Canvas& canvas, const Theme& theme, Point at);

// Lines across the plot, thinned where they would fill it; then, over them, the texts behind bars and the
// notes, moved apart; and outside of the plot the labels of the lines.
void draw_rules(const Pen& pen, const Figure& figure);
void draw_texts(const Pen& pen, const Figure& figure);
void draw_rule_labels(const Pen& pen, const Figure& figure, const Layout& layout);

// The scale of a heat map, to the right of the plot.
void draw_colour_bar(const Pen& pen, const Figure& figure);

// A matrix fills an area of its own, with the names of its rows and columns.
struct MatrixPlace {
    Box cells;
    float cell_width = 0, cell_height = 0;
    size_t columns = 1, lines_of_names = 1;
};
MatrixPlace place_of(const Canvas& canvas, const Figure& figure, const Matrix& matrix, const Box& area);
void draw_matrix(Canvas& canvas, const Theme& theme, const Figure& figure, const Matrix& matrix,
                 const Box& area);

}  // namespace sawtooth
