#include <algorithm>
#include <cmath>
#include <limits>

#include "viz/layout.h"

namespace sawtooth {
namespace {

// A range that grows to include those values that the scale can show.
struct Growing {
    Scale scale = Scale::linear;
    double low = std::numeric_limits<double>::infinity();
    double high = -std::numeric_limits<double>::infinity();

    void add(double value) {
        if (!std::isfinite(value) || (scale != Scale::linear && value <= 0)) return;
        low = std::min(low, value), high = std::max(high, value);
    }
    bool empty() const { return !(low <= high); }
    Range range() const {
        return empty() ? Range{scale == Scale::linear ? 0.0 : 0.1, 1.0} : Range{low, high};
    }
};

struct Extents {
    const Figure& figure;
    std::optional<Range> visible;
    Growing x, y;
    bool downwards = false, exact_x = false, exact_y = false;

    bool in_sight(double at) const { return !visible || (at >= visible->low && at <= visible->high); }

    void operator()(const Line& line) {
        for (size_t i = 0; i < line.x.size(); ++i) {
            x.add(line.x[i]);
            if (in_sight(line.x[i])) y.add(line.y[i]);
        }
    }
    void operator()(const Band& band) {
        for (size_t i = 0; i < band.x.size(); ++i) {
            x.add(band.x[i]);
            if (in_sight(band.x[i])) y.add(band.low[i]), y.add(band.high[i]);
        }
    }
    void operator()(const Bars& bars) {
        rows(bars.bars.size());
        if (x.scale == Scale::linear) x.add(0);
        for (const Bar& bar : bars.bars) {
            double end = 0;
            for (const Bar::Segment& segment : bar.segments) {
                // On a logarithmic axis a bar starts at the frame, which must lie before the end of its first
                // segment.
                if (&segment == &bar.segments.front()) x.add(segment.length);
                end += segment.length;
            }
            const double most = bars.most.value_or(std::numeric_limits<double>::infinity());
            x.add(std::min(end, most)), x.add(std::min(bar.low.value_or(end), most));
            if (bar.tick) x.add(std::min(bar.tick->length, most));
            x.add(std::min({bar.high.value_or(end), 1.25 * end, most}));  // a longer whisker ends in an arrow
        }
    }
    void operator()(const HeatMap& map) { area(map); }
    void operator()(const KindMap& map) { area(map); }
    template <class Map>
    void area(const Map& map) {
        x.add(map.x_low), x.add(map.x_high), y.add(map.y_low), y.add(map.y_high);
        downwards = map.y_low < map.y_high;
        exact_x = exact_y = true;
    }
    void operator()(const Matrix&) {}
    void operator()(const Tree& tree) {
        for (const Tree::Node& node : tree.nodes) {
            x.add(node.x - 0.6), x.add(node.x + 0.6);
            y.add(node.y - 0.5), y.add(node.y + 0.5);
        }
        downwards = exact_x = exact_y = true;
    }
    void operator()(const Tracks& tracks) {
        rows(tracks.tracks.size());
        exact_x = true;
        for (const Tracks::Track& track : tracks.tracks) {
            for (const Tracks::Span& span : track.spans) x.add(span.start), x.add(span.end);
            if (!track.x.empty()) x.add(track.x.front()), x.add(track.x.back());
        }
    }
    // A limit must be visible, but a quiet boundary need not be.
    void operator()(const Rule& rule) {
        if (rule.ink.role == Ink::Role::quiet) return;
        rule.across == Rule::Across::x ? x.add(rule.at) : y.add(rule.at);
    }
    void operator()(const Note& note) {
        x.add(note.x);
        if (in_sight(note.x)) y.add(note.y);
    }

    void rows(size_t count) {
        y.add(-0.5), y.add(static_cast<double>(count) - 0.5);
        downwards = exact_y = true;
    }
};

bool has_bars(const Figure& figure) {
    return std::any_of(figure.marks.begin(), figure.marks.end(),
                       [](const Mark& mark) { return std::holds_alternative<Bars>(mark); });
}

// The range of y; values that only differ in digits that ticks should not have count as equal.
Range told_apart(const Axis& axis, const Extents& extents) {
    constexpr double least = 1e-6;  // of the largest value
    const Range range = extents.y.range();
    const double largest = std::max(std::fabs(range.low), std::fabs(range.high));
    if (extents.exact_y || axis.scale != Scale::linear || range.high - range.low > least * largest)
        return range;
    const double middle = range.low + (range.high - range.low) / 2;
    return {middle, middle};
}

Range settled(const Axis& axis, Range fitted, bool exact, double share) {
    const bool names = !axis.categories.empty();
    const Scale scale = names ? Scale::linear : axis.scale;
    const bool has_length = fitted.low < fitted.high;
    Range range = has_length && (exact || axis.growing) ? fitted : padded(scale, fitted, share);
    if (axis.growing && !exact) range = rounded_outwards(scale, range);
    if (names) range = {-0.5, static_cast<double>(axis.categories.size()) - 0.5};
    if (axis.minimum && (scale == Scale::linear || *axis.minimum > 0)) range.low = *axis.minimum;
    if (axis.maximum && (scale == Scale::linear || *axis.maximum > 0)) range.high = *axis.maximum;
    return range.low < range.high ? range : padded(scale, {range.low, range.low}, 0);
}

}  // namespace

Bounds bounds_of(const Figure& figure, std::optional<Range> visible) {
    Extents extents{figure, visible, {}, {}};
    extents.x.scale = figure.x.categories.empty() ? figure.x.scale : Scale::linear;
    extents.y.scale = figure.y.categories.empty() ? figure.y.scale : Scale::linear;
    for (const Mark& mark : figure.marks) std::visit(extents, mark);

    Bounds bounds;
    bounds.downwards = extents.downwards;
    const bool bars = has_bars(figure);
    // Positions and times use the whole width; swept parameters, on logarithmic axes, keep a margin.
    const double share_x = figure.x.scale == Scale::linear ? 0.0 : 0.03;
    bounds.x = settled(figure.x, extents.x.range(), extents.exact_x, bars ? 0.0 : share_x);
    if (bars && figure.x.scale != Scale::linear && !figure.x.minimum)
        bounds.x.low /= 2;  // keeps the shortest bar visible
    bounds.y = settled(figure.y, told_apart(figure.y, extents), extents.exact_y, 0.06);
    if (visible && visible->low < visible->high) bounds.x = *visible;
    return bounds;
}

}  // namespace sawtooth
