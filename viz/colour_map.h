#pragma once

#include <cstdint>
#include <vector>

#include "viz/axis.h"

namespace sawtooth {

// Perceptually uniform colour maps: the colour 0xRRGGBB at `share`, 0 to 1. The diverging map is neutral in
// the middle.
uint32_t sample(HeatMap::Colours map, double share);

// Maps values of a heat map to colours, and the reverse for the colour bar.
struct ColourScale {
    HeatMap::Colours map = HeatMap::Colours::viridis;
    bool logarithmic = false;
    double low = 0,
           high = 1;   // values at the ends; diverging: high = -low; logarithmic and diverging: see floor
    double floor = 0;  // logarithmic: the smallest magnitude distinguished from zero
    // Low is the best value, in the brightest colour; values above high look like high.
    bool from_best = false;

    double share_of(double value) const;
    uint32_t colour_of(double value) const { return sample(map, share_of(value)); }
};

ColourScale colour_scale(const HeatMap& map);
// Ticks at values of the map. For multiples of the best value they are "1x", "2x", and "4x+" if the scale is
// cut off.
std::vector<Tick> ticks_of_colours(const HeatMap& map, int most);

// A heat map reduced to fewer cells. Each one has the value of the largest magnitude among the cells it
// covers (NaN if all are NaN), so that no peak is lost.
struct CellGrid {
    int64_t rows = 0, columns = 0;
    std::vector<double> values;  // row-major, row 0 on top
};
// Reduces columns `first` to `last` (exclusive) of the map.
CellGrid reduced(const HeatMap& map, int64_t first, int64_t last, int64_t most_rows, int64_t most_columns);

}  // namespace sawtooth
