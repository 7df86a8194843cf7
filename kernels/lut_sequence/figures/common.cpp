#include "kernels/lut_sequence/figures/common.h"

#include <fmt/format.h>

#include <algorithm>

namespace sawtooth::lut_sequence {

Drawn::Drawn(const Parameters& p)
    : Sizes(p),
      item(std::min(p.integer("drawn_batch"), batch - 1)),
      detector(std::min(p.integer("drawn_detector"), detectors - 1)) {}

std::string Drawn::words() const { return fmt::format("sequence {}, detector {}", item, detector); }

void leave_out(Figure& figure, const std::string& reason) {
    figure.marks.clear();
    figure.caption.clear();
    figure.missing = figure.title + ". " + reason;
}

std::string percent(double share) {
    return share < 0.1 ? fmt::format("{:.2g}", 100 * share) : fmt::format("{:.0f}", 100 * share);
}

}  // namespace sawtooth::lut_sequence
