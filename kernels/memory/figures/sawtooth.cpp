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

// Where the teeth that are shown large begin and end: the first ones, or where something held them up those
// that took as long as most.
View::Range teeth_shown(const VariantResult& sequential) {
    std::vector<View::Range> groups;
    for (size_t tooth = 0; tooth + zoomed_teeth <= sequential.launches.size(); tooth += zoomed_teeth)
        groups.push_back({end_of_tooth(sequential, tooth), end_of_tooth(sequential, tooth + zoomed_teeth)});
    if (groups.empty()) return {0, end_us_of(sequential.launches)};
    const auto length = [](const View::Range& group) { return group.high - group.low; };
    std::vector<View::Range> sorted = groups;
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::nth_element(sorted.begin(), middle, sorted.end(),
                     [&](const auto& one, const auto& other) { return length(one) < length(other); });
    return length(groups.front()) <= 1.5 * length(*middle) ? groups.front() : *middle;
}

// The figure has the whole of both runs on one scale, and under it a part of them, stretched to its width.
class Lanes {
  public:
    Lanes(const View& view, double whole, double part) : stretch_(whole / part) {
        seen_ = view.range_of(own_time, {0, whole});
        columns_ = view.columns;
    }
    View whole() const { return view_of(seen_); }
    View from(double start) const {
        return view_of({start + seen_.low / stretch_, start + seen_.high / stretch_});
    }

    void add(Tracks::Track track) { tracks_.tracks.push_back(std::move(track)); }
    // A track that was made for the view from `start` on.
    void add_from(double start, Tracks::Track track) {
        track.from = start;
        track.stretch = stretch_;
        const double end = start + seen_.high / stretch_;  // beyond it the axis would grow
        std::erase_if(track.spans, [&](const auto& span) { return span.start >= end || span.end <= start; });
        for (Tracks::Span& span : track.spans) span.end = std::min(span.end, end);
        std::vector<double> x, y;
        for (size_t i = 0; i < track.x.size(); ++i)
            if (track.x[i] >= start && track.x[i] <= end) x.push_back(track.x[i]), y.push_back(track.y[i]);
        track.x = std::move(x), track.y = std::move(y);
        add(std::move(track));
    }
    Tracks take() { return std::move(tracks_); }

  private:
    View view_of(View::Range range) const { return {{{"time", range}}, columns_}; }

    double stretch_;
    View::Range seen_;
    int columns_ = 0;
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
    const View::Range teeth = teeth_shown(*sequential);
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
