#include "kernels/core/lanes.h"

#include <algorithm>

#include "kernels/core/timeline.h"

namespace sawtooth {

double end_of_launches(const std::vector<LaunchRecord>& launches, size_t count) {
    return count < launches.size() ? launches[count].start_us : end_us_of(launches);
}

View::Range usual_launches(const std::vector<LaunchRecord>& launches, size_t count) {
    std::vector<View::Range> groups;
    for (size_t first = 0; first + count <= launches.size(); first += count)
        groups.push_back({end_of_launches(launches, first), end_of_launches(launches, first + count)});
    if (groups.empty()) return {0, end_us_of(launches)};
    groups.front().low = 0;
    const auto length = [](const View::Range& group) { return group.high - group.low; };
    std::vector<View::Range> sorted = groups;
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::nth_element(sorted.begin(), middle, sorted.end(),
                     [&](const auto& one, const auto& other) { return length(one) < length(other); });
    return length(groups.front()) <= 1.5 * length(*middle) ? groups.front() : *middle;
}

Lanes::Lanes(const View& view, double whole, double part)
    : stretch_(whole / part), seen_(view.range_of(time, {0, whole})), columns_(view.columns) {}

View Lanes::whole() const { return {{{"time", seen_}}, columns_}; }
View Lanes::from(double start) const {
    return {{{"time", {start + seen_.low / stretch_, start + seen_.high / stretch_}}}, columns_};
}

void Lanes::add_from(double start, Tracks::Track track) {
    track.from = start;
    track.stretch = stretch_;
    const double end = start + seen_.high / stretch_;  // beyond it the axis would grow
    std::erase_if(track.spans, [&](const auto& span) { return span.start >= end || span.end <= start; });
    for (Tracks::Span& span : track.spans) span.end = std::min(span.end, end);
    std::vector<double> x, y;
    for (size_t i = 0; i < track.x.size(); ++i)
        if (track.x[i] >= start && track.x[i] <= end) x.push_back(track.x[i]), y.push_back(track.y[i]);
    track.x = std::move(x);
    track.y = std::move(y);
    add(std::move(track));
}

}  // namespace sawtooth
