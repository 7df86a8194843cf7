#include <fmt/format.h>

#include "kernels/core/table.h"
#include "kernels/core/timeline.h"
#include "kernels/memory/figure_parts.h"

namespace sawtooth::memory {
namespace {

constexpr size_t teeth_seen = 40;  // launches of sequential that are in sight at first

// "sequential: idle 67 %: a launch costs 2.7 us and computes 0.9 us on 2 of 2 workers, 1024 times"
std::string idle_words(const Result& result, const VariantResult& variant) {
    const auto launches = static_cast<double>(variant.launches.size());
    const auto count = std::max(variant.launch_count, static_cast<int64_t>(variant.launches.size()));
    size_t most = 0;  // workers that a launch keeps busy
    for (const LaunchRecord& launch : variant.launches) most = std::max(most, launch.busy.size());
    std::string words =
        fmt::format("{}: idle {:.0f} %: a launch costs {} and computes {}", variant.name,
                    100 * idle_share(variant.launches), short_time(end_us_of(variant.launches) / launches),
                    short_time(busy_us_of(variant.launches) / launches));
    if (most > 0 && result.ceilings)
        words += fmt::format(" on {} of {} workers", most, result.ceilings->threads);
    return words + (count == 1 ? ", once." : fmt::format(", {} times.", count));
}

void add_tracks(Tracks& tracks, const VariantResult& variant, const std::string& label, const View& view) {
    tracks.tracks.push_back({label, ink_of(variant), launch_spans(variant.launches, view), {}, {}, ""});
    Tracks::Track busy{fmt::format("idle {:.0f} %", 100 * idle_share(variant.launches)),
                       ink_of(variant),
                       {},
                       {},
                       {},
                       "workers"};
    add_busy_curve(variant.launches, view, busy);
    tracks.tracks.push_back(std::move(busy));
}

// All of the drawn strategy and the first teeth of sequential.
double time_in_sight(const VariantResult& sequential, const VariantResult& other) {
    const auto& launches = sequential.launches;
    const double teeth = launches.size() > teeth_seen ? launches[teeth_seen].start_us : end_us_of(launches);
    return std::max(teeth, &other == &sequential ? 0 : 1.02 * end_us_of(other.launches));
}

}  // namespace

Figure sawtooth_figure(const Result& result, const View& view) {
    const Drawn drawn(result.parameters);
    Figure figure = new_figure("sawtooth", Place::views, "The sawtooth: when workers are busy", "",
                               {.label = "time", .unit = "us", .minimum = 0, .shared = "time"}, {});
    const VariantResult* const sequential = find(result, "sequential");
    const VariantResult* other = find(result, drawn.strategy);
    if (!sequential || sequential->launches.empty()) {
        figure.missing =
            "Launches of sequential, one a token, and the idle time between them; tick sequential and run "
            "with profile timeline.";
        return figure;
    }
    if (!other || other->launches.empty()) other = sequential;
    const double in_sight = time_in_sight(*sequential, *other);
    View seen = view;
    seen.visible.try_emplace("time", View::Range{0, in_sight});
    figure.x.maximum = in_sight;
    Tracks tracks;
    add_tracks(tracks, *sequential, "sequential", seen);
    figure.caption = idle_words(result, *sequential);
    if (other != sequential) {
        add_tracks(tracks, *other, fmt::format("{}, chunk {}", other->name, drawn.chunk), seen);
        figure.caption += " " + idle_words(result, *other);
        figure.title += fmt::format(", token by token and in chunks of {}", drawn.chunk);
    }
    figure.marks.push_back(std::move(tracks));
    return figure;
}

}  // namespace sawtooth::memory
