#pragma once

#include <cstddef>
#include <vector>

namespace sawtooth {

// Fits the columns of a table that scrolls horizontally into `room` pixels. Takes the width of the widest
// text in each column and returns the widths of the columns; `between` is the gap between neighbours. The
// first column shrinks, to `least` at the smallest, until the first `wanted` columns fit. The columns that
// fit share the remaining room, so that none is cut.
std::vector<float> fitted_widths(std::vector<float> widths, float room, float between, size_t wanted,
                                 float least);

}  // namespace sawtooth
