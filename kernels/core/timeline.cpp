#include "kernels/core/timeline.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/core/figures.h"
#include "kernels/core/table.h"

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
    int busy;  // from that time on
};

std::vector<Change> changes_of(const std::vector<LaunchRecord>& launches) {
    std::vector<std::pair<double, int>> edges;
    const auto add = [&](double start, double end) {
        edges.emplace_back(start, 1);
        edges.emplace_back(end, -1);
    };
    for (const LaunchRecord& launch : launches) {
        for (const BusySpan& span : launch.busy) add(span.start_us, span.end_us);
        // GPU launches have no worker records: they count as busy for their duration.
        if (launch.busy.empty()) add(launch.start_us, launch.start_us + launch.duration_us);
    }
    std::sort(edges.begin(), edges.end());
    std::vector<Change> changes;
    int busy = 0;
    for (const auto& [at, change] : edges) changes.push_back({at, busy += change});
    return changes;
}

}  // namespace

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
    for (const Change& change : changes_of(launches)) {
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

std::string idle_words(const Result& result, const VariantResult& variant) {
    const auto kept = static_cast<double>(variant.launches.size());
    const bool once = variant.launch_count == 1;
    const double each = end_us_of(variant.launches) / kept;
    std::string words = with_thousands(variant.launch_count) + (once ? " launch" : " launches") + ", idle " +
                        std::to_string(std::lrint(100 * idle_share(variant.launches))) +
                        " % of the time: " + (once ? "it" : "each") + " takes " + short_time(each) +
                        ", of which " + short_time(busy_us_of(variant.launches) / kept) + " is work";
    // CUPTI slows every launch, and the timed repeats may run without it.
    if (result.backend == Backend::cpu || !variant.time) return words;
    const double timed = variant.time->median / static_cast<double>(variant.launch_count);
    if (timed < 0.95 * each) words += " (" + short_time(timed) + " when not recorded)";
    return words;
}

int64_t workers_of(const LaunchRecord& launch, int workers) {
    if (!launch.busy.empty()) return static_cast<int64_t>(launch.busy.size());
    const Extent& grid = launch.info->grid;
    return std::min<int64_t>(grid.x * grid.y * grid.z, workers);
}

double active_share(const std::vector<LaunchRecord>& launches, int workers) {
    double busy = 0;
    for (const LaunchRecord& launch : launches) {
        for (const BusySpan& span : launch.busy) busy += span.end_us - span.start_us;
        if (launch.busy.empty())
            busy += launch.duration_us * static_cast<double>(workers_of(launch, workers));
    }
    const double end = end_us_of(launches) * std::max(workers, 1);
    return end > 0 ? std::clamp(busy / end, 0.0, 1.0) : 0;
}

std::vector<Tracks::Span> launch_spans(const std::vector<LaunchRecord>& launches, const View& view) {
    const Columns columns(launches, view);
    std::vector<Tracks::Span> spans;
    int merged = 0;  // launches in the last span
    for (const LaunchRecord& launch : launches) {
        const double start = launch.start_us, end = start + launch.duration_us;
        if (columns.at(end) < 0 || columns.at(start) >= columns.count) continue;
        const bool joins = !spans.empty() && columns.at(spans.back().start) == columns.at(end);
        if (joins) {
            spans.back().end = end;
            spans.back().label = std::to_string(++merged) + " launches";
        } else {
            spans.push_back({start, end, launch.info->name});
            merged = 1;
        }
    }
    return spans;
}

void add_busy_curve(const std::vector<LaunchRecord>& launches, const View& view, Tracks::Track& track) {
    const Columns columns(launches, view);
    const std::vector<Change> changes = changes_of(launches);
    const auto step = [&](double at, int before, int after) {
        track.x.insert(track.x.end(), {at, at});
        track.y.insert(track.y.end(), {static_cast<double>(before), static_cast<double>(after)});
    };
    int before = 0;
    for (size_t i = 0; i < changes.size();) {
        const int column = columns.at(changes[i].at);
        size_t last = i;
        int low = before, high = before;
        for (; last < changes.size() && columns.at(changes[last].at) == column; ++last) {
            low = std::min(low, changes[last].busy);
            high = std::max(high, changes[last].busy);
        }
        const bool in_sight = column >= 0 && column < columns.count;
        if (last - i <= 2 && in_sight) {
            for (size_t k = i; k < last; ++k)
                step(changes[k].at, k == i ? before : changes[k - 1].busy, changes[k].busy);
        } else if (in_sight) {
            step(changes[i].at, before, high);
            step(changes[last - 1].at, low, changes[last - 1].busy);
        } else {
            step(changes[last - 1].at, before, changes[last - 1].busy);
        }
        before = changes[last - 1].busy;
        i = last;
    }
}

Tracks::Track launch_track(const VariantResult& variant, const std::string& label, const View& view) {
    return {label, ink_of(variant), launch_spans(variant.launches, view), {}, {}, ""};
}

Tracks::Track busy_track(const VariantResult& variant, Backend backend, const View& view) {
    const std::string what = backend == Backend::cpu ? "busy workers" : "launch running";
    const long percent = std::lrint(100 * (1 - idle_share(variant.launches)));
    Tracks::Track busy{what + ", " + std::to_string(percent) + " %", ink_of(variant), {}, {}, {},
                       backend == Backend::cpu ? "workers" : ""};
    add_busy_curve(variant.launches, view, busy);
    return busy;
}

void add_tracks(Tracks& tracks, const VariantResult& variant, const std::string& label, Backend backend,
                const View& view) {
    tracks.tracks.push_back(launch_track(variant, label, view));
    tracks.tracks.push_back(busy_track(variant, backend, view));
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
