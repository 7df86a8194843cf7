// Figures over sweeps: gain and cost of longer chunks, and why.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "kernels/core/ceilings.h"
#include "kernels/core/comparison.h"
#include "kernels/core/correctness.h"
#include "kernels/core/sweep_figures.h"
#include "kernels/core/table.h"
#include "kernels/core/timeline.h"
#include "kernels/memory/family.h"
#include "kernels/memory/figures/common.h"
#include "kernels/memory/strategies.h"

namespace sawtooth::memory {
namespace {

Axis chunk_axis(const SweepAxis& chunks) { return swept_axis(chunks, *memory_family().parameter("chunk")); }

// A click on a point sets the chunk (the shard of tnt) if the strategy has one.
std::vector<Line> chunk_curves(const SweepResult& sweep, TimedNumber number) {
    std::vector<Line> lines = timed_curves_of(sweep, number);
    for (Line& line : lines)
        if (has_chunks(line.label))
            line.sets.parameter = strategy_named(line.label).chunk;
        else
            line.sets = {};
    return lines;
}

Figure against_chunk(const SweepResult& sweep, const char* what, std::string caption, Axis y,
                     std::vector<Line> lines) {
    return figure_against(what, std::move(caption), chunk_axis(sweep.sweep.axes.front()), std::move(y),
                          std::move(lines));
}

double as_chunk(const Value& value) { return static_cast<double>(std::get<int64_t>(value)); }
double last_chunk(const SweepResult& sweep) { return as_chunk(sweep.sweep.axes.front().values.back()); }

// Smallest and largest y of the lines that a logarithmic axis shows.
View::Range range_of(const std::vector<Line>& lines) {
    View::Range range{std::numeric_limits<double>::infinity(), 0};
    for (const Line& line : lines)
        for (const double y : line.y)
            if (y > 0 && y < std::numeric_limits<double>::infinity())
                range = {std::min(range.low, y), std::max(range.high, y)};
    return range.high > 0 ? range : View::Range{0.1, 1};
}

// Relative L2 error of y; a gap if it is unknown or has non-finite values.
double error_of_y(const Result&, const VariantResult& variant) {
    if (variant.errors.empty() || !variant.errors.front().rel_l2) return gap;
    return variant.errors.front().nonfinite > 0 ? gap : *variant.errors.front().rel_l2;
}

// Behind the curves, over x from `low` to `high`.
void add_band(Figure& figure, std::string label, double low, double high, View::Range y) {
    figure.marks.insert(
        figure.marks.begin(),
        Band{std::move(label), {Ink::Role::quiet}, {low, high}, {y.low, y.low}, {y.high, y.high}});
}

// The chunks that the source recommends for a rule.
void add_ranges(Figure& figure, const SweepResult& sweep, const std::vector<Line>& lines) {
    const auto add = [&](const std::string& whose, int64_t from, int64_t to) {
        const auto low = static_cast<double>(from), high = static_cast<double>(to);
        const double end = std::min(high, last_chunk(sweep));
        if (end > low)
            add_band(figure, fmt::format("the source's range for {}: {} to {}", whose, low, high), low, end,
                     range_of(lines));
    };
    const UpdateRule& rule = rule_of(sweep.sweep.base.parameters);
    if (rule.most_chunk > 0) add(rule.name, rule.least_chunk, rule.most_chunk);
    for (const Line& line : lines) {
        const Strategy& strategy = strategy_named(line.label);
        if (strategy.most_chunk > 0)
            add(strategy.chunk + " of " + strategy.name, strategy.least_chunk, strategy.most_chunk);
    }
}

// "diverged: off by 4.1e+07 times y" if that is finite; "" if nothing diverged.
std::string words_of_divergence(const VariantResult& variant) {
    constexpr double most = 100;  // times as large as y itself
    if (variant.errors.empty()) return "";
    const OutputError& error = variant.errors.front();
    if (error.nonfinite > 0) return fmt::format("diverged: {} non-finite values of y", error.nonfinite);
    if (!error.rel_l2 || *error.rel_l2 < most) return "";
    return fmt::format("diverged: off by {} times y", short_number(*error.rel_l2));
}

// Labels the first diverged point of every curve; at the top if the axis cannot show it.
void add_diverged(Figure& figure, const SweepResult& sweep, View::Range y) {
    std::set<std::string> said;
    for (const SweepCell& cell : sweep.cells) {
        if (!cell.result) continue;
        for (const VariantResult& variant : cell.result->variants) {
            const std::string curve = variant.name + words_of_inner(sweep, cell);
            const std::string words = words_of_divergence(variant);
            if (words.empty() || !said.insert(curve).second) continue;
            const double error = error_of_y(*cell.result, variant);
            figure.marks.push_back(
                Note{as_chunk(cell.values.front()), std::isnan(error) ? y.high : error, curve + " " + words});
        }
    }
}

// The index of a line's minimum; its size if no value is finite.
size_t lowest(const Line& line) {
    size_t best = line.y.size();
    for (size_t i = 0; i < line.y.size(); ++i)
        if (std::isfinite(line.y[i]) && (best == line.y.size() || line.y[i] < line.y[best])) best = i;
    return best;
}

// The strategy named in captions: the drawn one, or the first with chunks; null if no line has chunks.
const Line* told_in_words(const SweepResult& sweep, const std::vector<Line>& lines) {
    const std::string& drawn = sweep.sweep.base.parameters.text("drawn_strategy");
    const Line* first = nullptr;
    for (const Line& line : lines) {
        if (line.label == drawn) return &line;
        if (!first && has_chunks(line.label)) first = &line;
    }
    return first;
}

// The outcome of one curve, in words.
std::string fate(const Line& line) {
    for (size_t i = 0; i < line.x.size(); ++i) {
        if (std::isnan(line.y[i])) return fmt::format("diverges at chunk {:.0f}", line.x[i]);
        if (line.y[i] >= 1) return fmt::format("is as large as y itself at chunk {:.0f}", line.x[i]);
    }
    return "stays below " + error_words(range_of({line}).high);
}

constexpr const char* axis_of_tnt = "The axis of tnt is C_G; C_L is fixed.";

Figure error_against_chunk(const SweepResult& sweep) {
    const std::vector<Line> lines = chunk_curves(sweep, error_of_y);
    Figure figure = against_chunk(sweep, "error", axis_of_tnt, relative_error_axis(), lines);
    if (lines.empty()) return figure;
    if (const Line* const told = told_in_words(sweep, lines))
        figure.caption = fmt::format("The error of {} {}. {}", told->label, fate(*told), figure.caption);
    add_ranges(figure, sweep, lines);
    add_diverged(figure, sweep, range_of(lines));
    return figure;
}

Figure time_against_chunk(const SweepResult& sweep) {
    const std::vector<Line> lines = chunk_curves(sweep, median_us);
    Figure figure = against_chunk(sweep, "time", progress_words(sweep) + axis_of_tnt, time_axis(), {});
    figure.missing.clear();
    add_times(figure, sweep, lines);
    if (const Line* const told = told_in_words(sweep, lines))
        if (const std::string words = fastest_cells_words(sweep, told->label); !words.empty())
            figure.caption = fmt::format("{} is fastest at {}: {}. {}", told->label, words,
                                         short_time(told->y[lowest(*told)]), figure.caption);
    if (!lines.empty()) add_ranges(figure, sweep, lines);
    return figure;
}

// A strategy's curve through its chunks.
Figure time_against_error(const SweepResult& sweep) {
    Figure figure = new_figure("time-against-error", Place::views, "Time against error: the trade-off",
                               "Down and to the left is better; every point is a chunk.",
                               relative_error_axis(), time_axis());
    std::vector<Line> lines = chunk_curves(sweep, median_us);
    const std::vector<Line> errors = chunk_curves(sweep, error_of_y);
    for (size_t i = 0; i < lines.size(); ++i) lines[i].x = errors[i].y;
    add_lines(figure, std::move(lines));
    return figure;
}

// The time predicted only from launch cost, work and ceilings, without fitting: every launch costs an empty
// launch plus the time of its operations or bytes, whichever is longer, at the measured rates of the machine.
// A launch whose items do not divide evenly among the workers waits for the last of them.
double predicted_us(const LaunchInfo& info, const Result& result) {
    const auto items = static_cast<double>(std::max<int64_t>(info.grid.x * info.grid.y * info.grid.z, 1));
    const auto workers = static_cast<double>(std::max(result.processors, 1));
    const double longest_share = std::ceil(items / workers) / items;
    const double rate = peak_operations_per_second(*result.ceilings, result.parameters) / workers;
    const double compute = info.work.operations / rate * longest_share;
    const double move = info.work.bytes / result.ceilings->copy_bytes_per_second;
    return empty_launch_us(*result.ceilings, follow_of(result.parameters)) + 1e6 * std::max(compute, move);
}

double predicted(const Result& result, const VariantResult& variant) {
    if (!result.ceilings || result.ceilings->operations_per_second <= 0 || variant.launches.empty())
        return gap;
    double us = 0;
    for (const LaunchRecord& launch : variant.launches) us += predicted_us(*launch.info, result);
    // Launches that were not recorded are assumed to be like the recorded ones.
    const auto kept = static_cast<double>(variant.launches.size());
    return us * std::max(1.0, static_cast<double>(variant.launch_count) / kept);
}

// " chunkwise_gd: the model picks chunk 64; measured, one of chunk 64 or 128 is fastest. Measured times are
// 2.8x to 3.4x the predicted."
std::string verdict(const SweepResult& sweep, const Line& measured, const Line& predicted) {
    const size_t chosen = lowest(predicted);
    const std::string fastest = fastest_cells_words(sweep, measured.label);
    if (chosen == predicted.y.size() || fastest.empty()) return "";
    double least = 1e300, most = 0;
    for (size_t i = 0; i < measured.y.size(); ++i) {
        const double ratio = measured.y[i] / predicted.y[i];
        if (!std::isfinite(ratio)) continue;
        least = std::min(least, ratio);
        most = std::max(most, ratio);
    }
    return fmt::format(
        " {}: the model picks chunk {:.0f}; measured, {} is fastest. Measured times are {}x to {}x the "
        "predicted.",
        measured.label, predicted.x[chosen], fastest, rounded(least, 2), rounded(most, 2));
}

Figure prediction_figure(const SweepResult& sweep) {
    Figure figure = new_figure("prediction", Place::views, "Time predicted and measured",
                               "Dashed: predicted from launch cost, work and ceilings.",
                               chunk_axis(sweep.sweep.axes.front()), time_axis());
    const std::vector<Line> times = chunk_curves(sweep, median_us), guesses = chunk_curves(sweep, predicted);
    const Line* const told = told_in_words(sweep, times);
    std::vector<Line> lines;
    for (size_t i = 0; i < times.size(); ++i) {
        if (!has_chunks(times[i].label)) continue;  // no chunk to choose
        lines.push_back(times[i]);
        Line guess = guesses[i];
        const size_t chosen = lowest(guess);
        if (chosen == guess.y.size()) continue;
        guess.label += ", predicted";
        guess.ink.dashed = true;
        guess.markers = false;
        guess.sets = {};
        guess.wrong.clear();
        if (&times[i] == told) {
            figure.caption += verdict(sweep, times[i], guesses[i]);
            figure.marks.push_back(
                Note{guess.x[chosen], guess.y[chosen], fmt::format("chooses {:.0f}", guess.x[chosen])});
        }
        lines.push_back(std::move(guess));
    }
    add_lines(figure, std::move(lines));
    return figure;
}

// How busy the device is, and its throughput.

double utilisation_percent(const Result& result, const VariantResult& variant) {
    return variant.launches.empty() ? gap : 100 * utilisation(variant.launches, result.processors);
}

double tokens_a_second(const Result& result, const VariantResult& variant) {
    const auto tokens =
        static_cast<double>(result.parameters.integer("batch") * result.parameters.integer("length"));
    return tokens / (variant.time->median * 1e-6);
}

// Sequential steps: tokens for the sequential rule, otherwise chunks.
double steps_left(const Result& result, const VariantResult& variant) {
    const auto length = static_cast<double>(result.parameters.integer("length"));
    if (!has_chunks(variant.name)) return length;
    return std::ceil(length / static_cast<double>(strategy_named(variant.name).chunk_of(result.parameters)));
}

// A timed variant in one cell.
struct Point {
    std::string name;  // "tnt at chunk 64"
    double rate, utilisation;
    const TimeStatistics* time;

    Point(const Result& result, const VariantResult& variant)
        : name(variant.name),
          rate(tokens_a_second(result, variant)),
          utilisation(utilisation_percent(result, variant)),
          time(&*variant.time) {
        if (has_chunks(name))
            name += fmt::format(" at chunk {}", strategy_named(variant.name).chunk_of(result.parameters));
    }
    std::string rate_in_millions() const {
        return rate < 1e7 ? fmt::format("{:.2g} million", rate / 1e6)
                          : fmt::format("{:.0f} million", rate / 1e6);
    }
};

// "… sequential reaches 98 % and 0.4 million tokens per second; tnt at chunk 64 12 million. "
std::string lesson(const SweepResult& sweep) {
    std::vector<Point> points;
    for (const SweepCell& cell : sweep.cells) {
        if (!cell.result) continue;
        for (const VariantResult& variant : cell.result->variants)
            if (variant.time) points.emplace_back(*cell.result, variant);
    }
    const auto fastest = std::max_element(points.begin(), points.end(),
                                          [](const Point& a, const Point& b) { return a.rate < b.rate; });
    if (fastest == points.end()) return "";
    const Point* busiest = nullptr;
    double most = 50;  // percent: below this a device is not busy
    for (const Point& point : points)
        if (point.utilisation > most && compare_apart(*fastest->time, *point.time).low > 3)
            most = point.utilisation, busiest = &point;
    if (!busiest) return "";
    return fmt::format("Utilisation is not throughput: {} reaches {:.0f} % and {} tokens per second; {} {}. ",
                       busiest->name, most, busiest->rate_in_millions(), fastest->name,
                       fastest->rate_in_millions());
}

// With the claim of the source: 5 to 15 % with one launch per token.
Figure utilisation_figure(const SweepResult& sweep) {
    Figure figure = against_chunk(
        sweep, "utilisation",
        progress_words(sweep) + lesson(sweep) + "The mean share of the time in which a worker (SM) is busy.",
        {.label = "utilisation", .unit = "%", .minimum = 0, .maximum = 100},
        chunk_curves(sweep, utilisation_percent));
    if (figure.missing.empty())
        add_band(figure, "source: 5 to 15 % with one launch per token", 1, last_chunk(sweep), {5, 15});
    return figure;
}

std::vector<Figure> utilisation_figures(const SweepResult& sweep) {
    Figure throughput = against_chunk(sweep, "throughput", "Tokens per second, for any utilisation.",
                                      {.label = "throughput", .unit = "tokens/s", .scale = Scale::log10},
                                      chunk_curves(sweep, tokens_a_second));
    throughput.title = "Tokens per second";
    std::vector<Line> left = chunk_curves(sweep, steps_left);
    for (Line& line : left) line.wrong.clear();  // their number does not depend on the results
    Figure steps = against_chunk(sweep, "steps", "L / C: the steps that cannot run in parallel.",
                                 {.label = "steps", .scale = Scale::log2}, left);
    steps.title = "Sequential steps left";
    return {utilisation_figure(sweep), std::move(throughput), std::move(steps)};
}

}  // namespace

std::vector<Figure> chunk_figures(const SweepResult& sweep) {
    std::vector<Figure> figures = {error_against_chunk(sweep), time_against_chunk(sweep),
                                   time_against_error(sweep), prediction_figure(sweep)};
    for (Figure& figure : utilisation_figures(sweep)) figures.push_back(std::move(figure));
    return figures;
}

std::vector<Figure> growth_figures(const SweepResult& sweep) {
    const Parameters& parameters = sweep.sweep.base.parameters;
    Figure figure = new_figure("error-growth", Place::views,
                               fmt::format("How frozen errors grow: {}, {} tokens", parameters.text("rule"),
                                           parameters.integer("length")),
                               "", chunk_axis(sweep.sweep.axes.front()), relative_error_axis());
    const std::vector<Line> lines = curves_of(sweep, error_of_y);
    add_lines(figure, lines);
    if (lines.empty()) return {std::move(figure)};
    add_diverged(figure, sweep, range_of(lines));
    figure.marks.push_back(Rule{Rule::Across::y, 1, "as large as y", {Ink::Role::limit}});
    figure.caption = "The source promises a bounded error of chunkwise_gd.";
    for (const Line& line : lines) figure.caption += fmt::format(" {}: it {}.", line.label, fate(line));
    return {std::move(figure)};
}

}  // namespace sawtooth::memory
