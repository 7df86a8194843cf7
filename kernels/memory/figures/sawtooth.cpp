// The busy times of the device: launches on a time axis.

#include <fmt/format.h>

#include <algorithm>

#include "kernels/core/table.h"
#include "kernels/figures/comparison.h"
#include "kernels/figures/correctness.h"
#include "kernels/figures/timeline.h"
#include "kernels/figures/zoom.h"
#include "kernels/memory/figures/common.h"

namespace sawtooth::memory {
namespace {

constexpr size_t zoomed_teeth = 30, most_teeth = 48;

}  // namespace

std::vector<Figure> sawtooth_figures(const Result& result, const View& view) {
    const Drawn drawn(result.parameters);
    const bool on_cpu = result.backend == Backend::cpu;
    Figure figure = new_figure("sawtooth", Place::views,
                               on_cpu ? "The sawtooth: every launch leaves the workers idle"
                                      : "The sawtooth: every launch leaves the GPU idle",
                               "", {.label = "time", .unit = "us", .minimum = 0, .shared = time_of_runs}, {});
    figure.chosen_by = {"drawn_strategy"};
    if (!on_cpu) figure.chosen_by.push_back("launch");
    const VariantResult* const sequential = find(result, "sequential");
    const VariantResult* other = find(result, drawn.strategy);
    if (!sequential || sequential->launches.empty()) {
        figure.missing =
            std::string("Launches of sequential, one per token, and the idle time between them. ") +
            (result.request.recording.empty() ? "Select sequential and run with profile timeline."
                                              : "They were not recorded at these settings.");
        return {std::move(figure)};
    }
    if (!other || other->launches.empty()) other = sequential;
    const std::string name = fmt::format("{}, chunk {}", other->name, drawn.chunk);
    const double end = std::max(end_us_of(sequential->launches), end_us_of(other->launches));
    const View seen = view_of(view, time_of_runs, {0, end});
    Tracks tracks;
    tracks.tracks.push_back(launch_track(*sequential, "sequential", seen));
    if (other != sequential) tracks.tracks.push_back(launch_track(*other, name, seen));
    figure.marks.push_back(std::move(tracks));
    figure.caption = "sequential: " + idle_words(result, *sequential) + ".";
    if (other != sequential) {
        figure.caption += fmt::format(" {}: {}.", name, idle_words(result, *other));
        if (has_speed(*sequential) && has_speed(*other)) {
            const Comparison comparison = compare(result, *other, *sequential);
            std::string words = comparison_words(other->name, "sequential", comparison);
            if (comparison.pace == Pace::cannot_tell) words.front() = 'I';
            figure.caption = words + ". " + figure.caption;
        }
    }
    const View::Range teeth = typical_launches(sequential->launches, zoomed_teeth);
    Figure zoom = zoom_of(figure, teeth, std::min(zoomed_teeth, sequential->launches.size()));
    Tracks zoomed;
    add_tracks(zoomed, result, *sequential, "sequential", view_of(view, time_of_zoom, teeth));
    zoom.caption = terms_of_launches(result.backend);
    zoom.marks.push_back(std::move(zoomed));
    return {std::move(figure), std::move(zoom)};
}

std::vector<Figure> launch_figures(const SweepResult& sweep) {
    Figure figure =
        new_figure("ways-to-launch", Place::views, "The sawtooth by way to launch: sequential, first tokens",
                   "", {.label = "time", .unit = "us", .minimum = 0}, {});
    Tracks tracks;
    const bool on_cpu = sweep.sweep.base.backend == BackendChoice::cpu;
    for (const SweepCell& cell : sweep.cells) {
        const VariantResult* const sequential = cell.result ? find(*cell.result, "sequential") : nullptr;
        if (!sequential || sequential->launches.empty()) continue;
        const std::string way = std::get<std::string>(cell.values.front());
        View seen;  // figures of sweeps are not recomputed: leaves room to zoom out
        seen.visible["time"] = {0, end_of_launches(sequential->launches, 4 * most_teeth)};
        if (tracks.tracks.empty()) figure.x.in_sight = end_of_launches(sequential->launches, most_teeth);
        add_tracks(tracks, *cell.result, *sequential, way, seen);
        const char* const start = on_cpu ? "Idle: " : "Idle while recorded: ";
        figure.caption += fmt::format("{}{} {:.0f} %", figure.caption.empty() ? start : ", ", way,
                                      100 * idle_share(sequential->launches));
    }
    if (tracks.tracks.empty())
        figure.missing = "Launches of sequential for every way to launch, on a GPU.";
    else
        figure.caption += ".", figure.marks.push_back(std::move(tracks));
    return {std::move(figure)};
}

}  // namespace sawtooth::memory
