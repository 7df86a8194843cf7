// The story of lut: the figures and texts shown first.

#include <algorithm>
#include <cmath>

#include "kernels/figures/correctness.h"
#include "kernels/lut/parts.h"

namespace sawtooth::lut {
namespace {

// Whether dragging flips a bit. The bits without dragging are recomputed for the first item.
bool dragging_flips_bits(const Result& result) {
    const Sizes s(result.parameters);
    const auto x = find(result.inputs, "x")->as<float>();
    const auto anchors = find(result.inputs, "anchors")->as<int32_t>();
    const int64_t input = result.parameters.integer("dragged_input");
    const double by = result.parameters.real("dragged_by");
    int64_t flips = 0;
    for (size_t pair = 0; pair < anchors.size() / 2; ++pair) {
        const int32_t first = anchors[2 * pair], second = anchors[2 * pair + 1];
        if (first < 0 || second < 0) continue;
        const double delta = double{x[static_cast<size_t>(first)] - x[static_cast<size_t>(second)]};
        const double before = delta - by * ((first == input) - (second == input));
        flips += (before > double{s.eps}) != (delta > double{s.eps});
    }
    return flips > 0 && is_right(result, "unfused") && is_right(result, "fused");
}

// Whether no output is further from the fixed-point reference than the rounding of its last bits.
bool integers_are_exact(const Result& result) {
    return std::all_of(result.variants.begin(), result.variants.end(), [&](const VariantResult& variant) {
        const auto error = kernel_error(result, variant);
        return error && *error < 1e-7;
    });
}

// Whether most rows of the tables have a gradient of exactly 0.
bool most_rows_rest(const Result& result) {
    const Array* const gradient = find(result.reference, "dweights");
    if (!gradient) return false;
    int64_t zeros = 0;
    for (int64_t at = 0; at < gradient->count(); ++at) zeros += gradient->value(at) == 0.0;
    return 10 * zeros > 9 * gradient->count() && is_right(result, "fused");
}

}  // namespace

std::vector<StoryRow> story() {
    return {{{"bits"}, 240}, {{"steps", "kernels", "time_by_detectors"}, 60}, {{"output-y", "error-y"}, 60}};
}

About about() {
    return {
        "A detector compares pairs of inputs: each comparison is a bit, and the bits together address a row "
        "of its table. The rows that all detectors choose add up to the output y: the forward pass "
        "multiplies nothing. In the backward pass, only the weakest pair of a detector passes a gradient to "
        "x: the difference between the chosen row and the row with that bit flipped, times a surrogate "
        "gradient. unfused has one launch for each kernel of LUT Runtime CUDA Kernels Documentation.",
        "bit r = [x_a(r) - x_b(r) > eps]     row = sum_r bit_r 2^r\n"
        "y_o = sum_t w(t, row_t, o)\n"
        "dx_a += g up'(d), dx_b -= g up'(d)     g = sum_o dy_o (w(row) - w(row with its weakest bit "
        "flipped))\n"
        "up'(d) = 0.5 sign(d) / (1 + |d|)^2, sign(0) = -1",
        {{"dragged_by 1: drag an input over its neighbours",
          "Bits: dashed frames are the bits that flipped. y against input: y changes in steps and is flat "
          "elsewhere.",
          {{"dragged_by", 1.0}},
          dragging_flips_bits},
         {"arithmetic integer: sums that repeat to the last bit",
          "Numbers: the kernel error is only the rounding of stored floats, as integer sums do not depend on "
          "their order; the approximation is what integers cost. Values that change from run to run: none.",
          {{"arithmetic", "integer"}, {"backward", true}},
          integers_are_exact},
         {"anchors_per_detector 10, backward: few rows learn",
          "Table rows that are hit: 16 items choose at most 16 of 1,024 rows of a table, and only these get "
          "a weight gradient.",
          {{"anchors_per_detector", int64_t{10}}, {"backward", true}},
          most_rows_rest}},
    };
}

}  // namespace sawtooth::lut
