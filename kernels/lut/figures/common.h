#pragma once

#include <span>
#include <string>
#include <vector>

#include "kernels/core/range.h"
#include "kernels/figures/figures.h"
#include "kernels/lut/parts.h"
#include "kernels/lut_table/figures/common.h"

namespace sawtooth::lut {

// Helpers for the figures, and the figures themselves, one file per subject.

// The indices that figures show, each limited to the size of its dimension.
struct Drawn : Sizes {
    explicit Drawn(const Parameters& parameters);

    int64_t item = 0, detector = 0, output = 0;
    int64_t dragged_input = 0;
    double dragged_by = 0;

    // The detectors shown side by side: the 64 from a multiple of 64 on that include the drawn one.
    Range page() const;
    // "Detectors 64 to 127 of 256. "; "" if all are shown.
    std::string words_of_page() const;
};

// What one detector finds for one item. `weakest` is -1 if all pairs are skipped.
struct Checked {
    std::vector<double> deltas;  // NaN: skipped
    int64_t row = 0;             // the chosen row of the table
    int64_t weakest = -1;
    double min_delta = 0;
};

// The detectors of a result, recomputed from its inputs.
class Detectors {
  public:
    explicit Detectors(const Result& result);

    struct Pair {
        int64_t first = -1, second = -1;

        bool is_skipped() const { return first < 0 || second < 0; }
        // The sign with which the difference takes an input; 0 if it does not depend on it.
        int sign_of(int64_t input) const { return (first == input) - (second == input); }
    };
    Pair pair(int64_t detector, int64_t r) const;
    // The difference in float32. The pair must not be skipped.
    float delta(int64_t item, const Pair& pair) const;
    bool is_set(double delta) const { return delta > double{eps_}; }
    Checked check(int64_t item, int64_t detector) const;
    // The row of the table that the first `pairs` pairs choose.
    int64_t row(int64_t item, int64_t detector, int64_t pairs) const;

  private:
    std::span<const float> x_;
    std::span<const int32_t> anchors_;
    int64_t inputs_, pairs_;
    float eps_;
};

// up'(d) = 0.5 sign(d) / (1 + |d|)^2 with sign(0) = -1: the surrogate gradient of a bit.
double surrogate_slope(double delta);

// bits.cpp: differences, bits and weakest pairs of the detectors of the drawn item, and their margins.
std::vector<Figure> bit_figures(const Result& result);
// steps.cpp: "steps", the drawn output against the dragged input.
Figure steps_figure(const Result& result);
// surrogate.cpp: "surrogate", up' with the weakest differences of the drawn item on it.
Figure surrogate_figure(const Result& result);
// rows.cpp: which rows of the tables the items choose.
std::vector<Figure> row_figures(const Result& result);
// outputs.cpp: outputs and gradients over the reference, errors.
std::vector<Figure> output_figures(const Result& result, const View& view);

}  // namespace sawtooth::lut
