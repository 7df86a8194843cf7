#pragma once

#include <string>
#include <vector>

#include "kernels/core/figure.h"

namespace sawtooth {

// Why figures of another process or of a file cannot be drawn, because lists of a mark do not fit together;
// "" if they can.
std::string fault_in(const std::vector<Figure>& figures);

}  // namespace sawtooth
