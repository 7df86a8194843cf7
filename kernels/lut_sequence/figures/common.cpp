#include "kernels/lut_sequence/figures/common.h"

#include <fmt/format.h>

#include <algorithm>

namespace sawtooth::lut_sequence {

Drawn::Drawn(const Parameters& p)
    : Sizes(p),
      item(std::min(p.integer("drawn_batch"), batch - 1)),
      detector(std::min(p.integer("drawn_detector"), detectors - 1)) {}

std::string Drawn::words() const { return fmt::format("sequence {}, detector {}", item, detector); }

}  // namespace sawtooth::lut_sequence
