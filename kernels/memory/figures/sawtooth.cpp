// When the device is busy: launches on an axis of time.

#include <fmt/format.h>

#include "kernels/core/table.h"
#include "kernels/core/timeline.h"
#include "kernels/memory/figures/common.h"

namespace sawtooth::memory {
namespace {

// Launches of sequential that are in sight at first.
constexpr size_t most_teeth = 48;
size_t teeth_seen(const View& view) { return std::min(most_teeth, static_cast<size_t>(view.columns) / 12); }

// "sequential: idle 67 %: a launch costs 2.7 us and computes 0.9 us on 2 of 2 workers, 1024 times"
std::string idle_words(const Result& result, const VariantResult& variant) {
    const auto launches = static_cast<double>(variant.launches.size());
    int64_t most = 0;  // workers that a launch keeps busy
    for (const LaunchRecord& launch : variant.launches)
        most = std::max(most, workers_of(launch, result.processors));
    std::string words =
        fmt::format("{}: idle {:.0f} %: a launch costs {} and computes {}", variant.name,
                    100 * idle_share(variant.launches), short_time(end_us_of(variant.launches) / launches),
                    short_time(busy_us_of(variant.launches) / launches));
    words += fmt::format(" on {} of {} {}", most, result.processors,
                         result.backend == Backend::cpu ? "workers" : "SMs");
    words += variant.launch_count == 1 ? ", once" : fmt::format(", {} times", variant.launch_count);
    // CUPTI's record takes time of every launch, and the timed repeats may be without it.
    const double timed =
        variant.time ? variant.time->median / static_cast<double>(variant.launch_count) : gap;
    if (result.backend == Backend::cuda && timed < 0.95 * end_us_of(variant.launches) / launches)
        words += fmt::format("; not recorded it costs {}", short_time(timed));
    return words + ".";
}

double end_of_tooth(const VariantResult& sequential, size_t tooth) {
    const auto& launches = sequential.launches;
    return tooth < launches.size() ? launches[tooth].start_us : end_us_of(launches);
}

// The first teeth, and all of the drawn strategy where they stay wide enough to be told apart.
double time_in_sight(const VariantResult& sequential, const VariantResult& other, const View& view) {
    const double other_end = 1.02 * end_us_of(other.launches);
    const double teeth = end_of_tooth(sequential, teeth_seen(view));
    const double narrowest = end_of_tooth(sequential, static_cast<size_t>(view.columns) / 8);
    return other_end <= narrowest ? std::max(other_end, teeth) : teeth;
}

}  // namespace

Figure sawtooth_figure(const Result& result, const View& view) {
    const Drawn drawn(result.parameters);
    const bool on_cpu = result.backend == Backend::cpu;
    Figure figure =
        new_figure("sawtooth", Place::views,
                   on_cpu ? "The sawtooth: when workers are busy" : "The sawtooth: when the GPU is busy", "",
                   {.label = "time", .unit = "us", .minimum = 0, .shared = "time"}, {});
    figure.chosen_by = {"drawn_strategy"};
    const VariantResult* const sequential = find(result, "sequential");
    const VariantResult* other = find(result, drawn.strategy);
    if (!sequential || sequential->launches.empty()) {
        figure.missing =
            "Launches of sequential, one a token, and the idle time between them; tick sequential and run "
            "with profile timeline.";
        return figure;
    }
    if (!other || other->launches.empty()) other = sequential;
    const double in_sight = time_in_sight(*sequential, *other, view);
    View seen = view;
    seen.visible.try_emplace("time", View::Range{0, in_sight});
    figure.x.in_sight = in_sight;
    Tracks tracks;
    add_tracks(tracks, *sequential, "sequential", result.backend, seen);
    figure.caption = idle_words(result, *sequential);
    if (other != sequential) {
        add_tracks(tracks, *other, fmt::format("{}, chunk {}", other->name, drawn.chunk), result.backend,
                   seen);
        figure.caption += " " + idle_words(result, *other);
        figure.title += fmt::format(", token by token and in chunks of {}", drawn.chunk);
    }
    figure.marks.push_back(std::move(tracks));
    return figure;
}

std::vector<Figure> launch_figures(const SweepResult& sweep) {
    Figure figure = new_figure("ways-to-launch", Place::views,
                               "The sawtooth by the way of launching: sequential, the first tokens", "",
                               {.label = "time", .unit = "us", .minimum = 0}, {});
    Tracks tracks;
    for (const SweepCell& cell : sweep.cells) {
        const VariantResult* const sequential = cell.result ? find(*cell.result, "sequential") : nullptr;
        if (!sequential || sequential->launches.empty()) continue;
        const std::string way = std::get<std::string>(cell.values.front());
        View seen;  // a sweep's figures are not made anew: some room to zoom out
        seen.visible["time"] = {0, end_of_tooth(*sequential, 4 * most_teeth)};
        if (tracks.tracks.empty()) figure.x.in_sight = end_of_tooth(*sequential, most_teeth);
        add_tracks(tracks, *sequential, way, cell.result->backend, seen);
        figure.caption += fmt::format("{}{} {:.0f} %", figure.caption.empty() ? "Idle: " : ", ", way,
                                      100 * idle_share(sequential->launches));
    }
    if (tracks.tracks.empty()) {
        figure.missing = "Launches of sequential for every way to launch; a GPU has them.";
        return {std::move(figure)};
    }
    figure.caption += ". With a wait after every launch (sync) it is the source's own tooth.";
    figure.marks.push_back(std::move(tracks));
    return {std::move(figure)};
}

}  // namespace sawtooth::memory
