#pragma once

#include <set>

#include "kernels/core/figure.h"
#include "kernels/core/parameter.h"

namespace sawtooth {

// Returns whether clicks on points or cells of the figure set parameters.
bool sets_parameters(const Figure& figure);

// The figure with marks at the current values of the parameters that clicks set: a line across the plot if x
// is the parameter, otherwise a note at the point or a frame around the cell.
Figure with_present(const Figure& figure, const Parameters& present);

// The figure without the lines and bands of these variants.
Figure without_variants(const Figure& figure, const std::set<int>& variants);

}  // namespace sawtooth
