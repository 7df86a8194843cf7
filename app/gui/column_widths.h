#pragma once

#include <cstddef>
#include <vector>

namespace sawtooth {

// Of a table that scrolls to the side, in a panel with so much room: pixels, of the widest text in each column
// before, of the column after. `between` lies between neighbours. The first column shrinks, to `least` at the
// least, until the first `wanted` columns fit. Then those that fit share what is left, so that none is cut
// before it is scrolled.
std::vector<float> fitted_widths(std::vector<float> widths, float room, float between, size_t wanted,
                                 float least);

}  // namespace sawtooth
