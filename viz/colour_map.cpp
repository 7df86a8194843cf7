#include "viz/colour_map.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace sawtooth {
namespace {

// viridis (van der Walt and Smith, 2015), at every tenth.
constexpr std::array<uint32_t, 11> viridis = {0x440154, 0x482475, 0x414487, 0x355F8D, 0x2A788E, 0x21918C,
                                              0x22A884, 0x44BF70, 0x7AD151, 0xBDDF26, 0xFDE725};
// Blue to red through light grey. In OKLab (Ottosson, 2020) lightness falls evenly from 0.95 at zero to 0.45
// at both ends, at hues 250 and 35 degrees.
constexpr std::array<uint32_t, 11> diverging = {0x0056A1, 0x1874C2, 0x5994CF, 0x8BB2DB, 0xBDD0E5, 0xEEEEEE,
                                                0xE4C6BE, 0xD89E8F, 0xC87661, 0xB64B31, 0x952C10};

// The number of decades below the largest magnitude that a logarithmic map shows.
constexpr double shown_decades = 8;
// The multiples of the best value at the other end of the scale: an outlier must not leave the other values
// without colours.
constexpr double least_multiple = 1.25, most_multiple = 4;

double greater_magnitude(double held, double value) {
    if (std::isnan(value)) return held;
    return std::isnan(held) || std::fabs(value) > std::fabs(held) ? value : held;
}

}  // namespace

uint32_t sample(HeatMap::Colours map, double share) {
    const auto& table = map == HeatMap::Colours::viridis ? viridis : diverging;
    const double place = std::clamp(share, 0.0, 1.0) * (table.size() - 1);
    const size_t below = std::min(static_cast<size_t>(place), table.size() - 2);
    uint32_t colour = 0;
    for (int shift : {16, 8, 0}) {
        const double low = table[below] >> shift & 255, high = table[below + 1] >> shift & 255;
        colour |=
            static_cast<uint32_t>(std::lround(low + (high - low) * (place - static_cast<double>(below))))
            << shift;
    }
    return colour;
}

double ColourScale::share_of(double value) const {
    if (map == HeatMap::Colours::diverging) {
        double share = value / high;
        if (logarithmic) {
            const double size = std::max(std::fabs(value), floor);
            share = std::copysign(std::log(size / floor) / std::log(high / floor), value);
        }
        return 0.5 + 0.5 * share;
    }
    if (from_best) return 1 - std::log(std::clamp(value, low, high) / low) / std::log(high / low);
    if (logarithmic) return std::log(std::max(value, low) / low) / std::log(high / low);
    return (value - low) / (high - low);
}

ColourScale colour_scale(const HeatMap& map) {
    ColourScale scale{map.colours, map.logarithmic};
    const bool signs = map.colours == HeatMap::Colours::diverging;
    double low = std::numeric_limits<double>::infinity(), high = -low, magnitude = 0;
    for (double value : map.values) {
        if (!std::isfinite(value)) continue;
        magnitude = std::max(magnitude, std::fabs(value));
        if (map.logarithmic && !signs && value <= 0) continue;
        low = std::min(low, value), high = std::max(high, value);
    }
    if (map.best) {
        scale.from_best = true;
        scale.low = *map.best;
        scale.high = scale.low * std::clamp(high / scale.low, least_multiple, most_multiple);
    } else if (signs) {
        scale.high = magnitude > 0 ? magnitude : 1;
        scale.low = -scale.high;
        scale.floor = scale.high * std::pow(10, -shown_decades);
    } else if (low < high) {
        scale.low = map.logarithmic ? std::max(low, high * std::pow(10, -shown_decades)) : low;
        scale.high = high;
    } else if (low == high) {  // there is a single value: the scale is centred on it
        scale.low = map.logarithmic ? low / 2 : low - 0.5;
        scale.high = map.logarithmic ? low * 2 : low + 0.5;
    } else if (map.logarithmic) {
        scale.low = 0.1, scale.high = 1;
    }
    return scale;
}

std::vector<Tick> ticks_of_colours(const HeatMap& map, int most) {
    const ColourScale scale = colour_scale(map);
    if (!scale.from_best)
        return ticks(scale.logarithmic && scale.low > 0 ? Scale::log10 : Scale::linear,
                     {scale.low, scale.high}, most);
    std::vector<Tick> found = ticks(Scale::log2, {1, scale.high / scale.low}, most);
    const bool is_cut = std::any_of(map.values.begin(), map.values.end(),
                                    [&](double value) { return value > scale.high * (1 + 1e-9); });
    for (Tick& tick : found) {
        const bool last = is_cut && &tick == &found.back();
        tick.text += last ? "x+" : "x";
        tick.value *= scale.low;
    }
    return found;
}

CellGrid reduced(const HeatMap& map, int64_t first, int64_t last, int64_t most_rows, int64_t most_columns) {
    CellGrid grid{std::min(map.rows, most_rows), std::min(last - first, most_columns), {}};
    grid.values.assign(static_cast<size_t>(grid.rows * grid.columns),
                       std::numeric_limits<double>::quiet_NaN());
    std::vector<int64_t> target(
        static_cast<size_t>(last - first));  // the column of the grid for a column of the map
    for (int64_t column = 0; column < last - first; ++column)
        target[static_cast<size_t>(column)] = column * grid.columns / (last - first);
    for (int64_t row = 0; row < map.rows; ++row) {
        double* cells = grid.values.data() + row * grid.rows / map.rows * grid.columns;
        const double* values = map.values.data() + row * map.columns + first;
        for (size_t column = 0; column < target.size(); ++column)
            cells[target[column]] = greater_magnitude(cells[target[column]], values[column]);
    }
    return grid;
}

}  // namespace sawtooth
