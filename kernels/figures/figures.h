#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>

#include "kernels/core/family.h"
#include "kernels/core/figure.h"
#include "kernels/core/result.h"
#include "kernels/figures/series.h"

namespace sawtooth {

// The figures that every family has, and helpers for figures of families. Figures of sweeps are in
// sweep_figures.h.

constexpr double gap = std::numeric_limits<double>::quiet_NaN();  // a missing value in a figure

// The bandwidth of a copy in GB/s: that of the copy measured in this run, or the limit of the machine; 0 if
// neither is known.
double copy_rate(const Result& result);
Ink ink_of(const VariantResult& variant);
Figure new_figure(std::string id, Place place, std::string title, std::string caption, Axis x, Axis y);
// Shows this sentence instead of marks, below the title of the figure.
void leave_out(Figure& figure, const std::string& reason);
Line line_of(std::string label, Ink ink, Series points);
// Adds what is no data, such as a goal, to a figure with data.
void add_beside_data(Figure& figure, Mark mark);
// Marks each multiple of `step` in the visible part of an axis of `count` positions if there is room for them
// and the figure has data.
void add_steps(Figure& figure, int64_t count, int64_t step, const std::string& label, const View& view);
// Calls leave_out with a sentence if no variant ran.
void leave_out_without_outputs(Figure& figure, const Result& result);
// Makes the errors of that output the caption. If the reference has only some rows, the caption so far, which
// says so, follows them.
void tell_errors(Figure& figure, const Result& result, const Array& reference);
// The median time with quartiles, and what is wrong with the result. The variant must be timed.
Bar time_bar(const VariantResult& variant);
// Breaks bars that are too long for a linear axis from 0 on which the shorter half of `lengths` must be
// visible; their number is written at the end. The scale does not change from run to run.
void break_long_bars(Figure& figure, Bars& bars, std::vector<double> lengths);
std::vector<double> lengths_of(const Bars& bars);
// A heat map without values yet. Cells are centred on whole numbers, counted from `first_row` and
// `first_column`.
HeatMap heat_map(std::string label, int64_t rows, int64_t columns, int64_t first_row = 0,
                 int64_t first_column = 0);
// The axis of positions 0 to length - 1 along a sequence. `place` names a position ("token"); plots with the
// same name zoom together.
Axis place_axis(const std::string& place, int64_t length);
// Logarithmic axes of times and of absolute errors.
Axis time_axis();
Axis absolute_error_axis();
Axis relative_error_axis();

// The elements of an array along the family's sequence axis, at one index of every other dimension.
struct DrawnLine {
    int64_t first = 0, step = 1, length = 0;
    std::string place = {};                   // the name of a position: "token"
    std::string words = {};                   // "sequence 0, channel 3"
    std::vector<std::string> chosen_by = {};  // the parameters that choose it

    int64_t index(int64_t at) const { return first + at * step; }
    std::string title(const std::string& what) const { return words.empty() ? what : what + ", " + words; }
};

// The line of a family's arrays shown in plots. A dimension that no parameter chooses is drawn at 0.
struct LineChooser {
    const Family& family;
    std::string place;
    std::map<std::string, std::string> chosen_by;  // the parameter of a dimension: {"batch", "drawn_batch"}

    // The line at these indices, each at most the last one of its dimension; absent if the array has no
    // sequence axis.
    std::optional<DrawnLine> line(const Array& array, const Parameters& parameters) const;
};

enum class Part { real, imaginary };
// The outputs of all variants along that line, drawn over the reference.
Figure output_figure(const Result& result, const View& view, const Array& reference, const DrawnLine& line,
                     Part part = Part::real);

enum class ErrorOf { drawn_line, all_lines };
// The distance of every variant to the reference by position, along that line or the largest of all lines.
Figure error_figure(const Result& result, const View& view, const Array& reference, const DrawnLine& line,
                    ErrorOf lines);
// Adds the errors error_at(0 … count - 1) as a line. If there are too many values, the line shows the largest
// of neighbouring errors, above a band down to the smallest.
void add_errors(Figure& figure, const std::string& label, Ink ink, int64_t count, const View& view,
                const std::function<double(int64_t)>& error_at);
// Chooses the lower end of the axis of errors so that most of each line is above it; the few positions that
// are nearly exact are drawn at the bottom.
void lay_floor(Figure& figure);
// Adds the largest error of all lines at each position, if it was kept.
void add_largest_errors(Figure& figure, const std::string& label, Ink ink, const OutputError& error,
                        const View& view);
// Says why a figure of the largest errors has no data.
void leave_out_without_errors(Figure& figure);

// A bar per variant, stacked by launch, with quartiles, and a line for the copy. Much longer bars are broken.
Figure times_figure(const Result& result);

}  // namespace sawtooth
