// Figures over sweeps: what longer chunks gain and cost, and why.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "kernels/core/ceilings.h"
#include "kernels/core/table.h"
#include "kernels/figures/comparison.h"
#include "kernels/figures/correctness.h"
#include "kernels/figures/sweep_figures.h"
#include "kernels/figures/timeline.h"
#include "kernels/memory/family.h"
#include "kernels/memory/figures/common.h"
#include "kernels/memory/strategies.h"

namespace sawtooth::memory {
namespace {

Axis chunk_axis(const SweepAxis& chunks) { return swept_axis(chunks, *memory_family().parameter("chunk")); }

// The curves of the variants that walk token by token, and of those whose chunk parameter is `chunk`: the
// sweep moves chunk and C_G together. A click on a point sets the parameter.
std::vector<Line> curves_with(const SweepResult& sweep, TimedNumber number, const std::string& chunk) {
    std::vector<Line> lines = timed_curves_of(sweep, number);
    std::erase_if(lines, [&](const Line& line) {
        return has_chunks(line.label) && strategy_named(line.label).chunk != chunk;
    });
    for (Line& line : lines)
        if (has_chunks(line.label))
            line.sets.parameter = chunk;
        else
            line.sets = {};
    return lines;
}
std::vector<Line> chunk_curves(const SweepResult& sweep, TimedNumber number) {
    return curves_with(sweep, number, "chunk");
}

Figure against_chunk(const SweepResult& sweep, const char* what, std::string caption, Axis y,
                     std::vector<Line> lines) {
    return figure_against(what, std::move(caption), chunk_axis(sweep.sweep.axes.front()), std::move(y),
                          std::move(lines));
}

double as_chunk(const Value& value) { return static_cast<double>(std::get<int64_t>(value)); }
double last_chunk(const SweepResult& sweep) { return as_chunk(sweep.sweep.axes.front().values.back()); }

// The smallest and the largest y of the lines that a logarithmic axis shows.
View::Range range_of(const std::vector<Line>& lines) {
    View::Range range{std::numeric_limits<double>::infinity(), 0};
    for (const Line& line : lines)
        for (const double y : line.y)
            if (y > 0 && y < std::numeric_limits<double>::infinity())
                range = {std::min(range.low, y), std::max(range.high, y)};
    return range.high > 0 ? range : View::Range{0.1, 1};
}

// The relative L2 error of y, 0 where both are zeros; a gap if it is unknown or has non-finite values.
double error_of_y(const Result& result, const VariantResult& variant) {
    if (variant.errors.empty() || broken_values(result, variant.errors.front()) > 0) return gap;
    const OutputError& error = variant.errors.front();
    return error.rel_l2.value_or(error.max_abs == 0 ? 0 : gap);
}

// Adds a band behind the curves, over x from `low` to `high`.
void add_band(Figure& figure, std::string label, double low, double high, View::Range y) {
    figure.marks.insert(
        figure.marks.begin(),
        Band{std::move(label), {Ink::Role::quiet}, {low, high}, {y.low, y.low}, {y.high, y.high}});
}

// Marks the usual chunks of a rule or of a strategy; 0 if none are known.
void add_range(Figure& figure, const SweepResult& sweep, const std::string& whose, int64_t least,
               int64_t most, const std::vector<Line>& lines) {
    const auto low = static_cast<double>(least);
    const double end = std::min(static_cast<double>(most), last_chunk(sweep));
    if (end > low)
        add_band(figure, fmt::format("usual for {}: {} to {}", whose, least, most), low, end,
                 range_of(lines));
}
void add_range_of_rule(Figure& figure, const SweepResult& sweep, const std::vector<Line>& lines) {
    const UpdateRule& rule = rule_of(sweep.sweep.base.parameters);
    add_range(figure, sweep, rule.name, rule.least_chunk, rule.most_chunk, lines);
}

// "2.8", "235", "4.1e+07"
std::string ratio_digits(double ratio) {
    return ratio < 99.5 || ratio > 1e6 ? rounded(ratio, 2) : with_thousands(std::llround(ratio));
}

// "diverged: off by 4.1e+07 times y" if that is finite; "" if nothing diverged.
std::string words_of_divergence(const Result& result, const VariantResult& variant) {
    constexpr double most = 100;  // times as large as y itself
    if (variant.errors.empty()) return "";
    const OutputError& error = variant.errors.front();
    if (const int64_t broken = broken_values(result, error); broken > 0)
        return fmt::format("diverged: {} non-finite values of y", broken);
    if (!error.rel_l2 || *error.rel_l2 < most) return "";
    return fmt::format("diverged: off by {} times y", ratio_digits(*error.rel_l2));
}

// Labels the first diverged point of every curve, at the top if the axis cannot show it.
void add_diverged(Figure& figure, const SweepResult& sweep, View::Range y) {
    std::set<std::string> said;
    for (const SweepCell& cell : sweep.cells) {
        if (!cell.result) continue;
        for (const VariantResult& variant : cell.result->variants) {
            const std::string curve = variant.name + words_of_inner(sweep, cell);
            const std::string words = words_of_divergence(*cell.result, variant);
            if (words.empty() || !said.insert(curve).second) continue;
            const double error = error_of_y(*cell.result, variant);
            figure.marks.push_back(
                Note{as_chunk(cell.values.front()), std::isnan(error) ? y.high : error, curve + " " + words});
        }
    }
}

// The index of a line's minimum among results that are not wrong; its size if none is finite.
size_t lowest(const Line& line) {
    size_t best = line.y.size();
    const auto is_wrong = [&](size_t i) { return i < line.wrong.size() && !line.wrong[i].empty(); };
    for (size_t i = 0; i < line.y.size(); ++i)
        if (std::isfinite(line.y[i]) && !is_wrong(i) && (best == line.y.size() || line.y[i] < line.y[best]))
            best = i;
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
        if (line.y[i] >= 1)
            return fmt::format("differs from the exact rule by more than 100 % at chunk {:.0f}", line.x[i]);
    }
    return "differs from the exact rule by at most " + error_words(std::ranges::max(line.y));
}

Figure error_against_chunk(const SweepResult& sweep) {
    const std::vector<Line> lines = chunk_curves(sweep, error_of_y);
    Figure figure = against_chunk(sweep, "error", "", relative_error_axis(), lines);
    if (lines.empty()) return figure;
    if (const Line* const told = told_in_words(sweep, lines))
        figure.caption = fmt::format("{} {}.", told->label, fate(*told));
    add_range_of_rule(figure, sweep, lines);
    add_diverged(figure, sweep, range_of(lines));
    return figure;
}

Figure time_against_chunk(const SweepResult& sweep) {
    const std::vector<Line> lines = chunk_curves(sweep, median_us);
    Figure figure = time_against(sweep, progress_words(sweep), chunk_axis(sweep.sweep.axes.front()), lines);
    if (const Line* const told = told_in_words(sweep, lines))
        if (const std::string words = fastest_cells_words(sweep, told->label); !words.empty())
            figure.caption += fmt::format("{} takes least at {}; its least time is {}.", told->label, words,
                                          short_time(told->y[lowest(*told)]));
    if (!lines.empty()) add_range_of_rule(figure, sweep, lines);
    return figure;
}

// One curve per strategy, through its chunks.
Figure time_against_error(const SweepResult& sweep) {
    Figure figure = new_figure("time-against-error", Place::views, "Time against error: the trade-off",
                               "Down and to the left is better. Each point is a chunk.",
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

// "chunkwise_gd: the model picks chunk 64; measured, chunk 64 or 128 (cannot tell which) is fastest. Measured
// times are 2.8x to 3.4x the model's."
std::string verdict(const SweepResult& sweep, const Line& measured, const Line& predicted) {
    const size_t chosen = lowest(predicted);
    const std::string fastest = fastest_cells_words(sweep, measured.label);
    if (chosen == predicted.y.size()) return "";
    double least = 1e300, most = 0;
    for (size_t i = 0; i < measured.y.size(); ++i) {
        const double ratio = measured.y[i] / predicted.y[i];
        if (!std::isfinite(ratio)) continue;
        least = std::min(least, ratio);
        most = std::max(most, ratio);
    }
    const std::string measured_words = fastest.empty() ? "" : "; measured, " + fastest + " is fastest";
    return fmt::format("{}: the model picks chunk {:.0f}{}. Measured times are {}x to {}x the model's.",
                       measured.label, predicted.x[chosen], measured_words, ratio_digits(least),
                       ratio_digits(most));
}

Figure prediction_figure(const SweepResult& sweep) {
    Figure figure = new_figure("prediction", Place::views, "Time measured and predicted (dotted)",
                               progress_words(sweep), chunk_axis(sweep.sweep.axes.front()), time_axis());
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

// The utilisation of the device, and its throughput.

double utilisation_percent(const Result& result, const VariantResult& variant) {
    return variant.launches.empty() ? gap : 100 * utilisation(variant.launches, result.processors);
}

double tokens_a_second(const Result& result, const VariantResult& variant) {
    const auto tokens =
        static_cast<double>(result.parameters.integer("batch") * result.parameters.integer("length"));
    return tokens / (variant.time->median * 1e-6);
}

// The number of sequential steps: tokens for the sequential rule, otherwise chunks.
double steps_left(const Result& result, const VariantResult& variant) {
    const auto length = static_cast<double>(result.parameters.integer("length"));
    if (!has_chunks(variant.name)) return length;
    return std::ceil(length / static_cast<double>(strategy_named(variant.name).chunk_of(result.parameters)));
}

// A timed variant in one cell.
struct Point {
    std::string name;  // "exact_chunk at chunk 64"
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

// "Utilisation is not throughput: sequential, 98 %: 0.4 million tokens/s; exact_chunk at chunk 64, 80 %: 12
// million."
std::string lesson(const SweepResult& sweep) {
    std::vector<Point> points;
    for (const SweepCell& cell : sweep.cells) {
        if (!cell.result) continue;
        for (const VariantResult& variant : cell.result->variants)
            if (has_speed(variant)) points.emplace_back(*cell.result, variant);
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
    return fmt::format("Utilisation is not throughput: {}, {:.0f} %: {} tokens/s; {}, {:.0f} %: {}.",
                       busiest->name, most, busiest->rate_in_millions(), fastest->name, fastest->utilisation,
                       fastest->rate_in_millions());
}

// Compares the published share for one launch per token (Parallelization Interface) with what was measured.
std::string words_of_claim(const std::vector<Line>& lines) {
    const auto sequential =
        std::find_if(lines.begin(), lines.end(), [](const Line& line) { return line.label == "sequential"; });
    if (sequential == lines.end()) return "";
    const auto [least, most] = std::minmax_element(sequential->y.begin(), sequential->y.end());
    const std::string low = percent_number(*least / 100), high = percent_number(*most / 100);
    return fmt::format("Published for one launch per token: 5 to 15 %; here {} %.",
                       low == high ? low : low + " to " + high);
}

Figure utilisation_figure(const SweepResult& sweep) {
    std::vector<Line> lines = chunk_curves(sweep, utilisation_percent);
    std::string words = lesson(sweep);
    if (words.empty()) words = words_of_claim(lines);
    Figure figure =
        against_chunk(sweep, "utilisation", progress_words(sweep) + words,
                      {.label = "utilisation", .unit = "%", .minimum = 0, .maximum = 100}, std::move(lines));
    if (figure.missing.empty())
        add_band(figure, "Parallelization Interface: 5 to 15 %", 1, last_chunk(sweep), {5, 15});
    return figure;
}

std::vector<Figure> utilisation_figures(const SweepResult& sweep) {
    Figure throughput = against_chunk(sweep, "throughput", "",
                                      {.label = "throughput", .unit = "tokens/s", .scale = Scale::log10},
                                      chunk_curves(sweep, tokens_a_second));
    throughput.title = "Tokens per second";
    std::vector<Line> left = chunk_curves(sweep, steps_left);
    for (Line& line : left) line.wrong.clear();  // their number does not depend on the results
    Figure steps = against_chunk(sweep, "steps", "Steps that cannot run in parallel: length / chunk.",
                                 {.label = "steps", .scale = Scale::log2}, left);
    steps.title = "Sequential steps left";
    return {utilisation_figure(sweep), std::move(throughput), std::move(steps)};
}

// The figures of the strategy with shards, whose axis is its own chunk parameter. There are none if it does
// not run.
std::vector<Figure> shard_figures(const SweepResult& sweep) {
    const auto& all = strategies();
    const auto with_shards = std::find_if(all.begin(), all.end(), [](const Strategy& strategy) {
        return strategy.exact == Exact::inside_locals;
    });
    const std::string& chunk = with_shards->chunk;
    const auto lines_of = [&](TimedNumber number) { return curves_with(sweep, number, chunk); };
    const std::vector<Line> errors = lines_of(error_of_y), times = lines_of(median_us);
    const auto is_own = [&](const Line& line) { return line.label == with_shards->name; };
    if (sweep.complete && std::none_of(errors.begin(), errors.end(), is_own)) return {};
    const Axis x = swept_axis({chunk, sweep.sweep.axes.front().values}, *memory_family().parameter(chunk));
    std::vector<Figure> figures = {figure_against("error", "", x, relative_error_axis(), errors),
                                   time_against(sweep, progress_words(sweep), x, times)};
    const auto own = std::find_if(errors.begin(), errors.end(), is_own);
    if (own != errors.end())
        figures[0].caption = fmt::format("{} {}, with C_L fixed.", own->label, fate(*own));
    for (size_t i = 0; i < figures.size() && !errors.empty(); ++i)
        add_range(figures[i], sweep, with_shards->name, with_shards->least_chunk, with_shards->most_chunk,
                  i == 0 ? errors : times);
    return figures;
}

}  // namespace

std::vector<Figure> chunk_figures(const SweepResult& sweep) {
    std::vector<Figure> figures = {error_against_chunk(sweep), time_against_chunk(sweep),
                                   time_against_error(sweep), prediction_figure(sweep)};
    for (auto&& more : {utilisation_figures(sweep), shard_figures(sweep)})
        figures.insert(figures.end(), more.begin(), more.end());
    return figures;
}

std::vector<Figure> growth_figures(const SweepResult& sweep) {
    const Parameters& parameters = sweep.sweep.base.parameters;
    Figure figure = new_figure("error-growth", Place::views,
                               fmt::format("How far frozen errors go: {}, {} tokens", parameters.text("rule"),
                                           with_thousands(parameters.integer("length"))),
                               "", chunk_axis(sweep.sweep.axes.front()), relative_error_axis());
    const std::vector<Line> lines = curves_of(sweep, error_of_y);
    add_lines(figure, lines);
    if (lines.empty()) return {std::move(figure)};
    add_diverged(figure, sweep, range_of(lines));
    figure.marks.push_back(Rule{Rule::Across::y, 1, "as large as y", {Ink::Role::limit}});
    figure.caption = "Parallelization Interface promises a bounded error. Measured:";
    for (const Line& line : lines)
        figure.caption += fmt::format("{} {} {}", &line == &lines.front() ? "" : ";", line.label, fate(line));
    figure.caption += ".";
    return {std::move(figure)};
}

}  // namespace sawtooth::memory
