// What the sweeps run, and their figures.

#include "kernels/lut_sequence/figures/sweeps.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kernels/core/common_parameters.h"
#include "kernels/core/correctness.h"
#include "kernels/core/figures.h"
#include "kernels/core/sweep_figures.h"
#include "kernels/core/table.h"
#include "kernels/lut_sequence/family.h"
#include "kernels/lut_sequence/parts.h"

namespace sawtooth::lut_sequence {
namespace {

// "sequence_length 32, detectors 8, forward": what all cells have in common.
std::string shape_words(const SweepResult& sweep) {
    const Parameters& base = sweep.sweep.base.parameters;
    std::string words;
    for (const char* name :
         {"batch", "sequence_length", "detectors", "anchors_per_detector", "positional_bits", "outputs"})
        if (name != sweep.sweep.axes.front().parameter)
            words += fmt::format("{} {}, ", name, to_text(base.at(name)));
    return words + (runs_backward(base) ? "with backward" : "forward");
}

// "unfused takes 1.2 ms, fused 300 us"
std::string words_of_last(const std::vector<Line>& lines) {
    std::string words;
    for (const Line& line : lines)
        words += fmt::format("{}{}{}", words.empty() ? "" : ", ",
                             line.label + (words.empty() ? " takes " : " "), short_time(line.y.back()));
    return words;
}

// "unfused 4.1x, fused 3.9x": the last point beside the one before it; "" without one.
std::string words_of_growth(const std::vector<Line>& lines) {
    std::string words;
    for (const Line& line : lines) {
        if (line.y.size() < 2) return "";
        words += fmt::format("{}{} {:.2g}x", words.empty() ? "" : ", ", line.label,
                             line.y.back() / line.y[line.y.size() - 2]);
    }
    return words;
}

// `beside` says what the growth from the last value but one, given first, is to be compared with.
Figure time_against(const SweepResult& sweep, std::string id, std::string (*beside)(double, double)) {
    const SweepAxis& swept = sweep.sweep.axes.front();
    std::vector<Line> lines = timed_curves_of(sweep, median_us);
    Figure figure =
        new_figure(std::move(id), Place::views, "Time against " + swept.parameter, "",
                   swept_axis(swept, *lut_sequence_family().parameter(swept.parameter)), time_axis());
    if (!lines.empty()) {
        const std::vector<double>& x = lines.front().x;
        figure.caption = fmt::format("At {:.0f} {}. ", x.back(), words_of_last(lines));
        if (const std::string growth = words_of_growth(lines); !growth.empty())
            figure.caption += fmt::format("From {:.0f} to {:.0f}: {}, {}. ", x[x.size() - 2], x.back(),
                                          growth, beside(x[x.size() - 2], x.back()));
        figure.caption += shape_words(sweep) + ".";
    }
    add_lines(figure, std::move(lines));
    return figure;
}

std::vector<Figure> explained(const SweepResult& sweep, Figure figure) {
    std::vector<Figure> figures = {std::move(figure)};
    explain_missing(figures, sweep, "unfused");
    return figures;
}

std::string growth_of_pairs(double before, double last) {
    return fmt::format("for {:.2g}x the pairs", last * (last - 1) / (before * (before - 1)));
}
std::string growth_of_detectors(double before, double last) {
    return fmt::format("for {:.2g}x the detectors", last / before);
}
std::string growth_of_rows(double before, double last) {
    return fmt::format("for {:.0f}x the rows", std::exp2(2 * (last - before)));
}

// One segment per kernel, in the order of their first start.
std::vector<Bar::Segment> segments_of(const VariantResult& variant) {
    std::vector<Bar::Segment> segments;
    for (const LaunchRecord& launch : variant.launches) {
        auto same = std::find_if(segments.begin(), segments.end(),
                                 [&](const Bar::Segment& each) { return each.label == launch.info->name; });
        if (same == segments.end()) same = segments.insert(segments.end(), {launch.info->name, 0});
        same->length += launch.duration_us;
    }
    return segments;
}

SweepAxis powers_of_two(const std::string& parameter, int64_t first, int64_t last) {
    SweepAxis axis{parameter, {}};
    for (int64_t value = first; value <= last; value *= 2) axis.values.emplace_back(value);
    return axis;
}

}  // namespace

std::vector<Figure> length_figures(const SweepResult& sweep) {
    return explained(sweep, time_against(sweep, "time_by_length", growth_of_pairs));
}

std::vector<Figure> detector_figures(const SweepResult& sweep) {
    return explained(sweep, time_against(sweep, "time_by_detectors", growth_of_detectors));
}

std::vector<Figure> anchor_figures(const SweepResult& sweep) {
    return explained(sweep, time_against(sweep, "time_by_anchors", growth_of_rows));
}

std::vector<Figure> event_sweep_figures(const SweepResult& sweep) {
    Figure figure = new_figure("time_by_events", Place::views, "Time by kernel: buffer and statistic", "",
                               {.label = "time", .unit = "us", .minimum = 0}, {.label = "events"});
    Bars bars;
    std::string words;
    for (const SweepCell& cell : sweep.cells) {
        const VariantResult* const unfused = cell.result ? find(*cell.result, "unfused") : nullptr;
        if (!unfused || !unfused->time) continue;
        const std::string name = to_text(cell.values.front());
        std::vector<Bar::Segment> segments = segments_of(*unfused);
        const auto longest =
            std::max_element(segments.begin(), segments.end(),
                             [](const auto& one, const auto& other) { return one.length < other.length; });
        if (longest != segments.end())
            words += fmt::format("{}: {}, most of it in {} ({}). ", name, short_time(unfused->time->median),
                                 longest->label, short_time(longest->length));
        bars.bars.push_back({.ink = ink_of(*unfused),
                             .segments = std::move(segments),
                             .low = unfused->time->q1,
                             .high = unfused->time->q3,
                             .text = short_time(unfused->time->median),
                             .badge = wrong_words(*cell.result, *unfused)});
        figure.y.categories.push_back(name);
    }
    if (bars.bars.empty()) {
        figure.missing = "Bars appear as the sweep runs.";
    } else {
        figure.caption = words + shape_words(sweep) + ".";
        figure.marks.push_back(std::move(bars));
    }
    return explained(sweep, std::move(figure));
}

std::vector<FigureSweep> sweeps(const Parameters& parameters) {
    constexpr int64_t most_bits = 16;  // of a row: wider tables are slow to make
    SweepAxis anchors{"anchors_per_detector", {}};
    for (int64_t c = 1; 2 * c + parameters.integer("positional_bits") <= most_bits; ++c)
        anchors.values.emplace_back(c);
    const SweepAxis events{"events", {"buffer", "statistic"}};
    std::vector<FigureSweep> all;
    for (const Backend backend : {Backend::cpu, Backend::cuda}) {
        const bool on_cpu = backend == Backend::cpu;
        std::vector<std::pair<std::string, Value>> shape;
        if (on_cpu)
            for (const auto& [name, most] : {std::pair{"batch", 1},
                                             {"sequence_length", 32},
                                             {"detectors", 16},
                                             {"outputs", 64},
                                             {"anchors_per_detector", 4}})
                shape.emplace_back(name, std::min<int64_t>(parameters.integer(name), most));
        const auto add = [&](const char* title, const SweepAxis& axis, std::vector<std::string> variants,
                             auto* figures) {
            all.push_back({axis.parameter, title, {axis}, shape, std::move(variants), figures, backend});
        };
        add("time against length", powers_of_two("sequence_length", 4, on_cpu ? 64 : 128), {},
            length_figures);
        add("time against detectors", powers_of_two("detectors", 1, on_cpu ? 32 : 128), {}, detector_figures);
        if (!anchors.values.empty()) add("time against anchors", anchors, {}, anchor_figures);
        add("buffer against statistic", events, {"unfused"}, event_sweep_figures);
    }
    return all;
}

}  // namespace sawtooth::lut_sequence
