// What the sweeps run, and figures over scans and ranks.

#include "kernels/ar_ssm/figures/sweeps.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/ar_ssm/family.h"
#include "kernels/ar_ssm/parts.h"
#include "kernels/core/table.h"
#include "kernels/figures/comparison.h"
#include "kernels/figures/correctness.h"
#include "kernels/figures/figures.h"
#include "kernels/figures/sweep_figures.h"
#include "kernels/scan/job.h"

namespace sawtooth::ar_ssm {
namespace {

// A timed cell of unfused.
struct Timed {
    std::string scan;
    double us = 0, scan_us = 0;  // the time of the layer, and that of the launches of its scans
    int64_t scan_launches = 0;
    Bar bar;
    const TimeStatistics* time = nullptr;
    bool has_speed = false;
};

Timed timed_of(const SweepCell& cell, const VariantResult& variant) {
    Timed timed{to_text(cell.values.front()),
                variant.time->median,
                0,
                0,
                time_bar(variant),
                &*variant.time,
                has_speed(variant)};
    double all = 0;
    for (const LaunchRecord& launch : variant.launches) {
        all += launch.duration_us;
        if (scan::scan_of(launch.info->name).empty()) continue;
        timed.scan_us += launch.duration_us;
        ++timed.scan_launches;
    }
    if (all == 0) return timed;  // without a timeline
    timed.scan_us *= timed.us / all;
    timed.bar.segments = {{"scan", timed.scan_us}, {"the rest", timed.us - timed.scan_us}};
    return timed;
}

std::vector<Timed> timed_cells(const SweepResult& sweep) {
    std::vector<Timed> timed;
    for (const SweepCell& cell : sweep.cells) {
        const VariantResult* const unfused = cell.result ? find(*cell.result, "unfused") : nullptr;
        if (unfused && unfused->time) timed.push_back(timed_of(cell, *unfused));
    }
    return timed;
}

// "410 us, 12 % in the launch of the scan"
std::string words_of(const Timed& timed) {
    std::string words = time_words(*timed.time);
    if (timed.scan_launches > 0)
        words += fmt::format(
            ", {} % in {} of the scan", percent_number(timed.scan_us / timed.us),
            timed.scan_launches == 1 ? "the launch" : with_thousands(timed.scan_launches) + " launches");
    return words;
}

// "lookback is fastest: 410 us, 12 % in the launch of the scan. sequential takes 3 ms, …", of those that are
// not wrong, once the sweep is complete.
std::string words_of_scans(const SweepResult& sweep, std::vector<Timed> all) {
    std::erase_if(all, [](const Timed& timed) { return !timed.has_speed; });
    if (!sweep.complete || all.empty()) return progress_words(sweep);
    std::vector<const TimeStatistics*> times;
    for (const Timed& timed : all) times.push_back(timed.time);
    const std::vector<size_t> fastest = may_be_fastest(times, false);
    std::vector<std::string> names;
    for (const size_t i : fastest) names.push_back(all[i].scan);
    const auto slowest =
        std::max_element(all.begin(), all.end(), [](const Timed& a, const Timed& b) { return a.us < b.us; });
    std::string words = names.size() == 1
                            ? fmt::format("{} is fastest: {}.", names.front(), words_of(all[fastest.front()]))
                        : names.size() == all.size() ? "Which is fastest cannot be told."
                                                     : fmt::format("{} may be fastest.", either_of(names));
    if (compare_apart(*times[fastest.front()], *slowest->time).pace == Pace::faster)
        words += fmt::format(" {} takes {}.", slowest->scan, words_of(*slowest));
    return words;
}

}  // namespace

std::vector<Figure> scan_figures(const SweepResult& sweep) {
    Figure figure = new_figure("time_by_scan", Place::views, "Time of unfused by scan", "",
                               {.label = "time", .unit = "us", .minimum = 0}, {.label = "scan"});
    std::vector<Timed> all = timed_cells(sweep);
    if (!all.empty()) figure.caption = words_of_scans(sweep, all);
    Bars bars;
    for (Timed& timed : all) {
        figure.y.categories.push_back(timed.scan);
        bars.bars.push_back(std::move(timed.bar));
    }
    add_bars(figure, std::move(bars));
    std::vector<Figure> figures = {std::move(figure)};
    explain_missing(figures, sweep, "unfused");
    return figures;
}

std::vector<Figure> rank_figures(const SweepResult& sweep) {
    std::vector<Figure> figures = {time_figure(sweep, ar_ssm_family())};
    explain_missing(figures, sweep, "fused");
    return figures;
}

std::vector<FigureSweep> sweeps(const Parameters& parameters) {
    constexpr int64_t most_numbers = int64_t{1} << 20;  // the most of x on the CPU
    std::vector<Value> scans = ar_ssm_family().parameter("scan")->choices;
    std::erase(scans, Value("auto"));
    std::vector<FigureSweep> all;
    for (const Backend backend : {Backend::cpu, Backend::cuda}) {
        const bool on_cpu = backend == Backend::cpu;
        std::vector<std::pair<std::string, Value>> shape;
        if (on_cpu)
            shape = {{"batch", int64_t{1}},
                     {"length", std::clamp<int64_t>(most_numbers / parameters.integer("d_model"), 1,
                                                    parameters.integer("length"))}};
        all.push_back({"scan", "time by scan", {{"scan", scans}}, shape, {"unfused"}, scan_figures, backend});
        all.push_back({"max_rank",
                       "time against max_rank",
                       {powers_of_two("max_rank", 1, on_cpu ? 64 : 256)},
                       shape,
                       {},
                       rank_figures,
                       backend});
    }
    return all;
}

}  // namespace sawtooth::ar_ssm
