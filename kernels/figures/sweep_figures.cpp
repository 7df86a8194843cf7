#include "kernels/figures/sweep_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <map>

#include "kernels/core/common_parameters.h"
#include "kernels/core/table.h"
#include "kernels/core/typed_values.h"
#include "kernels/figures/comparison.h"
#include "kernels/figures/correctness.h"
#include "kernels/figures/figures.h"
#include "kernels/figures/sweep_cells.h"
#include "kernels/figures/sweep_maps.h"

namespace sawtooth {
namespace {

// What figures say that have no data yet.
constexpr const char* points_to_come = "Points appear as the sweep runs.";
constexpr const char* bars_to_come = "Bars appear as the sweep runs.";

bool are_numbers(const SweepAxis& axis) {
    return std::all_of(axis.values.begin(), axis.values.end(),
                       [](const Value& value) { return as_number(value).has_value(); });
}

std::string capitalised(std::string text) {
    text[0] = static_cast<char>(std::toupper(text[0]));
    return text;
}

// The band between the first and the third quartile of a curve's times.
Band band_between(const Line& curve, const Line& first, const Line& third) {
    return {"", curve.ink, curve.x, first.y, third.y};
}

// ", evolving" for a choice, ", compensated" for a flag that is set.
std::string words_of(const std::string& parameter, const Value& value) {
    const bool* const flag = std::get_if<bool>(&value);
    if (flag) return *flag ? ", " + parameter : "";
    return ", " + to_text(value);
}

// Shows all values from the first point on, with a margin.
void show_all(Axis& axis, const SweepAxis& swept) {
    constexpr double margin = 0.03;
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const Value& value : swept.values) {
        low = std::min(low, *as_number(value));
        high = std::max(high, *as_number(value));
    }
    if (!(low < high)) return;
    const bool linear = axis.scale == Scale::linear;
    const double factor = linear ? 1 : std::pow(high / low, margin),
                 room = linear ? (high - low) * margin : 0;
    axis.minimum = low / factor - room;
    axis.maximum = high * factor + room;
}

template <double TimeStatistics::*statistic>
double time_of(const Result&, const VariantResult& variant) {
    return *variant.time.*statistic;
}

}  // namespace

SweepAxis powers_of_two(const std::string& parameter, int64_t first, int64_t last) {
    SweepAxis axis{parameter, {}};
    for (int64_t value = first; value <= last; value *= 2) axis.values.emplace_back(value);
    return axis;
}

Axis swept_axis(const SweepAxis& swept, const Parameter& parameter) {
    Axis axis{.label = parameter.name, .unit = parameter.unit};
    if (!are_numbers(swept)) {
        for (const Value& value : swept.values) axis.categories.push_back(to_text(value));
        return axis;
    }
    const bool positive = std::all_of(swept.values.begin(), swept.values.end(),
                                      [](const Value& value) { return *as_number(value) > 0; });
    if (parameter.step == Step::powers_of_two && positive) axis.scale = Scale::log2;
    axis.whole = parameter.type == Type::integer;
    show_all(axis, swept);
    return axis;
}

Axis swept_axis(const SweepResult& sweep, const Family& family) {
    const SweepAxis& swept = sweep.sweep.axes.front();
    Axis axis = swept_axis(swept, *family.parameter(swept.parameter));
    if (axis.unit == axis.label) axis.unit.clear();
    return axis;
}

std::string words_of_inner(const SweepResult& sweep, const SweepCell& cell) {
    const auto& axes = sweep.sweep.axes;
    return axes.size() > 1 && axes[1].values.size() > 1
               ? ", " + axes[1].parameter + " " + to_text(cell.values[1])
               : "";
}

// Where the value at `index` stands on its axis.
double x_of(const SweepAxis& axis, size_t index) {
    return are_numbers(axis) ? *as_number(axis.values[index]) : static_cast<double>(index);
}

std::vector<Line> curves_of(const SweepResult& sweep, const Number& number) {
    const SweepAxis& outer = sweep.sweep.axes.front();
    const bool numbers = are_numbers(outer);
    const size_t inner = sweep.sweep.axes.size() > 1 ? sweep.sweep.axes[1].values.size() : 1;
    std::map<std::pair<size_t, int>, Line> lines;  // by the index on the second axis, then by variant
    for (size_t i = 0; i < sweep.cells.size(); ++i) {
        const SweepCell& cell = sweep.cells[i];
        if (!cell.result) continue;
        const double x = x_of(outer, i / inner);
        for (const VariantResult& variant : cell.result->variants) {
            const auto y = variant.ran() ? number(*cell.result, variant) : std::nullopt;
            if (!y) continue;
            Line& line = lines[{i % inner, variant.index}];
            line.label = variant.name + words_of_inner(sweep, cell);
            line.ink = ink_of(variant);
            line.ink.dashed = i % inner % 2 == 1;
            line.markers = true;
            line.x.push_back(x);
            line.y.push_back(*y);
            line.sets.parameter = outer.parameter;
            if (numbers) line.sets.values.push_back(x);
            line.wrong.push_back(wrong_words(variant));
        }
    }
    std::vector<Line> in_order;
    for (auto& [place, line] : lines) {
        const auto is_right = [](const std::string& words) { return words.empty(); };
        if (std::all_of(line.wrong.begin(), line.wrong.end(), is_right)) line.wrong.clear();
        in_order.push_back(std::move(line));
    }
    return in_order;
}

std::vector<Line> timed_curves_of(const SweepResult& sweep, TimedNumber number) {
    return curves_of(sweep, [number](const Result& result, const VariantResult& variant) {
        return variant.time ? std::optional(number(result, variant)) : std::nullopt;
    });
}

double median_us(const Result&, const VariantResult& variant) { return variant.time->median; }

void add_times(Figure& figure, const SweepResult& sweep, std::vector<Line> medians) {
    const auto first = timed_curves_of(sweep, time_of<&TimeStatistics::q1>);
    const auto third = timed_curves_of(sweep, time_of<&TimeStatistics::q3>);
    if (medians.empty()) return add_lines(figure, {});
    for (Line& median : medians) {
        const auto own = std::find_if(first.begin(), first.end(), [&](const Line& line) {
            return line.label == median.label && line.x == median.x;
        });
        if (own != first.end())  // drawn under the line
            figure.marks.emplace_back(
                band_between(median, *own, third[static_cast<size_t>(own - first.begin())]));
        add_badges(median, sweep);
        figure.marks.emplace_back(std::move(median));
    }
}

std::vector<TimedCell> timed_cells_of(const SweepResult& sweep, const std::string& curve) {
    const SweepAxis& outer = sweep.sweep.axes.front();
    const size_t inner = sweep.sweep.axes.size() > 1 ? sweep.sweep.axes[1].values.size() : 1;
    std::vector<TimedCell> timed;
    for (size_t i = 0; i < sweep.cells.size(); ++i) {
        const SweepCell& cell = sweep.cells[i];
        if (!cell.result) continue;
        for (const VariantResult& variant : cell.result->variants)
            if (variant.time && variant.name + words_of_inner(sweep, cell) == curve)
                timed.push_back({x_of(outer, i / inner), &variant, cell.result.get()});
    }
    return timed;
}

void add_badges(Line& curve, const SweepResult& sweep) {
    std::vector<std::string> badges;
    for (const TimedCell& cell : timed_cells_of(sweep, curve.label))
        badges.push_back(unstable_badge(cell.time()));
    const auto is_unstable = [](const std::string& badge) { return !badge.empty(); };
    if (badges.size() == curve.x.size() && std::any_of(badges.begin(), badges.end(), is_unstable))
        curve.unstable = std::move(badges);
}

std::string fastest_cells_words(const SweepResult& sweep, const std::string& curve) {
    const SweepAxis& outer = sweep.sweep.axes.front();
    std::vector<TimedCell> cells = timed_cells_of(sweep, curve);
    std::erase_if(cells, [](const TimedCell& cell) { return !has_speed(*cell.variant); });
    if (!sweep.complete || cells.size() < 2) return "";
    std::vector<const TimeStatistics*> times;
    for (const TimedCell& cell : cells) times.push_back(&cell.time());
    std::vector<size_t> fastest = fastest_cells(sweep.sweep, times);
    if (fastest.size() == cells.size()) return "";
    std::sort(fastest.begin(), fastest.end());
    std::vector<std::string> names;
    const bool numbers = are_numbers(outer);
    for (const size_t i : fastest)
        names.push_back(numbers ? number_words(cells[i].x)
                                : to_text(outer.values[static_cast<size_t>(cells[i].x)]));
    const std::string unknown = sweep.sweep.search
                                    ? " (cannot tell which)"
                                    : fmt::format(" (within {}x: cannot tell which)", apart_within);
    constexpr size_t most_named = 3;
    if (names.size() > most_named)
        return "one of " + std::to_string(names.size()) + " values of " + outer.parameter + " from " +
               names.front() + " to " + names.back() + unknown;
    return outer.parameter + " " + either_of(names) + (names.size() > 1 ? unknown : "");
}

std::string progress_words(const SweepResult& sweep) {
    if (sweep.cells.empty()) return "";
    const auto recorded =
        std::ranges::count_if(sweep.cells, [](const auto& cell) { return cell.result != nullptr; });
    if (sweep.complete && !sweep.sweep.base.recording.empty() && recorded < std::ssize(sweep.cells))
        return std::to_string(recorded) + " of " + std::to_string(sweep.cells.size()) + " points recorded. ";
    if (sweep.complete) return "";
    if (sweep.sweep.search && sweep.cells.size() == sweep.sweep.cells())
        return "Measuring the fastest again. ";
    return std::to_string(sweep.cells.size()) + " of " + std::to_string(sweep.sweep.cells()) + " points. ";
}

Line copy_rates(const SweepResult& sweep) {
    Line line = line_of("a copy", {Ink::Role::limit}, {});
    for (const SweepCell& cell : sweep.cells) {
        if (!cell.result || !cell.result->copy) continue;
        line.x.push_back(*as_number(cell.values.front()));
        line.y.push_back(cell.result->copy->gigabytes_per_second());
    }
    return line;
}

double gigabytes_per_second(const Result&, const VariantResult& variant) {
    return variant.work.bytes / variant.time->median / 1e3;
}

std::string reason_refused(const SweepCell& cell, const std::string& variant) {
    if (cell.result) {
        const VariantResult* const found = find(*cell.result, variant);
        return found ? found->refused : "";
    }
    // If the reason is that of a variant, it follows the variant's name.
    const std::string name = "; " + variant + ": ";
    const size_t at = cell.refused.find(name);
    return at == std::string::npos ? cell.refused : cell.refused.substr(at + name.size());
}

void explain_missing(std::vector<Figure>& figures, const SweepResult& sweep, const std::string& variant) {
    if (sweep.cells.empty() || sweep.cells.front().result) return;
    for (Figure& figure : figures)
        if (figure.marks.empty())
            figure.missing = "Not computed: " + reason_refused(sweep.cells.front(), variant) + ".";
}

void add_lines(Figure& figure, std::vector<Line> lines) {
    if (lines.empty()) figure.missing = points_to_come;
    for (Line& line : lines) figure.marks.push_back(std::move(line));
}

void add_bars(Figure& figure, Bars bars) {
    if (bars.bars.empty())
        figure.missing = bars_to_come;
    else
        figure.marks.push_back(std::move(bars));
}

void say_why_empty(std::vector<Figure>& figures, const SweepResult& sweep) {
    const auto refused = std::find_if(sweep.cells.begin(), sweep.cells.end(),
                                      [](const SweepCell& cell) { return !cell.refused.empty(); });
    for (Figure& figure : figures)
        if (figure.missing == points_to_come || figure.missing == bars_to_come)
            figure.missing = refused == sweep.cells.end() ? "No cell of the sweep has data for this figure."
                                                          : "No cell has data for this figure. " +
                                                                cell_words(sweep.sweep, refused->values) +
                                                                ": " + refused->refused + ".";
}

namespace {

Figure empty_figure_against(const std::string& what, std::string caption, Axis x, Axis y) {
    std::string id = what + "-against-" + x.label;
    std::replace(id.begin(), id.end(), '_', '-');
    std::string title = capitalised(what) + " against " + x.label;
    return new_figure(std::move(id), Place::views, std::move(title), std::move(caption), std::move(x),
                      std::move(y));
}

}  // namespace

Figure figure_against(const std::string& what, std::string caption, Axis x, Axis y, std::vector<Line> lines) {
    Figure figure = empty_figure_against(what, std::move(caption), std::move(x), std::move(y));
    add_lines(figure, std::move(lines));
    return figure;
}

Figure time_against(const SweepResult& sweep, std::string caption, Axis x, std::vector<Line> medians) {
    Figure figure = empty_figure_against("time", std::move(caption), std::move(x), time_axis());
    add_times(figure, sweep, std::move(medians));
    return figure;
}

namespace {

// "fused is faster from 16 on: 640x at 64. ": for two variants that ran in all cells, what can be told at the
// last size, and from which size on. "" until the sweep is complete.
std::string words_of_faster(const SweepResult& sweep, const std::vector<Line>& lines) {
    if (lines.size() != 2 || lines[0].x != lines[1].x || !sweep.complete) return "";
    const auto ones = timed_cells_of(sweep, lines[0].label), others = timed_cells_of(sweep, lines[1].label);
    if (ones.empty() || ones.size() != others.size()) return "";
    const auto compared = [&](size_t cell, bool other_first) {
        return other_first ? compare(*ones[cell].result, *others[cell].variant, *ones[cell].variant)
                           : compare(*ones[cell].result, *ones[cell].variant, *others[cell].variant);
    };
    const size_t last_cell = ones.size() - 1;
    const std::string last = number_words(ones.back().x);
    const bool is_second = compared(last_cell, false).pace == Pace::slower;
    const Comparison comparison = compared(last_cell, is_second);
    if (comparison.pace == Pace::same) return "Both take the same time at " + last + ". ";
    if (comparison.pace == Pace::cannot_tell) return "Which is faster at " + last + " cannot be told. ";
    size_t since = last_cell;
    while (since > 0 && compared(since - 1, is_second).pace == Pace::faster) --since;
    const std::string from = since == 0           ? " throughout: " + ratio_words(comparison) + " at " + last
                             : since == last_cell ? " at " + last + ": " + ratio_words(comparison)
                                                  : " from " + number_words(ones[since].x) +
                                                        " on: " + ratio_words(comparison) + " at " + last;
    return lines[is_second].label + " is faster" + from + ". ";
}

}  // namespace

Figure time_figure(const SweepResult& sweep, const Family& family) {
    Axis axis = swept_axis(sweep, family);
    std::vector<Line> lines = timed_curves_of(sweep, median_us);
    Figure figure = new_figure("time_by_" + axis.label, Place::views, "Time against " + axis.label,
                               progress_words(sweep) + words_of_faster(sweep, lines), axis, time_axis());
    add_times(figure, sweep, std::move(lines));
    return figure;
}

Figure error_by_value(const SweepResult& sweep, std::string id, std::string title, std::string caption,
                      Axis x) {
    Figure figure = new_figure(std::move(id), Place::error, std::move(title), std::move(caption),
                               std::move(x), absolute_error_axis());
    const SweepAxis& swept = sweep.sweep.axes.front();
    bool has_errors = false;
    for (const SweepCell& cell : sweep.cells) {
        if (!cell.result) continue;
        for (const VariantResult& variant : cell.result->variants) {
            if (variant.errors.empty()) continue;
            has_errors = true;
            Ink ink = ink_of(variant);
            ink.dashed = cell.values.front() != swept.values.front();
            add_largest_errors(figure, variant.name + words_of(swept.parameter, cell.values.front()), ink,
                               variant.errors.front(), {});
        }
    }
    if (has_errors)
        leave_out_without_errors(figure);
    else
        add_lines(figure, {});
    lay_floor(figure);
    return figure;
}

namespace {

// "Fastest: fused at chunk 64; unfused at chunk 16 or 32 (which of them cannot be told). "
std::string words_of_best(const SweepResult& sweep, const Family& family) {
    if (!sweep.complete) return progress_words(sweep);
    if (!has_best(sweep.sweep, family)) return "";
    std::string words;
    for (const BestCells& best : best_cells(sweep))
        words += (words.empty() ? "Fastest: " : "; ") + best.variant +
                 (best.device.empty() ? "" : " on " + best.device) + " at " + fastest_words(sweep, best);
    return words.empty() ? "" : words + ". ";
}

bool are_integers(const SweepAxis& axis) {
    return std::all_of(axis.values.begin(), axis.values.end(),
                       [](const Value& value) { return std::holds_alternative<int64_t>(value); });
}

// The maps of times, one for every variant that ran.
std::vector<Figure> maps_of(const SweepResult& sweep, const Family& family) {
    std::vector<Figure> maps;
    for (const Variant& variant : family.variants) {
        const auto ran = [&](const SweepCell& cell) {
            const VariantResult* const found = cell.result ? find(*cell.result, variant.name) : nullptr;
            return found && found->ran();
        };
        if (std::none_of(sweep.cells.begin(), sweep.cells.end(), ran)) continue;
        SweepResult own = sweep;
        own.sweep.base.variants = {variant.name};
        maps.push_back(time_map(own, family, "sweep-map-" + variant.name));
    }
    return maps;
}

}  // namespace

std::vector<Figure> sweep_figures(const SweepResult& sweep, const Family& family) {
    const auto& axes = sweep.sweep.axes;
    if (axes.size() == 2 && are_integers(axes[0]) && are_integers(axes[1]))
        if (auto maps = maps_of(sweep, family); !maps.empty()) return maps;
    const Parameter& parameter = *family.parameter(axes.front().parameter);
    const Axis axis = swept_axis(axes.front(), parameter);
    Figure time = time_against(sweep, words_of_best(sweep, family) + "Median of the repeats, with quartiles.",
                               axis, timed_curves_of(sweep, median_us));
    const auto errors =
        curves_of(sweep, [](const Result&, const VariantResult& variant) -> std::optional<double> {
            if (variant.errors.empty()) return {};
            const auto& error = variant.errors.front().rel_l2;
            return error > 0.0 ? error : std::nullopt;
        });
    Figure error = figure_against(
        "error", progress_words(sweep) + "Relative to the float64 reference; zeros are not drawn.", axis,
        relative_error_axis(), errors);
    time.id = "sweep-" + parameter.name + "-time";
    error.id = "sweep-" + parameter.name + "-error";
    return {std::move(time), std::move(error)};
}

}  // namespace sawtooth
