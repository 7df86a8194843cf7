// When the device is busy: launches on an axis of time.

#include <fmt/format.h>

#include <algorithm>

#include "kernels/core/table.h"
#include "kernels/core/timeline.h"
#include "kernels/memory/figures/common.h"

namespace sawtooth::memory {
namespace {

constexpr size_t zoomed_teeth = 30, most_teeth = 48;
constexpr const char* own_time = "time of the sawtooth";  // a zoom here leaves the timeline as it is

// "1,024 launches, idle 60 % of the time: each takes 2.7 us, of which 0.9 us is work"
std::string idle_words(const Result& result, const VariantResult& variant) {
    const auto launches = static_cast<double>(variant.launches.size());
    const std::string each = variant.launch_count == 1 ? "it" : "each";
    std::string words = fmt::format(
        "{} launch{}, idle {:.0f} % of the time: {} takes {}, of which {} is work",
        with_thousands(variant.launch_count), variant.launch_count == 1 ? "" : "es",
        100 * idle_share(variant.launches), each, short_time(end_us_of(variant.launches) / launches),
        short_time(busy_us_of(variant.launches) / launches));
    // CUPTI's record takes time of every launch, and the timed repeats may be without it.
    const double timed =
        variant.time ? variant.time->median / static_cast<double>(variant.launch_count) : gap;
    if (result.backend == Backend::cuda && timed < 0.95 * end_us_of(variant.launches) / launches)
        words += fmt::format(" ({} when not recorded)", short_time(timed));
    return words;
}

double end_of_tooth(const VariantResult& sequential, size_t tooth) {
    const auto& launches = sequential.launches;
    return tooth < launches.size() ? launches[tooth].start_us : end_us_of(launches);
}

// The figure has the whole of both runs on one scale, and under it the first teeth, stretched to its width.
class Lanes {
  public:
    Lanes(const View& view, double whole, double zoomed) : stretch_(whole / zoomed) {
        const View::Range range = view.range_of(own_time, {0, whole});
        whole_.columns = zoomed_.columns = view.columns;
        whole_.visible["time"] = range;
        zoomed_.visible["time"] = {range.low / stretch_, range.high / stretch_};
    }
    const View& whole() const { return whole_; }
    const View& zoomed() const { return zoomed_; }

    void add(Tracks::Track track) { tracks_.tracks.push_back(std::move(track)); }
    void add_zoomed(Tracks::Track track) {
        track.stretch = stretch_;
        // What ends behind the zoom would make the axis longer than the runs are.
        const double end = zoomed_.visible["time"].high;
        std::erase_if(track.spans, [&](const Tracks::Span& span) { return span.start >= end; });
        for (Tracks::Span& span : track.spans) span.end = std::min(span.end, end);
        const auto inside = std::upper_bound(track.x.begin(), track.x.end(), end) - track.x.begin();
        track.x.resize(static_cast<size_t>(inside)), track.y.resize(static_cast<size_t>(inside));
        add(std::move(track));
    }
    Tracks take() { return std::move(tracks_); }

  private:
    double stretch_;
    View whole_, zoomed_;
    Tracks tracks_;
};

}  // namespace

Figure sawtooth_figure(const Result& result, const View& view) {
    const Drawn drawn(result.parameters);
    const bool on_cpu = result.backend == Backend::cpu;
    Figure figure = new_figure("sawtooth", Place::views,
                               on_cpu ? "The sawtooth: every launch leaves the workers idle"
                                      : "The sawtooth: every launch leaves the GPU idle",
                               "", {.label = "time", .unit = "us", .minimum = 0, .shared = own_time}, {});
    figure.chosen_by = {"drawn_strategy"};
    if (!on_cpu) figure.chosen_by.push_back("launch");
    const VariantResult* const sequential = find(result, "sequential");
    const VariantResult* other = find(result, drawn.strategy);
    if (!sequential || sequential->launches.empty()) {
        figure.missing =
            "Launches of sequential, one a token, and the idle time between them. Tick sequential and run "
            "with profile timeline.";
        return figure;
    }
    if (!other || other->launches.empty()) other = sequential;
    const double end = end_us_of(sequential->launches), other_end = end_us_of(other->launches);
    const double zoomed = end_of_tooth(*sequential, zoomed_teeth);
    const std::string name = fmt::format("{}, chunk {}", other->name, drawn.chunk);
    const std::string part = ", first " + short_time(zoomed);
    Lanes lanes(view, std::max(end, other_end), zoomed);
    lanes.add(launch_track(*sequential, "sequential", lanes.whole()));
    if (other != sequential) lanes.add(launch_track(*other, name, lanes.whole()));
    lanes.add_zoomed(launch_track(*sequential, "sequential" + part, lanes.zoomed()));
    lanes.add_zoomed(busy_track(*sequential, result.backend, lanes.zoomed()));
    for (const Track& sampled : sequential->tracks)
        lanes.add_zoomed(sampled_track(sampled, ink_of(*sequential)));
    if (other != sequential) lanes.add_zoomed(launch_track(*other, other->name + part, lanes.zoomed()));
    figure.caption = "sequential: " + idle_words(result, *sequential) + ".";
    if (other != sequential) {
        const bool faster = other_end < end;
        figure.caption +=
            fmt::format(" {}: {}; {:.1f}x {}.", name, idle_words(result, *other),
                        faster ? end / other_end : other_end / end, faster ? "faster" : "slower");
    }
    figure.marks.push_back(lanes.take());
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
