#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernels/core/family.h"
#include "kernels/core/figure.h"
#include "kernels/core/parameter.h"
#include "kernels/core/sweep.h"

namespace sawtooth {

// Figures over a sweep, which show a number of every variant against the values of the first axis.

// The axis with the values `first`, 2 `first`, 4 `first`, … up to `last`.
SweepAxis powers_of_two(const std::string& parameter, int64_t first, int64_t last);

// The plot axis of a swept parameter: a numeric axis that shows all values from the first point on if they
// are numbers, otherwise an axis with their names in order.
Axis swept_axis(const SweepAxis& swept, const Parameter& parameter);
// The same for the first axis of a sweep, without a unit that repeats its name.
Axis swept_axis(const SweepResult& sweep, const Family& family);

// The number that a curve shows, and the curves of a sweep: one per variant, in the order of the family, over
// the cells where the variant ran and the number is known; NaN is a gap. A second axis gives one curve per
// value. A click on a point sets the parameter of the first axis. Points of wrong results say what is wrong.
using Number = std::function<std::optional<double>(const Result&, const VariantResult&)>;
std::vector<Line> curves_of(const SweepResult& sweep, const Number& number);
// The same for a number computed from the time of the variant, over the timed cells.
using TimedNumber = double (*)(const Result&, const VariantResult&);
std::vector<Line> timed_curves_of(const SweepResult& sweep, TimedNumber number);
double median_us(const Result& result, const VariantResult& variant);
// Adds the median times of every variant, each above the band between its quartiles; unstable ones have a
// badge.
void add_times(Figure& figure, const SweepResult& sweep, std::vector<Line> medians);
// Adds badges to the points of a curve that has one point per timed cell.
void add_badges(Line& curve, const SweepResult& sweep);

// A timed result of a curve, whose label is `curve`: that of `variant` in a cell with the curve's value of
// the second axis.
struct TimedCell {
    double x = 0;  // the value of the first axis, or its index
    const VariantResult* variant = nullptr;
    const Result* result = nullptr;

    const TimeStatistics& time() const { return *variant->time; }
};
std::vector<TimedCell> timed_cells_of(const SweepResult& sweep, const std::string& curve);
// "chunk 64", "chunk 16, 32 or 64 (within 1.5x: cannot tell which)", "one of 5 values of chunk …": the cells
// of a curve that are not wrong and may be the fastest. "" until the sweep is complete, because cells are
// measured one after another, or if there is nothing to choose from, or if each may be the fastest.
std::string fastest_cells_words(const SweepResult& sweep, const std::string& curve);
// "1 of 11 points" while the sweep runs, or what a search does at that time; "" when it is complete.
std::string progress_words(const SweepResult& sweep);

// ", length 64": the suffix of a curve's name for the second axis.
std::string words_of_inner(const SweepResult& sweep, const SweepCell& cell);

// The rates of copies of the same size, in GB/s, beside curves of `gigabytes_per_second`.
Line copy_rates(const SweepResult& sweep);
double gigabytes_per_second(const Result& result, const VariantResult& variant);

// Why a cell has no time for the variant; "" if it ran.
std::string reason_refused(const SweepCell& cell, const std::string& variant);
// Gives figures without points the reason, if that variant could not run in the first cell.
void explain_missing(std::vector<Figure>& figures, const SweepResult& sweep, const std::string& variant);

// Add lines or bars to a figure, or the sentence that they are still missing if there are none.
void add_lines(Figure& figure, std::vector<Line> lines);
void add_bars(Figure& figure, Bars bars);
// Says in the figures that are still empty why they stay so: the sweep is complete.
void say_why_empty(std::vector<Figure>& figures, const SweepResult& sweep);
// "time-against-chunk", "Time against chunk": `what` over the parameter that labels the axis x.
Figure figure_against(const std::string& what, std::string caption, Axis x, Axis y, std::vector<Line> lines);
// "Time against X" with add_times.
Figure time_against(const SweepResult& sweep, std::string caption, Axis x, std::vector<Line> medians);

// "time_by_max_rank": the time of every variant.
Figure time_figure(const SweepResult& sweep, const Family& family);

// The largest error of each variant's first output at every position along x: one envelope per value of the
// first axis, dashed from the second value on.
Figure error_by_value(const SweepResult& sweep, std::string id, std::string title, std::string caption,
                      Axis x);

// The figures of sweeps that no figure of a family requested: time with quartiles and error of every variant;
// over two axes of integers a map of times for each variant.
std::vector<Figure> sweep_figures(const SweepResult& sweep, const Family& family);

}  // namespace sawtooth
