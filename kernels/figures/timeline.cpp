#include "kernels/figures/timeline.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/core/table.h"
#include "kernels/figures/figures.h"

namespace sawtooth {
namespace {

// The visible part of the time axis and its number of columns.
struct Columns {
    double low, width;
    int count;

    Columns(const std::vector<LaunchRecord>& launches, const View& view) : count(std::max(view.columns, 1)) {
        const View::Range range = view.range_of("time", {0, end_us_of(launches)});
        low = range.low;
        width = std::max((range.high - range.low) / count, 1e-9);
    }
    int at(double us) const {
        return static_cast<int>(std::clamp(std::floor((us - low) / width), -1.0, static_cast<double>(count)));
    }
};

struct Change {
    double at;
    int64_t busy;  // the number of busy workers from that time on
};

// GPU launches have no records of workers; they keep of_launch(launch) workers busy for their duration.
template <class OfLaunch>
std::vector<Change> changes_of(const std::vector<LaunchRecord>& launches, OfLaunch of_launch) {
    std::vector<std::pair<double, int64_t>> edges;
    const auto add = [&](double start, double end, int64_t workers) {
        edges.emplace_back(start, workers);
        edges.emplace_back(end, -workers);
    };
    for (const LaunchRecord& launch : launches) {
        for (const BusySpan& span : launch.busy) add(span.start_us, span.end_us, 1);
        if (launch.busy.empty())
            add(launch.start_us, launch.start_us + launch.duration_us, of_launch(launch));
    }
    std::sort(edges.begin(), edges.end());
    std::vector<Change> changes;
    int64_t busy = 0;
    for (const auto& [at, change] : edges) changes.push_back({at, busy += change});
    return changes;
}

}  // namespace

View::Range work_of(const LaunchRecord& launch) {
    if (launch.busy.empty()) return {launch.start_us, launch.start_us + launch.duration_us};
    View::Range work{launch.busy.front().start_us, launch.busy.front().end_us};
    for (const BusySpan& span : launch.busy)
        work = {std::min(work.low, span.start_us), std::max(work.high, span.end_us)};
    return work;
}

double end_us_of(const std::vector<LaunchRecord>& launches) {
    double end = 0;
    for (const LaunchRecord& launch : launches) end = std::max(end, launch.start_us + launch.duration_us);
    return end;
}

double busy_us_of(const std::vector<LaunchRecord>& launches) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    return busy_us_of(launches, {-infinity, infinity});
}

double busy_us_of(const std::vector<LaunchRecord>& launches, View::Range within) {
    double busy = 0, since = 0;
    bool was_busy = false;
    for (const Change& change : changes_of(launches, [](const LaunchRecord&) { return 1; })) {
        const double at = std::clamp(change.at, within.low, within.high);
        if (was_busy) busy += at - since;
        since = at;
        was_busy = change.busy > 0;
    }
    return busy;
}

int64_t launches_within(const std::vector<LaunchRecord>& launches, View::Range range) {
    return std::count_if(launches.begin(), launches.end(), [&](const LaunchRecord& launch) {
        return launch.start_us < range.high && launch.start_us + launch.duration_us > range.low;
    });
}

double idle_share(const std::vector<LaunchRecord>& launches) {
    const double end = end_us_of(launches);
    return end > 0 ? std::clamp(1 - busy_us_of(launches) / end, 0.0, 1.0) : 0;
}

std::string terms_of_launches(Backend backend) {
    return backend == Backend::cpu
               ? "Idle: no worker is busy. Utilisation: the share of the workers that are busy, on average."
               : "Idle: no launch runs. Utilisation: the share of the SMs that have work, on average.";
}

std::string idle_words(const Result& result, const VariantResult& variant) {
    const auto kept = static_cast<double>(variant.launches.size());
    const bool once = variant.launch_count == 1;
    const double each = end_us_of(variant.launches) / kept;
    const std::string otherwise = words_when_not_recorded(result, variant, each, variant.launch_count);
    return with_thousands(variant.launch_count) + (once ? " launch" : " launches") + ", idle " +
           std::to_string(std::lrint(100 * idle_share(variant.launches))) +
           (otherwise.empty() ? " % of the time: " : " % of the time while recorded: ") +
           (once ? "it" : "each") + " takes " + short_time(each) + ", of which " +
           short_time(busy_us_of(variant.launches) / kept) + " is work" + otherwise;
}

std::string words_when_not_recorded(const Result& result, const VariantResult& variant, double recorded_us,
                                    int64_t parts) {
    if (result.backend == Backend::cpu || !variant.time) return "";
    const double timed = variant.time->median / static_cast<double>(parts);
    return timed < 0.95 * recorded_us ? " (" + short_time(timed) + " when not recorded)" : "";
}

int64_t workers_of(const LaunchRecord& launch, int workers) {
    if (!launch.busy.empty()) return static_cast<int64_t>(launch.busy.size());
    const Extent& grid = launch.info->grid;
    return std::min<int64_t>(grid.x * grid.y * grid.z, workers);
}

double utilisation(const std::vector<LaunchRecord>& launches, int workers) {
    return utilisation(launches, workers, {0, end_us_of(launches)});
}

double utilisation(const std::vector<LaunchRecord>& launches, int workers, View::Range within) {
    const auto inside = [&](double start, double end) {
        return std::max(0.0, std::min(end, within.high) - std::max(start, within.low));
    };
    double busy = 0;
    for (const LaunchRecord& launch : launches) {
        for (const BusySpan& span : launch.busy) busy += inside(span.start_us, span.end_us);
        if (launch.busy.empty())
            busy += inside(launch.start_us, launch.start_us + launch.duration_us) *
                    static_cast<double>(workers_of(launch, workers));
    }
    const double all = (within.high - within.low) * std::max(workers, 1);
    return all > 0 ? std::clamp(busy / all, 0.0, 1.0) : 0;
}

std::vector<Tracks::Span> launch_spans(const std::vector<LaunchRecord>& launches, const View& view) {
    const Columns columns(launches, view);
    std::vector<Tracks::Span> spans;
    int merged = 0;   // launches in the last span
    double busy = 0;  // the total time of these
    for (const LaunchRecord& launch : launches) {
        const auto [start, end] = work_of(launch);
        if (columns.at(end) < 0 || columns.at(start) >= columns.count) continue;
        const bool joins = !spans.empty() && columns.at(spans.back().start) == columns.at(end);
        if (joins) {
            Tracks::Span& last = spans.back();
            busy += end - start;
            last.end = std::max(last.end, end);
            last.label = with_thousands(++merged) + " launches";
            last.busy = std::min(busy / std::max(last.end - last.start, 1e-9), 1.0);
        } else {
            spans.push_back({start, end, launch.info->name});
            merged = 1;
            busy = end - start;
        }
    }
    return spans;
}

void add_utilisation(const std::vector<LaunchRecord>& launches, int workers, const View& view,
                     Tracks::Track& track) {
    constexpr int few_columns = 4, few_steps = 4;
    View coarse = view;
    coarse.columns = std::max(view.columns / few_columns, 1);
    const Columns columns(launches, coarse);
    const std::vector<Change> changes =
        changes_of(launches, [&](const LaunchRecord& launch) { return workers_of(launch, workers); });
    const auto percent = [&](double busy) { return 100 * busy / std::max(workers, 1); };
    const auto go_to = [&](double at, double share) {  // a step from the last value
        const double before = track.y.empty() ? 0 : track.y.back();
        if (!track.x.empty() && track.y.back() == share) return;
        track.x.insert(track.x.end(), {at, at});
        track.y.insert(track.y.end(), {before, share});
    };
    const auto busy_before = [&](size_t i) {
        return i == 0 ? 0.0 : static_cast<double>(changes[i - 1].busy);
    };
    for (size_t i = 0; i < changes.size();) {
        const int column = columns.at(changes[i].at);
        const bool in_sight = column >= 0 && column < columns.count;
        size_t last = i;
        while (last < changes.size() && columns.at(changes[last].at) == column) ++last;
        if (in_sight && last - i > few_steps) {
            const double start = columns.low + column * columns.width, end = start + columns.width;
            double busy = 0, since = start;
            for (size_t k = i; k <= last; ++k) {
                const double until = k < last ? changes[k].at : end;
                busy += busy_before(k) * (until - since);
                since = until;
            }
            go_to(start, percent(busy / columns.width));
            go_to(end, percent(busy_before(last)));
        } else if (in_sight) {
            for (size_t k = i; k < last; ++k) go_to(changes[k].at, percent(busy_before(k + 1)));
        } else {
            go_to(changes[last - 1].at, percent(busy_before(last)));
        }
        i = last;
    }
}

Tracks::Track launch_track(const VariantResult& variant, const std::string& label, const View& view) {
    return {label, ink_of(variant), launch_spans(variant.launches, view), {}, {}, ""};
}

Tracks::Track utilisation_track(const Result& result, const VariantResult& variant, const View& view) {
    const View::Range seen = view.range_of("time", {0, end_us_of(variant.launches)});
    const View::Range within{std::max(seen.low, 0.0), std::min(seen.high, end_us_of(variant.launches))};
    const std::string mean =
        within.high > within.low
            ? percent_number(utilisation(variant.launches, result.processors, within)) + " %"
            : "–";
    Tracks::Track track{"utilisation " + mean, ink_of(variant), {}, {}, {}, "%"};
    add_utilisation(variant.launches, result.processors, view, track);
    return track;
}

void add_tracks(Tracks& tracks, const Result& result, const VariantResult& variant, const std::string& label,
                const View& view) {
    tracks.tracks.push_back(launch_track(variant, label, view));
    tracks.tracks.push_back(utilisation_track(result, variant, view));
    for (const Track& sampled : variant.tracks)
        tracks.tracks.push_back(sampled_track(sampled, ink_of(variant)));
}

Tracks::Track sampled_track(const Track& sampled, const Ink& ink) {
    Tracks::Track track;
    track.label = sampled.name;
    track.ink = ink;
    track.unit = sampled.unit;
    for (size_t i = 0; i < sampled.values.size(); ++i) {
        const double start = sampled.start_us + static_cast<double>(i) * sampled.step_us;
        track.x.insert(track.x.end(), {start, start + sampled.step_us});
        track.y.insert(track.y.end(), {sampled.values[i], sampled.values[i]});
    }
    return track;
}

}  // namespace sawtooth
