#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "kernels/core/table.h"
#include "kernels/memory/figure_parts.h"
#include "kernels/memory/strategies.h"

namespace sawtooth::memory {
namespace {

// Relative L2 error of y; absent where it is not known or holds values that are not finite.
double error_of_y(const Result&, const VariantResult& variant) {
    if (variant.errors.empty() || !variant.errors.front().rel_l2) return nan;
    return variant.errors.front().nonfinite > 0 ? nan : *variant.errors.front().rel_l2;
}

double median_us(const Result&, const VariantResult& variant) { return variant.time->median; }

int64_t chunk_at(const SweepCell& cell) { return std::get<int64_t>(cell.values.front()); }

// The chunks that the source recommends for a rule, behind its curves.
void add_range(Figure& figure, const std::string& whose, double low, double high, View::Range y,
               double last_chunk) {
    const double end = std::min(high, last_chunk);
    if (end <= low) return;
    figure.marks.insert(figure.marks.begin(),
                        Band{fmt::format("the source's range for {}: {} to {}", whose, low, high),
                             {Ink::Role::quiet},
                             {low, end},
                             {y.low, y.low},
                             {y.high, y.high}});
}

void add_ranges(Figure& figure, const SweepResult& sweep, const std::vector<Line>& lines) {
    const Parameters& parameters = sweep.sweep.base.parameters;
    const View::Range y = range_of(lines);
    const auto last = static_cast<double>(std::get<int64_t>(sweep.sweep.axes.front().values.back()));
    if (parameters.is("rule", "titans")) add_range(figure, "titans", 64, 512, y, last);
    if (parameters.is("rule", "lattice")) add_range(figure, "lattice", 16, 256, y, last);
    const bool has_shards =
        std::any_of(lines.begin(), lines.end(), [](const Line& line) { return line.label == "tnt"; });
    if (has_shards) add_range(figure, "C_G of tnt", 128, 2048, y, last);
}

// "diverged: 4.1e+07 times y" where that is finite. "" where nothing diverged.
std::string words_of_divergence(const VariantResult& variant) {
    constexpr double most = 100;  // times as large as y itself
    if (variant.errors.empty()) return "";
    const OutputError& error = variant.errors.front();
    if (error.nonfinite > 0) return fmt::format("diverged: {} values of y not finite", error.nonfinite);
    if (!error.rel_l2 || *error.rel_l2 < most) return "";
    return fmt::format("diverged: off by {} times y", short_number(*error.rel_l2));
}

// The first point of every strategy that diverged, in words; at the top where the axis cannot show it.
void add_diverged(Figure& figure, const SweepResult& sweep, View::Range y) {
    std::set<std::string> said;
    for (const SweepCell& cell : sweep.cells) {
        if (!cell.result) continue;
        for (const VariantResult& variant : cell.result->variants) {
            const std::string words = words_of_divergence(variant);
            if (words.empty() || !said.insert(variant.name).second) continue;
            const double error = error_of_y(*cell.result, variant);
            figure.marks.push_back(Note{static_cast<double>(chunk_at(cell)),
                                        std::isnan(error) ? y.high : error, variant.name + " " + words});
        }
    }
}

Figure error_figure(const SweepResult& sweep) {
    Figure figure = new_figure("error-against-chunk", Place::views, "Error against chunk",
                               "Relative L2 error of y; the axis of tnt is C_G, with C_L kept.", chunk_axis(),
                               {.label = "relative error, L2", .scale = Scale::log10});
    std::vector<Line> lines = curves_of(sweep, error_of_y);
    const std::vector<Line> drawn = lines;
    add_lines(figure, std::move(lines));
    if (drawn.empty()) return figure;
    add_ranges(figure, sweep, drawn);
    add_diverged(figure, sweep, range_of(drawn));
    return figure;
}

Figure time_figure(const SweepResult& sweep) {
    Figure figure = new_figure("time-against-chunk", Place::views, "Time against chunk",
                               "Median of the repeats; the axis of tnt is C_G, with C_L kept.", chunk_axis(),
                               {.label = "time", .unit = "us", .scale = Scale::log10});
    std::vector<Line> lines = curves_of(sweep, median_us);
    const std::vector<Line> drawn = lines;
    add_lines(figure, std::move(lines));
    if (drawn.empty()) return figure;
    add_ranges(figure, sweep, drawn);
    return figure;
}

// A strategy's curve through its chunks.
Figure time_against_error(const SweepResult& sweep) {
    Figure figure = new_figure("time-against-error", Place::views, "Time against error: the trade-off",
                               "Down and to the left is better. Every point is a chunk: a click on it sets "
                               "it.",
                               {.label = "relative error of y, L2", .scale = Scale::log10},
                               {.label = "time", .unit = "us", .scale = Scale::log10});
    const std::vector<Line> errors = curves_of(sweep, error_of_y), times = curves_of(sweep, median_us);
    std::vector<Line> lines;
    for (size_t i = 0; i < errors.size(); ++i) {
        Line line = times[i];
        line.x = errors[i].y;
        lines.push_back(std::move(line));
    }
    add_lines(figure, std::move(lines));
    return figure;
}

}  // namespace

std::vector<Figure> tradeoff_figures(const SweepResult& sweep) {
    std::vector<Figure> figures = {error_figure(sweep), time_figure(sweep), time_against_error(sweep),
                                   prediction_figure(sweep)};
    for (Figure& figure : utilisation_figures(sweep)) figures.push_back(std::move(figure));
    return figures;
}

namespace {

// What became of one curve, in words.
std::string fate(const Line& line) {
    for (size_t i = 0; i < line.x.size(); ++i) {
        if (std::isnan(line.y[i])) return fmt::format("diverges at chunk {:.0f}", line.x[i]);
        if (line.y[i] < 1) continue;
        return fmt::format("is as large as y itself at chunk {:.0f}", line.x[i]);
    }
    return "stays below " + short_number(range_of({line}).high);
}

}  // namespace

std::vector<Figure> growth_figures(const SweepResult& sweep) {
    const Parameters& parameters = sweep.sweep.base.parameters;
    Figure figure = new_figure("error-growth", Place::views,
                               fmt::format("How frozen errors grow: {}, {} tokens", parameters.text("rule"),
                                           parameters.integer("length")),
                               "", chunk_axis(), {.label = "relative error of y, L2", .scale = Scale::log10});
    std::vector<Line> lines;
    std::set<std::string> said;
    for (const SweepCell& cell : sweep.cells) {
        if (!cell.result || cell.result->variants.empty()) continue;
        const VariantResult& variant = cell.result->variants.front();
        const std::string label = "d " + to_text(cell.values.front());
        if (lines.empty() || lines.back().label != label)
            lines.push_back(
                {label, {Ink::Role::variant, variant.index, !lines.empty()}, {}, {}, true, {"chunk", {}}});
        const auto chunk = static_cast<double>(std::get<int64_t>(cell.values.back()));
        const double error = error_of_y(*cell.result, variant);
        lines.back().x.push_back(chunk);
        lines.back().y.push_back(error);
        lines.back().sets.values.push_back(chunk);
        const std::string words = words_of_divergence(variant);
        if (!words.empty() && said.insert(label).second)
            figure.marks.push_back(Note{chunk, std::isnan(error) ? 1 : error, label + " " + words});
    }
    const std::vector<Line> drawn = lines;
    add_lines(figure, std::move(lines));
    if (drawn.empty()) return {std::move(figure)};
    figure.marks.push_back(Rule{Rule::Across::y, 1, "as large as y", {Ink::Role::limit}});
    figure.caption = "The source promises a bounded error of chunkwise_gd.";
    for (const Line& line : drawn) figure.caption += fmt::format(" At {} it {}.", line.label, fate(line));
    return {std::move(figure)};
}

}  // namespace sawtooth::memory
