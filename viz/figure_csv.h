#pragma once

#include <string>

#include "kernels/core/figure.h"

namespace sawtooth {

// Every number of the figure as RFC 4180. A figure that has only lines over the same x gets one column per
// line. Any other figure gets one row per number or point, with the columns mark, label, x, y, low, high,
// value, text, where x and y have the names and units of the axes. Numbers read back as the same doubles; a
// gap is an empty cell.
std::string to_csv(const Figure& figure);

}  // namespace sawtooth
