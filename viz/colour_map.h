#pragma once

#include <cstdint>
#include <vector>

#include "viz/axis.h"

namespace sawtooth {

// Perceptually uniform colour maps: 0xRRGGBB at `share`, 0 to 1. The diverging one is neutral in the middle.
uint32_t sample(HeatMap::Colours map, double share);

// Maps values of a heat map to colours, and back for the colour bar.
struct ColourScale {
    HeatMap::Colours map = HeatMap::Colours::viridis;
    bool logarithmic = false;
    double low = 0,
           high = 1;   // the values at the ends; diverging: high = -low. Logarithmic and diverging: see floor
    double floor = 0;  // logarithmic: the smallest magnitude distinguished from zero
    bool from_best = false;  // low is the best value, in the brightest colour; those above high look like it

    double share_of(double value) const;
    uint32_t colour_of(double value) const { return sample(map, share_of(value)); }
};

ColourScale colour_scale(const HeatMap& map);
// At values of the map; of multiples of the best value "1x", "2x", and "4x+" where the scale is cut.
std::vector<Tick> ticks_of_colours(const HeatMap& map, int most);

// A heat map with fewer cells: each has the value of largest magnitude of the cells it covers (NaN if all are
// NaN), so that no peak is lost.
struct CellGrid {
    int64_t rows = 0, columns = 0;
    std::vector<double> values;  // row-major, row 0 on top
};
// Reduces columns `first` to `last` (exclusive) of the map.
CellGrid reduced(const HeatMap& map, int64_t first, int64_t last, int64_t most_rows, int64_t most_columns);

}  // namespace sawtooth
