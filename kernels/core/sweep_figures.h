#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernels/core/figure.h"
#include "kernels/core/parameter.h"
#include "kernels/core/sweep.h"

namespace sawtooth {

// Figures over a sweep: a number of every variant against the values of the first axis.

// Numbers where all of the values are, else their names in order.
Axis swept_axis(const SweepAxis& swept, const Parameter& parameter);

// A curve a variant, in the family's order, over the cells where it ran and the number is known; NaN is a
// gap. The second axis of two makes a curve each. A click on a point sets the parameter of the first axis.
// Points say what is wrong with the outputs that they stand for.
using Number = std::function<std::optional<double>(const Result&, const VariantResult&)>;
std::vector<Line> curves_of(const SweepResult& sweep, const Number& number);
// The same of a number that is made of the variant's time, over the cells that were timed.
using TimedNumber = double (*)(const Result&, const VariantResult&);
std::vector<Line> timed_curves_of(const SweepResult& sweep, TimedNumber number);
double median_us(const Result& result, const VariantResult& variant);

// ", length 64": what the second axis of two adds to a curve's name.
std::string words_of_inner(const SweepResult& sweep, const SweepCell& cell);

// The lines of a figure, or that they are still to come.
void add_lines(Figure& figure, std::vector<Line> lines);
// "time-against-chunk", "Time against chunk": `what` over the parameter that labels the axis x.
Figure figure_against(const std::string& what, std::string caption, Axis x, Axis y, std::vector<Line> lines);

// The largest error of each variant's first output at every place along x, an envelope for each value of the
// first axis, dashed from the second value on.
Figure error_by_value(const SweepResult& sweep, std::string id, std::string title, std::string caption,
                      Axis x);

// Time with quartiles and error of every variant, for a sweep that no family's figure asked for.
std::vector<Figure> sweep_figures(const SweepResult& sweep, const Parameter& parameter);

}  // namespace sawtooth
