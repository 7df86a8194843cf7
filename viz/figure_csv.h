#pragma once

#include <string>

#include "kernels/core/figure.h"

namespace sawtooth {

// Every number of the figure as RFC 4180. Where the figure holds nothing but lines over the same x: one
// column a line. Otherwise one row a number or point, with the columns mark, label, x, y, low, high, value,
// text, where x and y are those of the figure's axes and carry their units. Numbers read back as the same
// doubles; a gap is an empty cell.
std::string to_csv(const Figure& figure);

}  // namespace sawtooth
