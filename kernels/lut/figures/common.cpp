#include "kernels/lut/figures/common.h"

#include <fmt/format.h>

#include <cmath>

namespace sawtooth::lut {

Drawn::Drawn(const Parameters& p)
    : Sizes(p),
      item(std::min(p.integer("drawn_batch"), batch - 1)),
      detector(std::min(p.integer("drawn_detector"), detectors - 1)),
      output(std::min(p.integer("drawn_output"), outputs - 1)),
      dragged_input(std::min(p.integer("dragged_input"), inputs - 1)),
      dragged_by(p.real("dragged_by")) {}

Range Drawn::page() const {
    constexpr int64_t most = 64;
    return tile_at(detector / most, most, detectors);
}

std::string Drawn::words_of_page() const {
    const Range shown = page();
    if (shown.count() == detectors) return "";
    return fmt::format("Detectors {} to {} of {}. ", shown.first, shown.last - 1, detectors);
}

Detectors::Detectors(const Result& result)
    : x_(find(result.inputs, "x")->as<float>()),
      anchors_(find(result.inputs, "anchors")->as<int32_t>()),
      inputs_(result.parameters.integer("inputs")),
      pairs_(result.parameters.integer("anchors_per_detector")),
      eps_(static_cast<float>(result.parameters.real("eps"))) {}

Detectors::Pair Detectors::pair(int64_t detector, int64_t r) const {
    const auto at = static_cast<size_t>(2 * (detector * pairs_ + r));
    return {anchors_[at], anchors_[at + 1]};
}

float Detectors::delta(int64_t item, const Pair& pair) const {
    const float* const x = x_.data() + item * inputs_;
    return x[pair.first] - x[pair.second];
}

Checked Detectors::check(int64_t item, int64_t detector) const {
    Checked checked;
    for (int64_t r = 0; r < pairs_; ++r) {
        const Pair compared = pair(detector, r);
        if (compared.is_skipped()) {
            checked.deltas.push_back(gap);
            continue;
        }
        const double difference = double{delta(item, compared)};
        checked.deltas.push_back(difference);
        if (is_set(difference)) checked.row += int64_t{1} << r;
        if (checked.weakest >= 0 && !(std::abs(difference) < std::abs(checked.min_delta))) continue;
        checked.weakest = r;
        checked.min_delta = difference;
    }
    return checked;
}

int64_t Detectors::row(int64_t item, int64_t detector, int64_t pairs) const {
    int64_t row = 0;
    for (int64_t r = 0; r < pairs; ++r)
        if (const Pair compared = pair(detector, r);
            !compared.is_skipped() && is_set(double{delta(item, compared)}))
            row += int64_t{1} << r;
    return row;
}

double surrogate_slope(double delta) {
    const double beyond = 1 + std::abs(delta);
    return (delta > 0 ? 0.5 : -0.5) / (beyond * beyond);
}

}  // namespace sawtooth::lut
