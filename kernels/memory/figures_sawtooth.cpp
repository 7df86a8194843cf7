#include <fmt/format.h>

#include "kernels/core/table.h"
#include "kernels/core/timeline.h"
#include "kernels/memory/figure_parts.h"

namespace sawtooth::memory {
namespace {

constexpr size_t teeth_seen = 40;  // launches of sequential that are in sight at first

// "sequential: idle 67 %, as each of its 1024 launches takes 2.7 us and computes 0.9 us of it"
std::string idle_words(const VariantResult& variant) {
    const auto launches = static_cast<double>(variant.launches.size());
    const double idle = idle_share(variant.launches);
    const std::string share = fmt::format("{}: idle {:.0f} %", variant.name, 100 * idle);
    if (variant.launches.size() < 2) return share + " of one launch";
    int64_t most = 0;  // items that a launch keeps busy
    for (const LaunchRecord& launch : variant.launches)
        most = std::max(most, static_cast<int64_t>(launch.busy.size()));
    return fmt::format("{}, {} launches; one costs {} and computes {} of it on {} {}", share,
                       std::max(variant.launch_count, static_cast<int64_t>(variant.launches.size())),
                       short_time(end_us_of(variant.launches) / launches),
                       short_time(busy_us_of(variant.launches) / launches), most,
                       most == 1 ? "worker" : "workers");
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
    figure.caption = idle_words(*sequential) + ".";
    if (other != sequential) {
        add_tracks(tracks, *other, fmt::format("{}, chunk {}", other->name, drawn.chunk), seen);
        figure.caption += fmt::format(" {}.", idle_words(*other));
        figure.title += fmt::format(", token by token and in chunks of {}", drawn.chunk);
    }
    figure.marks.push_back(std::move(tracks));
    return figure;
}

}  // namespace sawtooth::memory
