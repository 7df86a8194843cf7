// The busy times of the device: launches on a time axis.

#include <fmt/format.h>

#include "kernels/core/comparison.h"
#include "kernels/core/lanes.h"
#include "kernels/core/table.h"
#include "kernels/core/timeline.h"
#include "kernels/memory/figures/common.h"

namespace sawtooth::memory {
namespace {

constexpr size_t zoomed_teeth = 30, most_teeth = 48;

}  // namespace

Figure sawtooth_figure(const Result& result, const View& view) {
    const Drawn drawn(result.parameters);
    const bool on_cpu = result.backend == Backend::cpu;
    Figure figure = new_figure("sawtooth", Place::views,
                               on_cpu ? "The sawtooth: every launch leaves the workers idle"
                                      : "The sawtooth: every launch leaves the GPU idle",
                               "", {.label = "time", .unit = "us", .minimum = 0, .shared = Lanes::time}, {});
    figure.chosen_by = {"drawn_strategy"};
    if (!on_cpu) figure.chosen_by.push_back("launch");
    const VariantResult* const sequential = find(result, "sequential");
    const VariantResult* other = find(result, drawn.strategy);
    if (!sequential || sequential->launches.empty()) {
        figure.missing =
            "Launches of sequential, one per token, and the idle time between them. Select sequential and "
            "run with profile timeline.";
        return figure;
    }
    if (!other || other->launches.empty()) other = sequential;
    const double end = end_us_of(sequential->launches), other_end = end_us_of(other->launches);
    const View::Range teeth = usual_launches(sequential->launches, zoomed_teeth);
    const double part = teeth.high - teeth.low;
    const std::string name = fmt::format("{}, chunk {}", other->name, drawn.chunk);
    const std::string first = ", first " + short_time(part);
    Lanes lanes(view, std::max(end, other_end), part);
    lanes.add(launch_track(*sequential, "sequential", lanes.whole()));
    if (other != sequential) lanes.add(launch_track(*other, name, lanes.whole()));
    const View seen = lanes.from(teeth.low);
    lanes.add_from(teeth.low,
                   launch_track(*sequential,
                                "sequential" + (teeth.low == 0 ? first
                                                               : ", " + short_time(part) + " from " +
                                                                     short_time(teeth.low)),
                                seen));
    lanes.add_from(teeth.low, busy_track(*sequential, result.backend, seen));
    for (const Track& sampled : sequential->tracks)
        lanes.add_from(teeth.low, sampled_track(sampled, ink_of(*sequential)));
    if (other != sequential) lanes.add_from(0, launch_track(*other, other->name + first, lanes.from(0)));
    figure.caption = "sequential: " + idle_words(result, *sequential) + ".";
    if (other != sequential) {
        figure.caption += fmt::format(" {}: {}", name, idle_words(result, *other));
        if (sequential->time && other->time)
            figure.caption +=
                "; " + comparison_words(other->name, "sequential", compare(result, *other, *sequential));
        figure.caption += ".";
    }
    figure.marks.push_back(lanes.take());
    return figure;
}

std::vector<Figure> launch_figures(const SweepResult& sweep) {
    Figure figure =
        new_figure("ways-to-launch", Place::views, "The sawtooth by way to launch: sequential, first tokens",
                   "", {.label = "time", .unit = "us", .minimum = 0}, {});
    Tracks tracks;
    for (const SweepCell& cell : sweep.cells) {
        const VariantResult* const sequential = cell.result ? find(*cell.result, "sequential") : nullptr;
        if (!sequential || sequential->launches.empty()) continue;
        const std::string way = std::get<std::string>(cell.values.front());
        View seen;  // figures of sweeps are not recomputed: leaves room to zoom out
        seen.visible["time"] = {0, end_of_launches(sequential->launches, 4 * most_teeth)};
        if (tracks.tracks.empty()) figure.x.in_sight = end_of_launches(sequential->launches, most_teeth);
        add_tracks(tracks, *sequential, way, cell.result->backend, seen);
        figure.caption += fmt::format("{}{} {:.0f} %", figure.caption.empty() ? "Idle: " : ", ", way,
                                      100 * idle_share(sequential->launches));
    }
    if (tracks.tracks.empty())
        figure.missing = "Launches of sequential for every way to launch, on a GPU.";
    else
        figure.caption += ".", figure.marks.push_back(std::move(tracks));
    return {std::move(figure)};
}

}  // namespace sawtooth::memory
