// Token by token, two launches and one launch on one axis of time.

#include <algorithm>

#include "kernels/btp/figures/common.h"
#include "kernels/core/lanes.h"
#include "kernels/core/table.h"
#include "kernels/core/timeline.h"

namespace sawtooth::btp {
namespace {

constexpr size_t zoomed_teeth = 30;

// "fused: 1 launch, 46 us"
std::string words_of(const VariantResult& variant) {
    return variant.name + ": " + with_thousands(variant.launch_count) +
           (variant.launch_count == 1 ? " launch, " : " launches, ") +
           short_time(end_us_of(variant.launches));
}

// "first 18 us", "18 us from 120 us"
std::string words_of(const View::Range& part) {
    const std::string length = short_time(part.high - part.low);
    return part.low == 0 ? "first " + length : length + " from " + short_time(part.low);
}

// Otherwise it would be one solid bar.
bool ends_a_launch_within(const VariantResult& variant, double end) {
    const LaunchRecord& first = variant.launches.front();
    return first.start_us + first.duration_us < end;
}

}  // namespace

Figure launches_figure(const Result& result, const View& view) {
    Figure figure = new_figure("launches", Place::views, "Launches: per token, per pass, fused", "",
                               {.label = "time", .unit = "us", .minimum = 0, .shared = Lanes::time}, {});
    std::vector<const VariantResult*> ran;
    double end = 0;
    for (const VariantResult& variant : result.variants)
        if (!variant.launches.empty()) {
            ran.push_back(&variant);
            end = std::max(end, end_us_of(variant.launches));
        }
    if (ran.empty()) {
        figure.missing =
            "The launches of every variant and the idle time between them. Run with profile timeline.";
        return figure;
    }
    const auto most = *std::max_element(ran.begin(), ran.end(), [](const auto* one, const auto* other) {
        return one->launches.size() < other->launches.size();
    });
    const View::Range teeth = usual_launches(most->launches, zoomed_teeth);
    Lanes lanes(view, end, teeth.high - teeth.low);
    for (const VariantResult* variant : ran) {
        lanes.add(launch_track(*variant, variant->name, lanes.whole()));
        figure.caption +=
            (figure.caption.empty() ? "" : ". ") +
            (variant == most ? variant->name + ": " + idle_words(result, *variant) : words_of(*variant));
    }
    figure.caption += ".";
    if (most->launches.size() > zoomed_teeth)
        for (const VariantResult* variant : ran) {
            const View::Range part = variant == most ? teeth : View::Range{0, teeth.high - teeth.low};
            if (!ends_a_launch_within(*variant, part.high)) continue;
            const View seen = lanes.from(part.low);
            lanes.add_from(part.low, launch_track(*variant, variant->name + ", " + words_of(part), seen));
            if (variant == most) lanes.add_from(part.low, busy_track(*variant, result.backend, seen));
        }
    figure.marks.push_back(lanes.take());
    return figure;
}

}  // namespace sawtooth::btp
