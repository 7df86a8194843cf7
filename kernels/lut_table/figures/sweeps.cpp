// Figures over detectors, anchors and arithmetic.

#include "kernels/lut_table/figures/sweeps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "kernels/core/common_parameters.h"
#include "kernels/core/table.h"
#include "kernels/figures/correctness.h"
#include "kernels/figures/figures.h"
#include "kernels/figures/launch_figures.h"
#include "kernels/figures/sweep_figures.h"

namespace sawtooth::lut_table {
namespace {

// "time_by_detectors"
std::string id_of(const char* what, const SweepResult& sweep) {
    return fmt::format("{}_by_{}", what, sweep.sweep.axes.front().parameter);
}

// The kernels of unfused at one size; there is at least one.
struct SizeCell {
    double x = 0;
    std::vector<Kernel> kernels;
};

std::vector<SizeCell> size_cells(const SweepResult& sweep) {
    std::vector<SizeCell> cells;
    for (const SweepCell& cell : sweep.cells)
        if (const VariantResult* const unfused = cell.result ? find(*cell.result, "unfused") : nullptr;
            unfused && !unfused->launches.empty())
            cells.push_back(
                {static_cast<double>(std::get<int64_t>(cell.values.front())), kernels_of(*unfused)});
    return cells;
}

// One line for each kernel that is among the longest at the last size, and one for the sum of the others.
std::vector<Line> kernel_lines(const std::vector<SizeCell>& cells, const std::string& parameter) {
    constexpr size_t most = 5;  // kinds with colours of their own
    std::vector<Line> lines;
    for (const Kernel& kernel : longest_of(cells.back().kernels, most))
        lines.push_back(line_of(kernel.name, {Ink::Role::kind, static_cast<int>(lines.size())}, {}));
    lines.push_back(line_of("other kernels", {Ink::Role::quiet}, {}));
    for (Line& line : lines) line.markers = true, line.sets.parameter = parameter;
    for (const SizeCell& cell : cells) {
        for (Line& line : lines) {
            line.x.push_back(cell.x);
            line.y.push_back(gap);
            line.sets.values.push_back(cell.x);
        }
        for (const Kernel& kernel : cell.kernels) {
            const auto own = std::find_if(lines.begin(), std::prev(lines.end()),
                                          [&](const Line& line) { return line.label == kernel.name; });
            double& us = own->y.back();
            us = std::isnan(us) ? kernel.us : us + kernel.us;
        }
    }
    const std::vector<double>& others = lines.back().y;
    if (std::all_of(others.begin(), others.end(), [](double us) { return std::isnan(us); })) lines.pop_back();
    return lines;
}

// "At 512, fill_outputs takes 71 % of the kernel time. "
std::string words_of_last(const SizeCell& last) {
    const Kernel longest = longest_of(last.kernels, 1).front();
    return fmt::format("At {:.0f}, {} takes {:.0f} % of the kernel time. ", last.x, longest.name,
                       100 * longest.us / total_us(last.kernels));
}

Figure kernels_figure(const SweepResult& sweep, const Family& family) {
    const Axis axis = swept_axis(sweep, family);
    Figure figure = new_figure(id_of("kernels", sweep), Place::views,
                               "Time of the kernels of unfused against " + axis.label, "", axis, time_axis());
    const std::vector<SizeCell> cells = size_cells(sweep);
    if (!cells.empty()) figure.caption = progress_words(sweep) + words_of_last(cells.back());
    add_lines(figure, cells.empty() ? std::vector<Line>{} : kernel_lines(cells, axis.label));
    return figure;
}

const Metric* changed_values(const VariantResult& variant) {
    const auto found = std::find_if(variant.metrics.begin(), variant.metrics.end(),
                                    [](const Metric& metric) { return metric.id == "changed_values"; });
    return found == variant.metrics.end() || !found->value ? nullptr : &*found;
}

// Calls each(name, result, variant) for every variant with both arithmetics: "unfused, float".
template <class Each>
void each_run(const SweepResult& sweep, Each&& each) {
    for (const char* name : {"unfused", "fused"})
        for (const SweepCell& cell : sweep.cells) {
            const VariantResult* const variant = cell.result ? find(*cell.result, name) : nullptr;
            if (variant && variant->ran())
                each(std::string(name) + ", " + to_text(cell.values.front()), *cell.result, *variant);
        }
}

Figure error_by_arithmetic(const SweepResult& sweep) {
    Figure figure = new_figure("error_by_arithmetic", Place::views, "Error: float and integer", "",
                               relative_error_axis(), {.label = "variant, arithmetic"});
    Bars bars;
    double least = 1;
    std::string words;
    each_run(sweep, [&](const std::string& name, const Result& result, const VariantResult& variant) {
        const auto error = reference_error(result, variant);
        if (!error) return;
        const std::string value = *error > 0 ? error_words(*error) : "0";
        bars.bars.push_back({.ink = ink_of(variant),
                             .segments = {{"", *error}},
                             .low = {},
                             .high = {},
                             .text = value,
                             .badge = wrong_badge(variant)});
        figure.y.categories.push_back(name);
        if (*error > 0) least = std::min(least, *error);
        words += fmt::format("{}{} {}", words.empty() ? "" : "; ", name, value);
    });
    add_bars(figure, std::move(bars));
    if (figure.marks.empty()) return figure;
    figure.x.minimum = std::pow(10, std::floor(std::log10(least)) - 1);
    figure.caption =
        words + ". Integers round every term to a multiple of 2^-20 / rescale: that is what they cost.";
    return figure;
}

Figure changes_by_arithmetic(const SweepResult& sweep) {
    Figure figure =
        new_figure("changes_by_arithmetic", Place::views, "Values that change from run to run", "",
                   {.label = "changed values", .minimum = 0}, {.label = "variant, arithmetic"});
    Bars bars;
    double most = 0;
    each_run(sweep, [&](const std::string& name, const Result&, const VariantResult& variant) {
        const Metric* const changed = changed_values(variant);
        if (!changed) return;
        bars.bars.push_back({.ink = ink_of(variant),
                             .segments = {{"", *changed->value}},
                             .low = {},
                             .high = {},
                             .text = with_thousands(std::llround(*changed->value))});
        figure.y.categories.push_back(name);
        most = std::max(most, *changed->value);
    });
    if (bars.bars.empty()) {
        figure.missing =
            "Output values that differ between two runs, in float and in integer arithmetic. Run it on a "
            "GPU, where "
            "unfused adds with atomics.";
        return figure;
    }
    if (most == 0) figure.x.maximum = 1;
    figure.caption =
        most == 0 ? "No bit of any output changes from run to run."
                  : "Atomics add in any order: float sums change in their last bits, integer sums never.";
    figure.marks.push_back(std::move(bars));
    return figure;
}

}  // namespace

std::vector<Figure> size_figures(const SweepResult& sweep, const Family& family) {
    std::vector<Figure> figures = {time_figure(sweep, family), kernels_figure(sweep, family)};
    explain_missing(figures, sweep, "unfused");
    return figures;
}

std::vector<Figure> arithmetic_figures(const SweepResult& sweep) {
    std::vector<Figure> figures = {error_by_arithmetic(sweep), changes_by_arithmetic(sweep)};
    explain_missing(figures, sweep, "unfused");
    return figures;
}

}  // namespace sawtooth::lut_table
