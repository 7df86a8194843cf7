#include "kernels/figures/zoom.h"

#include <algorithm>
#include <cmath>

#include "kernels/core/table.h"
#include "kernels/figures/figures.h"
#include "kernels/figures/timeline.h"

namespace sawtooth {

double end_of_launches(const std::vector<LaunchRecord>& launches, size_t count) {
    return count < launches.size() ? launches[count].start_us : end_us_of(launches);
}

View::Range typical_launches(const std::vector<LaunchRecord>& launches, size_t count) {
    constexpr double alike = 0.05;  // relative to the median
    std::vector<View::Range> groups;
    for (size_t first = 0; first + count <= launches.size(); first += count)
        groups.push_back({end_of_launches(launches, first), end_of_launches(launches, first + count)});
    if (groups.empty()) return {0, end_us_of(launches)};
    std::vector<double> lengths;
    for (const View::Range& group : groups) lengths.push_back(group.high - group.low);
    const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
    std::nth_element(lengths.begin(), middle, lengths.end());
    // The first launches take longer because the caches are cold.
    const auto first = groups.begin() + (groups.size() > 2 ? 1 : 0);
    const auto found = std::find_if(first, groups.end(), [&](const View::Range& group) {
        return std::fabs(group.high - group.low - *middle) <= alike * *middle;
    });
    return found == groups.end() ? groups.front() : *found;
}

View view_of(const View& view, const std::string& shared, View::Range whole) {
    const View::Range seen = view.range_of(shared, whole);
    const bool is_inside = seen.low < whole.high && seen.high > whole.low;  // false after an earlier run
    return {{{"time", is_inside ? seen : whole}}, view.columns};
}

Figure zoom_of(const Figure& whole, View::Range range, size_t launches) {
    Figure zoom = new_figure(
        whole.id + "-zoom", whole.place,
        (launches == 1 ? "A typical launch: " : std::to_string(launches) + " typical launches: ") +
            short_time(range.high - range.low) + ", starting at " + short_time(range.low),
        "",
        {.label = "time", .unit = "us", .minimum = range.low, .maximum = range.high, .shared = time_of_zoom},
        {});
    zoom.zoom = Zoom{whole.id, range.low, range.high};
    return zoom;
}

}  // namespace sawtooth
