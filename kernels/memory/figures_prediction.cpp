#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/core/table.h"
#include "kernels/memory/figure_parts.h"

namespace sawtooth::memory {
namespace {

// Of one launch in a chain of them. Those of a GPU are as the parameter `launch` says.
double launch_cost_us(const Result& result) {
    const Ceilings& ceilings = *result.ceilings;
    if (!ceilings.gpu) return ceilings.launch_us;
    const Ceilings::Gpu& gpu = *ceilings.gpu;
    const std::string& way = result.parameters.text("launch");
    if (way == "stream") return gpu.launch_stream_us;
    if (way == "graph") return gpu.launch_graph_us;
    return way == "graph_pdl" ? gpu.launch_programmatic_us.value_or(gpu.launch_graph_us) : ceilings.launch_us;
}

// Products run on tensor cores where the precision allows it; tf32 at half the rate of bf16, by their design.
double operations_per_second(const Result& result) {
    const Ceilings& ceilings = *result.ceilings;
    if (!ceilings.gpu || result.parameters.is("precision", "f32")) return ceilings.operations_per_second;
    const double bf16 = ceilings.gpu->bf16_operations_per_second;
    return result.parameters.is("precision", "bf16") ? bf16 : bf16 / 2;
}

// Nothing is fitted: every launch costs what an empty one does, and then what its operations or its bytes
// take, whichever is longer, at the rates that the machine was measured at. A launch whose items do not
// divide among the workers waits for the last of them.
double predicted_us(const LaunchInfo& info, const Result& result) {
    const auto items = static_cast<double>(std::max<int64_t>(info.grid.x * info.grid.y * info.grid.z, 1));
    const auto workers = static_cast<double>(std::max(result.processors, 1));
    const double longest_share = std::ceil(items / workers) / items;
    const double compute = info.work.operations / (operations_per_second(result) / workers) * longest_share;
    const double move = info.work.bytes / result.ceilings->copy_bytes_per_second;
    return launch_cost_us(result) + 1e6 * std::max(compute, move);
}

double predicted(const Result& result, const VariantResult& variant) {
    if (!result.ceilings || result.ceilings->operations_per_second <= 0 || variant.launches.empty())
        return nan;
    double us = 0;
    for (const LaunchRecord& launch : variant.launches) us += predicted_us(*launch.info, result);
    // Of more launches than are kept the rest is taken to be like them.
    const auto kept = static_cast<double>(variant.launches.size());
    return us * std::max(1.0, static_cast<double>(variant.launch_count) / kept);
}

double measured(const Result&, const VariantResult& variant) { return variant.time->median; }

// Where a line is lowest; its size where it is nowhere finite.
size_t lowest(const Line& line) {
    size_t best = line.y.size();
    for (size_t i = 0; i < line.y.size(); ++i)
        if (std::isfinite(line.y[i]) && (best == line.y.size() || line.y[i] < line.y[best])) best = i;
    return best;
}

// "chunkwise_gd: it would choose 256, which takes 1.05 x the best (128); it is 2.1 x to 3.4 x too short"
std::string verdict(const Line& measured, const Line& predicted) {
    const size_t chosen = lowest(predicted), best = lowest(measured);
    if (chosen == predicted.y.size() || best == measured.y.size()) return "";
    double least = 1e300, most = 0;
    for (size_t i = 0; i < measured.y.size(); ++i) {
        const double ratio = measured.y[i] / predicted.y[i];
        if (!std::isfinite(ratio)) continue;
        least = std::min(least, ratio);
        most = std::max(most, ratio);
    }
    return fmt::format(
        " {}: it would choose {:.0f}, which takes {:.2f} x the fastest ({:.0f}); measured times "
        "are {} to {} x the predicted.",
        measured.label, predicted.x[chosen], measured.y[chosen] / measured.y[best], measured.x[best],
        short_number(least), short_number(most));
}

// The strategy whose verdict the caption has room for: the drawn one, or the first that has chunks.
std::string told_in_words(const SweepResult& sweep, const std::vector<Line>& lines) {
    const std::string& drawn = sweep.sweep.base.parameters.text("drawn_strategy");
    std::string first;
    for (const Line& line : lines) {
        if (line.label == drawn) return drawn;
        if (first.empty() && !line.sets.values.empty()) first = line.label;
    }
    return first;
}

}  // namespace

Figure prediction_figure(const SweepResult& sweep) {
    Figure figure = new_figure("prediction", Place::views, "Time predicted and measured",
                               "Dashed: launch cost, work and ceilings alone.", chunk_axis(),
                               {.label = "time", .unit = "us", .scale = Scale::log10});
    const std::vector<Line> times = curves_of(sweep, measured), guesses = curves_of(sweep, predicted);
    const std::string told = told_in_words(sweep, times);
    std::vector<Line> lines;
    for (size_t i = 0; i < times.size(); ++i) {
        if (times[i].sets.values.empty()) continue;  // no chunk to choose
        lines.push_back(times[i]);
        Line guess = guesses[i];
        const size_t chosen = lowest(guess);
        if (chosen == guess.y.size()) continue;
        guess.label += ", predicted";
        guess.ink.dashed = true;
        guess.markers = false;
        guess.sets = {};
        if (times[i].label == told) {
            figure.caption += verdict(times[i], guesses[i]);
            figure.marks.push_back(
                Note{guess.x[chosen], guess.y[chosen], fmt::format("chooses {:.0f}", guess.x[chosen])});
        }
        lines.push_back(std::move(guess));
    }
    add_lines(figure, std::move(lines));
    return figure;
}

}  // namespace sawtooth::memory
