#pragma once

#include <vector>

#include "kernels/core/figure.h"
#include "kernels/core/result.h"

namespace sawtooth::attention {

// The way of a tile of keys through streaming, forward: "tile_flow", with the bytes of every step. Empty if
// streaming did not run.
std::vector<Figure> flow_figures(const Result& result);

}  // namespace sawtooth::attention
