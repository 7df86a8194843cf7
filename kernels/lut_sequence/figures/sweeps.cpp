// The sweeps of the family, and the figure over the parameter `events`.

#include "kernels/lut_sequence/figures/sweeps.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kernels/core/common_parameters.h"
#include "kernels/core/table.h"
#include "kernels/figures/comparison.h"
#include "kernels/figures/correctness.h"
#include "kernels/figures/figures.h"
#include "kernels/figures/launch_figures.h"
#include "kernels/figures/sweep_figures.h"
#include "kernels/lut_sequence/family.h"
#include "kernels/lut_sequence/parts.h"
#include "kernels/lut_table/figures/sweeps.h"

namespace sawtooth::lut_sequence {
namespace {

// A timed cell of unfused.
struct EventCell {
    std::string name;  // the value of the parameter `events`
    const Result& result;
    const VariantResult& unfused;
    std::vector<Kernel> kernels;

    double us() const { return unfused.time->median; }
};

std::vector<EventCell> event_cells(const SweepResult& sweep) {
    std::vector<EventCell> cells;
    for (const SweepCell& cell : sweep.cells) {
        const VariantResult* const unfused = cell.result ? find(*cell.result, "unfused") : nullptr;
        if (unfused && unfused->time)
            cells.push_back({to_text(cell.values.front()), *cell.result, *unfused, kernels_of(*unfused)});
    }
    return cells;
}

Bar bar_of(const EventCell& cell) {
    Bar bar{.ink = ink_of(cell.unfused),
            .segments = {},
            .low = cell.unfused.time->q1,
            .high = cell.unfused.time->q3,
            .text = time_words(*cell.unfused.time),
            .badge = wrong_badge(cell.unfused)};
    const double all = total_us(cell.kernels);
    // The kernels are those of the repeat closest to the median; they are scaled so that the bar has exactly
    // the length of the median.
    for (const Kernel& kernel : cell.kernels)
        bar.segments.push_back({kernel.name, kernel.us / all * cell.us()});
    if (bar.segments.empty()) bar.segments.push_back({"unfused", cell.us()});
    return bar;
}

// ", of which fill_outputs_by_sparse_firings takes 120 us"
std::string words_of_longest(const std::vector<Kernel>& kernels) {
    if (kernels.empty()) return "";
    const Kernel longest = longest_of(kernels, 1).front();
    return fmt::format(", of which {} takes {}", longest.name, short_time(longest.us));
}

}  // namespace

std::vector<Figure> size_figures(const SweepResult& sweep) {
    return lut_table::size_figures(sweep, lut_sequence_family());
}

std::vector<Figure> event_sweep_figures(const SweepResult& sweep) {
    Figure figure = new_figure("time_by_events", Place::views, "Time by kernel: buffer and statistic", "",
                               {.label = "time", .unit = "us", .minimum = 0}, {.label = "events"});
    Bars bars;
    for (const EventCell& cell : event_cells(sweep)) {
        bars.bars.push_back(bar_of(cell));
        figure.y.categories.push_back(cell.name);
        figure.caption += fmt::format("{}: {}{}. ", cell.name, time_words(*cell.unfused.time),
                                      words_of_longest(cell.kernels));
    }
    add_bars(figure, std::move(bars));
    std::vector<Figure> figures = {std::move(figure)};
    explain_missing(figures, sweep, "unfused");
    return figures;
}

std::vector<FigureSweep> sweeps(const Parameters& parameters) {
    constexpr int64_t most_bits = 16;  // bits of a row; larger tables take long to make
    SweepAxis anchors{"anchors_per_detector", {}};
    for (int64_t c = 1; 2 * c + parameters.integer("positional_bits") <= most_bits; ++c)
        anchors.values.emplace_back(c);
    const SweepAxis events{"events", {"buffer", "statistic"}}, arithmetic{"arithmetic", {"float", "integer"}};
    std::vector<FigureSweep> all;
    for (const Backend backend : {Backend::cpu, Backend::cuda}) {
        const bool on_cpu = backend == Backend::cpu;
        std::vector<std::pair<std::string, Value>> shape;
        const auto at_most = [&](const char* name, int64_t most) {
            if (on_cpu) shape.emplace_back(name, std::min(parameters.integer(name), most));
        };
        at_most("batch", 1);
        at_most("inputs", 512);
        at_most("outputs", 64);
        at_most("anchors_per_detector", 4);
        const auto add = [&](const char* title, const SweepAxis& axis, std::vector<std::string> variants,
                             std::vector<Figure> (*figures)(const SweepResult&)) {
            all.push_back({axis.parameter, title, {axis}, shape, std::move(variants), figures, backend});
        };
        at_most("detectors", 8);
        add("time against length", powers_of_two("sequence_length", 4, on_cpu ? 64 : 128), {}, size_figures);
        at_most("sequence_length", 32);
        add("time against detectors", powers_of_two("detectors", 1, on_cpu ? 16 : 128), {}, size_figures);
        if (!anchors.values.empty()) add("time against anchors", anchors, {}, size_figures);
        add("buffer against statistic", events, {"unfused"}, event_sweep_figures);
        add("float against integer", arithmetic, {}, lut_table::arithmetic_figures);
    }
    return all;
}

}  // namespace sawtooth::lut_sequence
