#include "kernels/lut_sequence/figures/common.h"

#include <fmt/format.h>

#include <algorithm>

namespace sawtooth::lut_sequence {

Drawn::Drawn(const Parameters& p)
    : Sizes(p),
      item(std::min(p.integer("drawn_batch"), batch - 1)),
      detector(std::min(p.integer("drawn_detector"), detectors - 1)),
      output(std::min(p.integer("drawn_output"), outputs - 1)),
      query(std::min(p.integer("drawn_query"), length - 1)),
      key(std::clamp<int64_t>(p.integer("drawn_key"), 0, std::max<int64_t>(query - 1, 0))) {}

std::string Drawn::words() const { return fmt::format("sequence {}, detector {}", item, detector); }

}  // namespace sawtooth::lut_sequence
