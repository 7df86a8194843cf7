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
      pairs_(result.parameters.integer("anchors_per_detector")) {}

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
        if (difference > 0) checked.row += int64_t{1} << r;
        if (checked.weakest >= 0 && !(std::abs(difference) < std::abs(checked.min_delta))) continue;
        checked.weakest = r;
        checked.min_delta = difference;
    }
    return checked;
}

int64_t Detectors::row(int64_t item, int64_t detector, int64_t pairs) const {
    int64_t row = 0;
    for (int64_t r = 0; r < pairs; ++r)
        if (const Pair compared = pair(detector, r); !compared.is_skipped() && delta(item, compared) > 0)
            row += int64_t{1} << r;
    return row;
}

Weights::Weights(const Result& result)
    : sizes_(result.parameters),
      weights_(find(result.inputs, sizes_.sparse ? "synapse_weights" : "weights")->as<float>()) {
    if (!sizes_.sparse) return;
    offsets_ = find(result.inputs, "synapse_offsets")->as<int32_t>();
    targets_ = find(result.inputs, "synapse_targets")->as<int32_t>();
}

double Weights::of(int64_t detector, int64_t row, int64_t output) const {
    if (!sizes_.sparse)
        return double{
            weights_[static_cast<size_t>((detector * sizes_.rows + row) * sizes_.outputs + output)]};
    double sum = 0;
    const Range own = synapses(detector, row);
    for (auto at = static_cast<size_t>(own.first); at < static_cast<size_t>(own.last); ++at)
        if (targets_[at] == output) sum += double{weights_[at]};
    return sum;
}

Range Weights::synapses(int64_t detector, int64_t row) const {
    const auto neuron = static_cast<size_t>(detector * sizes_.rows + row);
    return {offsets_[neuron], offsets_[neuron + 1]};
}

std::string kernel_label(const std::string& kernel) {
    std::string label = kernel;
    for (const std::string_view end : {"_fully_connected", "_for_sequence"})
        if (label.ends_with(end)) label.resize(label.size() - end.size());
    return label;
}

double surrogate_slope(double delta) {
    const double beyond = 1 + std::abs(delta);
    return (delta > 0 ? 0.5 : -0.5) / (beyond * beyond);
}

}  // namespace sawtooth::lut
