#include <fmt/format.h>

#include <algorithm>

#include "kernels/core/timeline.h"
#include "kernels/memory/figure_parts.h"
#include "kernels/memory/strategies.h"

namespace sawtooth::memory {
namespace {

double running_percent(const Result&, const VariantResult& variant) {
    return variant.launches.empty() ? nan : 100 * (1 - idle_share(variant.launches));
}

double active_percent(const Result& result, const VariantResult& variant) {
    return variant.launches.empty() ? nan : 100 * active_share(variant.launches, result.processors);
}

double tokens_a_second(const Result& result, const VariantResult& variant) {
    const auto tokens =
        static_cast<double>(result.parameters.integer("batch") * result.parameters.integer("length"));
    return tokens / (variant.time->median * 1e-6);
}

// Steps that must follow each other: tokens of the sequential rule, else chunks.
double steps_left(const Result& result, const VariantResult& variant) {
    const auto length = static_cast<double>(result.parameters.integer("length"));
    if (!has_chunks(variant)) return length;
    return std::ceil(length / static_cast<double>(strategy_named(variant.name).chunk_of(result.parameters)));
}

std::string in_millions(double number) {
    return number < 1e7 ? fmt::format("{:.2g} million", number / 1e6)
                        : fmt::format("{:.0f} million", number / 1e6);
}

std::string name_at_chunk(const Result& result, const VariantResult& variant) {
    if (!has_chunks(variant)) return variant.name;
    return fmt::format("{} at chunk {}", variant.name,
                       strategy_named(variant.name).chunk_of(result.parameters));
}

// "sequential keeps a kernel running 98 % of the time and makes 0.4 M tokens a second, exact_chunk …"
std::string lesson(const SweepResult& sweep) {
    const VariantResult *busiest = nullptr, *fastest = nullptr;
    const Result* of_busiest = nullptr;
    const Result* of_fastest = nullptr;
    for (const SweepCell& cell : sweep.cells) {
        if (!cell.result) continue;
        for (const VariantResult& variant : cell.result->variants)
            if (variant.time && (!fastest || variant.time->median < fastest->time->median))
                fastest = &variant, of_fastest = cell.result.get();
    }
    if (!fastest) return "";
    const double best = tokens_a_second(*of_fastest, *fastest);
    double most = 50;  // percent: below it nobody would call a device busy
    for (const SweepCell& cell : sweep.cells) {
        if (!cell.result) continue;
        for (const VariantResult& variant : cell.result->variants) {
            if (!variant.time || tokens_a_second(*cell.result, variant) > best / 3) continue;
            const double running = running_percent(*cell.result, variant);
            if (running > most) most = running, busiest = &variant, of_busiest = cell.result.get();
        }
    }
    if (!busiest) return "";
    return fmt::format(
        "Utilisation is not throughput: {} has a kernel running {:.0f} % of the time and makes {} tokens a "
        "second, {} makes {}.",
        name_at_chunk(*of_busiest, *busiest), most, in_millions(tokens_a_second(*of_busiest, *busiest)),
        name_at_chunk(*of_fastest, *fastest), in_millions(best));
}

Figure against_chunk(const SweepResult& sweep, std::string id, std::string title, std::string caption, Axis y,
                     double (*number)(const Result&, const VariantResult&)) {
    Figure figure = new_figure(std::move(id), Place::views, std::move(title), std::move(caption),
                               chunk_axis(), std::move(y));
    add_lines(figure, curves_of(sweep, number));
    return figure;
}

// The source says that utilisation drops to 5 to 15 %.
void add_claim(Figure& figure, const SweepResult& sweep) {
    if (!figure.missing.empty()) return;
    const auto last = static_cast<double>(std::get<int64_t>(sweep.sweep.axes.front().values.back()));
    figure.marks.insert(
        figure.marks.begin(),
        Band{"the source: 5 to 15 % for a launch a token", {Ink::Role::quiet}, {1, last}, {5, 5}, {15, 15}});
}

}  // namespace

std::vector<Figure> utilisation_figures(const SweepResult& sweep) {
    const Axis percent = {.label = "share", .unit = "%", .minimum = 0, .maximum = 100};
    Figure running = against_chunk(sweep, "running-against-chunk", "Share of time with a kernel running",
                                   lesson(sweep), percent, running_percent);
    add_claim(running, sweep);
    Figure active =
        against_chunk(sweep, "active-against-chunk", "Share of workers active",
                      "Busy time of all workers (on a GPU one multiprocessor a thread block), of that of "
                      "workers who never rest.",
                      percent, active_percent);
    add_claim(active, sweep);
    return {
        std::move(running), std::move(active),
        against_chunk(sweep, "throughput-against-chunk", "Tokens a second",
                      "What a user gets of it, whatever the device looks like.",
                      {.label = "throughput", .unit = "tokens/s", .scale = Scale::log10}, tokens_a_second),
        against_chunk(sweep, "steps-against-chunk", "Sequential steps left",
                      "L / C: what no parallelism takes away.", {.label = "steps", .scale = Scale::log2},
                      steps_left)};
}

}  // namespace sawtooth::memory
