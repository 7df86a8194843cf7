#pragma once

#include <span>
#include <string>
#include <vector>

#include "kernels/ar_ssm/sizes.h"
#include "kernels/figures/figures.h"

namespace sawtooth::ar_ssm {

// What the figures share, and the figures themselves, one file per subject.

// The sequence of a result that figures show: drawn_batch, or the last one if there are fewer.
struct Drawn : Sizes {
    explicit Drawn(const Parameters& parameters);

    int64_t sequence = 0;

    // The rows of the sequence, [length, columns], in an array of tokens.
    std::span<const float> floats(const Array& array) const { return rows<float>(array); }
    std::span<const double> doubles(const Array& array) const { return rows<double>(array); }
    std::string words() const { return "sequence " + std::to_string(sequence); }

  private:
    template <class T>
    std::span<const T> rows(const Array& array) const {
        const auto count = static_cast<size_t>(array.count() / batch);
        return array.as<T>().subspan(static_cast<size_t>(sequence) * count, count);
    }
};

// gates.cpp: "gates", a heat map over positions and ranks, and "effective-rank" along the sequence. Without a
// reference there are none.
std::vector<Figure> gate_figures(const Result& result, const View& view);
// rank_error.cpp: "error_by_rank", the distance from y to what fewer ranks give.
Figure rank_error_figure(const Result& result);
// outputs.cpp: outputs and gradients over the reference, errors by position and by output.
std::vector<Figure> output_figures(const Result& result, const View& view);

}  // namespace sawtooth::ar_ssm
