#include "profiling/figures.h"

#include <algorithm>
#include <cmath>

#include "kernels/core/parameter.h"
#include "kernels/core/table.h"
#include "kernels/core/timeline.h"

namespace sawtooth {
namespace {

Ink variant_ink(const Result& result, const std::string& name) {
    for (size_t i = 0; i < result.variants.size(); ++i)
        if (result.variants[i].name == name) return {Ink::Role::variant, result.variants[i].index};
    return {};
}

// Launches of one kind together, in the order of their first start; what is left of the whole are the gaps.
std::vector<Bar::Segment> segments_of(const VariantResult& variant) {
    constexpr size_t most = 6;
    std::vector<Bar::Segment> segments;
    double total = 0;
    for (const LaunchRecord& launch : variant.launches) {
        total += launch.duration_us;
        const auto same = std::find_if(segments.begin(), segments.end(),
                                       [&](const Bar::Segment& s) { return s.label == launch.info->name; });
        if (same != segments.end())
            same->length += launch.duration_us;
        else if (segments.size() < most)
            segments.push_back({launch.info->name, launch.duration_us});
        else if (segments.back().label == "others")
            segments.back().length += launch.duration_us;
        else
            segments.push_back({"others", launch.duration_us});
    }
    if (segments.empty()) return {{variant.name, variant.time->median}};
    const double& last = variant.launches.back().start_us;
    const double gaps = last + variant.launches.back().duration_us - total;
    if (gaps > 0) segments.push_back({"between launches", gaps});
    // The repeat drawn is the one nearest to the median; the bar is as long as the median itself.
    double sum = 0;
    for (const Bar::Segment& segment : segments) sum += segment.length;
    for (Bar::Segment& segment : segments) segment.length *= variant.time->median / sum;
    return segments;
}

Tracks::Track launch_track(const VariantResult& variant, const Ink& ink, const View& view) {
    Tracks::Track track;
    track.label = variant.name;
    track.ink = ink;
    track.spans = launch_spans(variant.launches, view);
    return track;
}

Tracks::Track busy_track(const VariantResult& variant, const Ink& ink, bool on_gpu, const View& view) {
    Tracks::Track track;
    char idle[32];
    std::snprintf(idle, sizeof idle, "idle %.0f %%", 100 * idle_share(variant.launches));
    track.label = idle;
    track.ink = ink;
    if (!on_gpu) track.unit = "workers";
    add_busy_curve(variant.launches, view, track);
    return track;
}

std::optional<double> as_number(const Value& value) {
    if (const auto* integer = std::get_if<int64_t>(&value)) return static_cast<double>(*integer);
    if (const auto* real = std::get_if<double>(&value)) return *real;
    return {};
}

// The axis of a swept parameter: numbers where all values are, else names in order.
struct ValueAxis {
    Axis axis;
    std::vector<double> at;  // by index of the value

    ValueAxis(const SweepAxis& sweep, const Parameter& parameter) {
        axis.label = parameter.name;
        axis.unit = parameter.unit;
        bool numbers = true;
        for (const Value& value : sweep.values) numbers = numbers && as_number(value);
        for (size_t i = 0; i < sweep.values.size(); ++i) {
            at.push_back(numbers ? *as_number(sweep.values[i]) : static_cast<double>(i));
            if (!numbers) axis.categories.push_back(to_text(sweep.values[i]));
        }
        if (numbers && parameter.step == Step::powers_of_two && *std::min_element(at.begin(), at.end()) > 0)
            axis.scale = Scale::log2;
    }
};

struct Curve {
    Line line;
    Band band;
};

template <class Number>
std::vector<Curve> curves_of(const SweepResult& result, const ValueAxis& axis, Number&& number) {
    std::vector<Curve> curves;
    const size_t inner = result.sweep.axes.size() > 1 ? result.sweep.axes[1].values.size() : 1;
    for (size_t i = 0; i < result.cells.size(); ++i) {
        const SweepCell& cell = result.cells[i];
        if (!cell.result) continue;
        for (const VariantResult& variant : cell.result->variants) {
            const auto value = variant.ran() ? number(variant) : std::nullopt;
            if (!value) continue;
            std::string label = variant.name;
            if (inner > 1)
                label += ", " + result.sweep.axes[1].parameter + " " +
                         to_text(result.sweep.axes[1].values[i % inner]);
            auto same = std::find_if(curves.begin(), curves.end(),
                                     [&](const Curve& curve) { return curve.line.label == label; });
            if (same == curves.end()) same = curves.insert(curves.end(), Curve{});
            Curve& curve = *same;
            curve.line.label = label;
            curve.line.sets.parameter = result.sweep.axes.front().parameter;
            curve.line.ink = variant_ink(*cell.result, variant.name);
            curve.line.ink.dashed = i % inner % 2 == 1;
            curve.line.markers = true;
            curve.line.x.push_back(axis.at[i / inner]);
            curve.line.y.push_back(value->median);
            if (axis.axis.categories.empty()) curve.line.sets.values.push_back(curve.line.x.back());
            curve.band.ink = curve.line.ink;
            curve.band.x.push_back(axis.at[i / inner]);
            curve.band.low.push_back(value->q1);
            curve.band.high.push_back(value->q3);
        }
    }
    return curves;
}

}  // namespace

Figure times_figure(const Result& result) {
    Figure figure;
    figure.id = "times";
    figure.place = Place::times;
    figure.title = "Time";
    figure.caption = "Median with quartiles, stacked by launch; the line is a copy of as many bytes.";
    figure.x = {.label = "time", .unit = "us", .minimum = 0};
    figure.y.label = "variant";
    Bars bars;
    double slowest = 0;
    for (const VariantResult& variant : result.variants)
        if (variant.time) slowest = std::max(slowest, variant.time->median);
    for (const VariantResult& variant : result.variants) {
        if (!variant.time) continue;
        Bar bar;
        bar.ink = variant_ink(result, variant.name);
        bar.segments = segments_of(variant);
        bar.low = variant.time->q1;
        bar.high = variant.time->q3;
        bar.text = short_time(variant.time->median);
        bars.bars.push_back(std::move(bar));
        figure.y.categories.push_back(variant.name);
    }
    if (bars.bars.empty()) {
        figure.missing = "Bars of every variant's time, once a run has repeats (F5 runs).";
        return figure;
    }
    figure.marks.push_back(std::move(bars));
    if (result.ceilings && result.work.bytes > 0) {
        const double limit = result.work.bytes / result.ceilings->copy_bytes_per_second * 1e6;
        figure.marks.push_back(Rule{Rule::Across::x, limit, "copy " + short_time(limit), {Ink::Role::limit}});
    }
    return figure;
}

Figure timeline_figure(const Result& result, const View& view) {
    Figure figure;
    figure.id = "timeline";
    figure.place = Place::timeline;
    const bool on_gpu = result.backend == Backend::cuda;
    figure.title = on_gpu ? "Launches on the GPU" : "Launches and busy workers";
    figure.caption =
        on_gpu ? "One repeat of every variant: its launches, and under them when one runs. To record them "
                 "stretches chains of short ones; samples are of a run of their own."
               : "One repeat of every variant: its launches, and under them how many workers are busy.";
    figure.x = {.label = "time", .unit = "us", .minimum = 0, .shared = "time"};
    Tracks tracks;
    for (const VariantResult& variant : result.variants) {
        if (variant.launches.empty()) continue;
        const Ink ink = variant_ink(result, variant.name);
        tracks.tracks.push_back(launch_track(variant, ink, view));
        tracks.tracks.push_back(busy_track(variant, ink, on_gpu, view));
        for (const Track& track : variant.tracks) tracks.tracks.push_back(sampled_track(track, ink));
    }
    if (tracks.tracks.empty())
        figure.missing = "Launches on a time axis, once a run has been measured with profile timeline.";
    else
        figure.marks.push_back(std::move(tracks));
    return figure;
}

std::vector<Figure> sweep_figures(const SweepResult& result, const Parameter& parameter) {
    const ValueAxis axis(result.sweep.axes.front(), parameter);
    const std::string id = "sweep-" + parameter.name;
    const auto make = [&](const std::string& what, const std::string& unit, auto&& number, bool with_band) {
        Figure figure;
        figure.id = id + "-" + what;
        figure.place = Place::views;
        figure.title = what + " against " + parameter.name;
        figure.title[0] = static_cast<char>(std::toupper(figure.title[0]));
        figure.x = axis.axis;
        figure.y = {.label = what, .unit = unit, .scale = Scale::log10};
        for (Curve& curve : curves_of(result, axis, number)) {
            if (with_band) figure.marks.push_back(std::move(curve.band));
            figure.marks.push_back(std::move(curve.line));
        }
        if (figure.marks.empty()) figure.missing = "Points appear as the sweep makes them.";
        return figure;
    };
    struct Point {
        double median, q1, q3;
    };
    Figure time = make(
        "time", "us",
        [](const VariantResult& variant) {
            return variant.time
                       ? std::optional(Point{variant.time->median, variant.time->q1, variant.time->q3})
                       : std::nullopt;
        },
        true);
    time.caption = "Median of the repeats, with quartiles.";
    Figure error = make(
        "error", "",
        [](const VariantResult& variant) -> std::optional<Point> {
            if (variant.errors.empty() || !variant.errors.front().rel_l2) return {};
            const double value = *variant.errors.front().rel_l2;
            if (value <= 0) return {};
            return Point{value, value, value};
        },
        false);
    error.y.label = "relative error, L2";
    error.caption = "Against the double-precision reference; exact points are left out of the logarithm.";
    return {std::move(time), std::move(error)};
}

}  // namespace sawtooth
