#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "kernels/core/table.h"
#include "kernels/figures/comparison.h"
#include "kernels/figures/correctness.h"
#include "kernels/figures/figures.h"
#include "profiling/figures.h"

namespace sawtooth {
namespace {

constexpr size_t least_for_histogram = 30;
constexpr size_t most_points = 2048;  // per variant; of more repeats every second, third, … is a point

// The repeats of a variant, in percent of the distance to their median.
struct Repeats {
    const VariantResult* variant;
    std::vector<double> percent;
    std::vector<bool> disturbed;
    double q1 = 0, q3 = 0;

    bool has_histogram() const { return percent.size() >= least_for_histogram; }
};

std::vector<Repeats> repeats_of(const Result& result) {
    std::vector<Repeats> all;
    for (const VariantResult& variant : result.variants) {
        if (!variant.time || variant.time->samples.size() < 2 || !(variant.time->median > 0)) continue;
        const TimeStatistics& time = *variant.time;
        const auto percent = [&](double us) { return 100 * (us / time.median - 1); };
        Repeats repeats{
            &variant, {}, std::vector<bool>(time.samples.size()), percent(time.q1), percent(time.q3)};
        for (const double sample : time.samples) repeats.percent.push_back(percent(sample));
        for (const int64_t index : time.disturbed)
            if (index >= 0 && static_cast<size_t>(index) < repeats.disturbed.size())
                repeats.disturbed[static_cast<size_t>(index)] = true;
        all.push_back(std::move(repeats));
    }
    return all;
}

const Repeats& widest_of(const std::vector<Repeats>& all) {
    return *std::max_element(all.begin(), all.end(), [](const Repeats& one, const Repeats& other) {
        return one.q3 - one.q1 < other.q3 - other.q1;
    });
}

// The range that is visible at first: up to Tukey's outer fence of a variant, because a few much longer
// repeats would leave no room for the others.
View::Range range_of(const std::vector<Repeats>& all) {
    constexpr double outer_fence = 3;  // in distances of the quartiles, above the upper one
    double low = 0, high = 0, end = 1;
    for (const Repeats& repeats : all) {
        end = std::max(end, repeats.q3 + outer_fence * (repeats.q3 - repeats.q1));
        for (const double at : repeats.percent) {
            if (std::isfinite(at)) low = std::min(low, at), high = std::max(high, at);
        }
    }
    if (low == high) return {-1, 1};  // all repeats take the same time
    const double margin = 0.03 * (std::min(high, end) - low);
    return {low - margin, std::min(high, end) + margin};
}

// Counts of repeats as an area that stands on `floor`, `height` high at the most. The width of a bin is that
// of Freedman and Diaconis, with at most 60 bins.
Band histogram_of(const Repeats& repeats, View::Range range, double floor, double height) {
    constexpr double fewest_bins = 5, most_bins = 60;
    const double count = static_cast<double>(repeats.percent.size()), length = range.high - range.low;
    const double wanted = 2 * (repeats.q3 - repeats.q1) / std::cbrt(count);
    const auto bins =
        static_cast<size_t>(std::clamp(wanted > 0 ? length / wanted : most_bins, fewest_bins, most_bins));
    std::vector<double> counts(bins);
    for (const double at : repeats.percent)
        if (at >= range.low && at < range.high)
            ++counts[std::min(static_cast<size_t>((at - range.low) / length * static_cast<double>(bins)),
                              bins - 1)];
    const double most = std::max(1.0, *std::max_element(counts.begin(), counts.end()));
    Band band{"", ink_of(*repeats.variant), {}, {}, {}};
    for (size_t bin = 0; bin < bins; ++bin)
        for (const size_t edge : {bin, bin + 1}) {
            band.x.push_back(range.low + length * static_cast<double>(edge) / static_cast<double>(bins));
            band.low.push_back(floor);
            band.high.push_back(floor + height * counts[bin] / most);
        }
    return band;
}

// Adds a row around y = `row`: the repeats as points, the first on top, over a band between the quartiles; if
// there are many, below their histogram.
void add_row(Figure& figure, const Repeats& repeats, double row, View::Range range) {
    const Ink ink = ink_of(*repeats.variant);
    const double bottom = row - 0.38, top = repeats.has_histogram() ? row : row + 0.38;
    if (repeats.has_histogram()) figure.marks.push_back(histogram_of(repeats, range, row + 0.06, 0.36));
    figure.marks.push_back(
        Band{"", ink, {repeats.q1, repeats.q3}, {bottom - 0.04, bottom - 0.04}, {top + 0.04, top + 0.04}});
    // Rows name the variants, so that these need no legend.
    Line usual{.label = "", .ink = ink, .x = {}, .y = {}, .markers = true, .joined = false};
    Line disturbed = usual;
    disturbed.label = "disturbed";
    disturbed.ink = {Ink::Role::quiet, 0, true};
    const size_t count = repeats.percent.size(), step = (count + most_points - 1) / most_points;
    for (size_t i = 0; i < count; i += step) {
        Line& line = repeats.disturbed[i] ? disturbed : usual;
        line.x.push_back(repeats.percent[i]);
        line.y.push_back(top - (top - bottom) * (static_cast<double>(i) + 0.5) / static_cast<double>(count));
    }
    for (Line* line : {&usual, &disturbed})
        if (!line->x.empty()) figure.marks.push_back(std::move(*line));
}

// "+4.2 %"
std::string signed_percent(double percent) {
    return (percent < 0 ? "-" : "+") + percent_number(std::fabs(percent) / 100) + " %";
}

// "Crosses: a thread of the run waited for a core in 3 of 45 repeats. "
std::string words_of_disturbed(const Result& result, const std::vector<Repeats>& all) {
    int64_t count = 0, disturbed = 0;
    for (const Repeats& repeats : all) {
        count += static_cast<int64_t>(repeats.percent.size());
        disturbed += std::count(repeats.disturbed.begin(), repeats.disturbed.end(), true);
    }
    if (disturbed == 0) return "";
    return "Crosses: " + disturbance_words(result.backend) + " in " + with_thousands(disturbed) + " of " +
           with_thousands(count) + " repeats. ";
}

// "2 repeats are beyond the right end, up to +340 %. "
std::string words_beyond(const std::vector<Repeats>& all, double end) {
    int64_t beyond = 0;
    double longest = 0;
    for (const Repeats& repeats : all)
        for (const double at : repeats.percent)
            if (at > end) ++beyond, longest = std::max(longest, at);
    if (beyond == 0) return "";
    return with_thousands(beyond) + (beyond == 1 ? " repeat is" : " repeats are") +
           " beyond the right end, up to " + signed_percent(longest) + ". ";
}

}  // namespace

Figure samples_figure(const Result& result) {
    Figure figure = new_figure("samples", Place::times, "Repeats", "",
                               {.label = "distance to the median", .unit = "%"}, {});
    const std::vector<Repeats> all = repeats_of(result);
    if (all.empty()) {
        figure.missing = "Every timed repeat of every variant. Available after a run with several repeats.";
        return figure;
    }
    const View::Range range = range_of(all);
    figure.x.minimum = range.low;
    figure.x.in_sight = range.high;
    const Repeats& widest = widest_of(all);
    figure.caption = (all.size() == 1 ? "Half of the repeats of " + widest.variant->name
                                      : "The quartiles of " + widest.variant->name +
                                            " are furthest apart: half of its repeats") +
                     " are between " + signed_percent(widest.q1) + " and " + signed_percent(widest.q3) +
                     " of the median. " + words_of_disturbed(result, all) + words_beyond(all, range.high) +
                     "Each point is a repeat, the first on top.";
    // Rows without bars are counted upwards.
    for (size_t i = all.size(); i-- > 0;) {
        const VariantResult& variant = *all[i].variant;
        const std::string badge = wrong_badge(variant);
        add_row(figure, all[i], static_cast<double>(figure.y.categories.size()), range);
        figure.y.categories.push_back(variant.name + ", " + short_time(variant.time->median) +
                                      (badge.empty() ? "" : ", " + badge));
    }
    figure.marks.push_back(Rule{Rule::Across::x, 0, "median", {Ink::Role::reference}});
    return figure;
}

}  // namespace sawtooth
