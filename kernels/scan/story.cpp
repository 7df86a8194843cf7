// The story of the scan: its first figures and texts.

#include "kernels/core/correctness.h"
#include "kernels/scan/parts.h"

namespace sawtooth::scan {
namespace {

double worst_error(const Result& result, std::string_view name) {
    const VariantResult* const variant = find(result, name);
    return variant && variant->ran() ? reference_error(result, *variant).value_or(0) : 1;
}

int64_t launches_of(const Result& result, std::string_view name) {
    const VariantResult* const variant = find(result, name);
    return variant ? variant->launch_count : 0;
}

bool compensation_helps(const Result& result) { return worst_error(result, "sequential") < 1e-7; }
bool is_one_pass(const Result& result) {
    return launches_of(result, "lookback") == 1 && launches_of(result, "hillis_steele") == 20;
}
bool linear_is_right(const Result& result) { return worst_error(result, "blelloch") < 1e-5; }

}  // namespace

std::vector<StoryRow> story() {
    return {{{"output-y"}, 190},
            {{"error-y", "error-compensation", "time-against-length"}, 220},
            {{"timeline"}, 180}};
}

About about() {
    return {
        "Position t of y combines x_0 to x_t. One chain of combines is slow on a parallel machine, so four "
        "variants reorder it: the operator is associative, so every grouping gives the same value up to "
        "rounding. The variants differ in their number of launches, in the memory they read and write, and "
        "in how their errors grow.",
        "y_t = x_0 o x_1 o ... o x_t\nlinear: y_t = a_t y_(t-1) + x_t",
        {{"1,048,576 positions in one row: look-back is one pass",
          "Timeline: lookback is one launch, hillis_steele twenty, each reading and writing the whole array.",
          {{"batch", int64_t{1}}, {"channels", int64_t{1}}, {"length", int64_t{1} << 20}},
          is_one_pass},
         {"Compensated sums remove the rounding error",
          "Error by position: with compensation every variant is exact to the last bits of f32.",
          {{"compensated", true}},
          compensation_helps},
         {"op linear: a recurrence is also a scan",
          "Outputs: y_t = a_t y_(t-1) + x_t, computed with the same trees and tiles.",
          {{"op", "linear"}},
          linear_is_right}},
    };
}

}  // namespace sawtooth::scan
