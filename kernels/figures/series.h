#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "kernels/core/figure.h"

namespace sawtooth {

// The points of a line, at most two per column of pixels of the view.
struct Series {
    std::vector<double> x, y;
};

// Returns the points value_at(x) at x = 0 … count - 1 in the visible range. If there are more values than
// columns, each column has its minimum and maximum, so that no peak is lost; it is NaN only if all its values
// are.
template <class ValueAt>
Series reduce(int64_t count, const View& view, const std::string& shared, ValueAt&& value_at) {
    // One more value on each side, so that lines leave the plot instead of ending at its edge.
    const View::Range range = view.range_of(shared, {0, static_cast<double>(count)});
    const auto first = std::clamp<int64_t>(static_cast<int64_t>(std::floor(range.low)) - 1, 0, count);
    const auto last = std::clamp<int64_t>(static_cast<int64_t>(std::ceil(range.high)) + 2, first, count);
    Series series;
    const int64_t shown = last - first;
    if (shown <= 2 * int64_t{view.columns}) {
        for (int64_t i = first; i < last; ++i) {
            series.x.push_back(static_cast<double>(i));
            series.y.push_back(value_at(i));
        }
        return series;
    }
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    for (int column = 0; column < view.columns; ++column) {
        const int64_t begin = first + shown * column / view.columns;
        const int64_t end = first + shown * (column + 1) / view.columns;
        double low = nan, high = nan;
        int64_t low_at = begin, high_at = begin;
        for (int64_t i = begin; i < end; ++i) {
            const double value = value_at(i);
            if (!(value >= low))
                low = std::isnan(value) ? low : value, low_at = std::isnan(value) ? low_at : i;
            if (!(value <= high))
                high = std::isnan(value) ? high : value, high_at = std::isnan(value) ? high_at : i;
        }
        const bool low_first = low_at <= high_at;
        series.x.push_back(static_cast<double>(low_first ? low_at : high_at));
        series.y.push_back(low_first ? low : high);
        series.x.push_back(static_cast<double>(low_first ? high_at : low_at));
        series.y.push_back(low_first ? high : low);
    }
    return series;
}

// The minimum and maximum of the values in each bucket of neighbours.
struct Envelope {
    std::vector<double> x, low, high;
};

// Computes the envelope of the visible range in at most `buckets` buckets; NaN if a bucket has no number.
template <class ValueAt>
Envelope envelope(int64_t count, const View& view, const std::string& shared, int64_t buckets,
                  ValueAt&& value_at) {
    const View::Range range = view.range_of(shared, {0, static_cast<double>(count)});
    const auto first = std::clamp<int64_t>(static_cast<int64_t>(std::floor(range.low)) - 1, 0, count);
    const auto last = std::clamp<int64_t>(static_cast<int64_t>(std::ceil(range.high)) + 2, first, count);
    const int64_t shown = last - first, used = std::min(buckets, shown);
    Envelope found;
    for (int64_t bucket = 0; bucket < used; ++bucket) {
        const int64_t begin = first + shown * bucket / used, end = first + shown * (bucket + 1) / used;
        double low = std::numeric_limits<double>::quiet_NaN(), high = low;
        for (int64_t i = begin; i < end; ++i) {
            const double value = value_at(i);
            if (std::isnan(value)) continue;
            low = std::isnan(low) ? value : std::min(low, value);
            high = std::isnan(high) ? value : std::max(high, value);
        }
        found.x.push_back(static_cast<double>(begin + end - 1) / 2);
        found.low.push_back(low);
        found.high.push_back(high);
    }
    return found;
}

}  // namespace sawtooth
