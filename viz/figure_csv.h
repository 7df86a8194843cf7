#pragma once

#include <string>

#include "kernels/core/figure.h"

namespace sawtooth {

// Every number of the figure as RFC 4180. If the figure has only lines over the same x: one column per line.
// Otherwise one row per number or point, with the columns mark, label, x, y, low, high, value, text, where x
// and y are named like the axes, with units. Numbers read back as the same doubles; a gap is an empty cell.
std::string to_csv(const Figure& figure);

}  // namespace sawtooth
