#pragma once

#include <optional>
#include <string>

#include "kernels/core/family.h"
#include "kernels/core/figure.h"
#include "kernels/core/sweep.h"

namespace sawtooth {

// Heat maps over a sweep of one variant over two parameters, the first one down the rows. A click on a cell
// sets both. Cells without a value say why.

// The map of median times, with a frame around the fastest cell.
Figure time_map(const SweepResult& sweep, const Family& family, std::string id);
// The map of the theoretical occupancy of that launch; absent if no cell knows it. `because` says why the
// highest occupancy need not be the fastest.
std::optional<Figure> occupancy_map(const SweepResult& sweep, const Family& family, std::string id,
                                    const std::string& launch, const std::string& because);

}  // namespace sawtooth
