#pragma once

#include <cstddef>
#include <vector>

namespace sawtooth {

// Fits the columns of a horizontally scrolling table into `room` pixels: takes the width of the widest text
// in each column, returns column widths. `between` is the gap of neighbours. The first column shrinks, down
// to `least`, until the first `wanted` columns fit. Columns that fit share the rest, so that none is cut.
std::vector<float> fitted_widths(std::vector<float> widths, float room, float between, size_t wanted,
                                 float least);

}  // namespace sawtooth
