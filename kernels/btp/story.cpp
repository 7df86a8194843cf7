// The story of btp: its first figures and texts.

#include <cmath>

#include "kernels/btp/parts.h"
#include "kernels/figures/correctness.h"

namespace sawtooth::btp {
namespace {

// Returns the distance of x from the exact recurrence of the same inputs, relative in the L2 norm.
double truncation(const Result& result) {
    const Sizes s(result.parameters);
    const auto a = find(result.inputs, "a")->as<float>(), u = find(result.inputs, "u")->as<float>();
    const auto x = find(result.reference, "x")->as<double>();
    double difference = 0, size = 0;
    for (int64_t row = 0; row < s.rows(); ++row) {
        double state = 0;
        for (int64_t t = 0; t < s.length; ++t) {
            const auto at = static_cast<size_t>(row * s.length + t);
            state = double{a[static_cast<size_t>(s.gate_row(row / s.width) * s.length + t)]} * state +
                    double{u[at]};
            difference += (x[at] - state) * (x[at] - state);
            size += state * state;
        }
    }
    return std::sqrt(difference / size);
}

bool is_exact_recurrence(const Result& result) {
    return truncation(result) < 1e-12 && is_right(result, "fused");
}

bool forgets_too_early(const Result& result) { return truncation(result) > 0.5 && is_right(result, "fused"); }

bool ratio_loses_all(const Result& result) {
    const auto error = reference_error(result, *find(result, "fused"));
    return error && *error == 1 && is_right(result, "sequential");
}

bool difference_is_nan(const Result& result) {
    const VariantResult* const fused = find(result, "fused");
    return fused && !fused->errors.empty() && fused->errors.front().nonfinite > 0 &&
           is_right(result, "sequential");
}

}  // namespace

std::vector<StoryRow> story() {
    return {{{"launches"}, 70},
            {{"launches-zoom"}, 80},
            {{"truncation", "time_by_block", "time_by_order"}, 240},
            {{"output-x", "error-x", "transfer-matrix"}, 200}};
}

About about() {
    return {
        "A recurrence x_t = a_t x_(t-1) + u_t is split into blocks of BL positions. A first pass solves each "
        "block alone, as a product of its triangular transfer matrix Lmat with its inputs. A second pass "
        "adds the carry c of the previous block, scaled by the gates since. With order 2 the carry is the "
        "uncorrected last value of the previous block: no chain runs through the blocks, but nothing travels "
        "further than one block. Block Two-Pass (BTP) says that this eliminates the carry chains that slow "
        "scans; Time by order measures what the chain of order full costs here.",
        "Lmat_ij = a_i a_(i-1) ... a_(j+1)\nv_i = sum_(j <= i) Lmat_ij u_j\n"
        "x_i = v_i + (a_0 a_1 ... a_i) c",
        {{"order full: the exact recurrence",
          "Truncation error: the curves are what orders 1 and 2 lose; order full loses nothing. Time by "
          "order: "
          "what its chain of carries through all blocks costs.",
          {{"order", "full"}},
          is_exact_recurrence},
         {"gate 0.99: order 2 forgets too early",
          "Truncation error: gates near 1 remember hundreds of positions, but nothing travels further than "
          "one "
          "block. BL 64 reaches four times as far.",
          {{"gate", 0.99}},
          forgets_too_early},
         {"construction log_difference with gates of 0: NaN",
          "Outputs: log(0) is -inf, and -inf - (-inf) is NaN in two_pass and fused. sequential takes no "
          "logarithm.",
          {{"construction", "log_difference"}, {"gate", 0.0}},
          difference_is_nan},
         {"construction cumprod_ratio with gates of 0: nothing is left",
          "Outputs: every prefix product is 0, and the ratio of two of them is set to 0 even on the diagonal "
          "of Lmat, which should be 1. two_pass and fused give x = 0. sequential takes no ratio.",
          {{"construction", "cumprod_ratio"}, {"gate", 0.0}},
          ratio_loses_all}},
    };
}

}  // namespace sawtooth::btp
