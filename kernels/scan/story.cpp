// The story of the scan: its first figures and texts.

#include "kernels/figures/correctness.h"
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
    return {{{"work-and-depth", "launches"}, 200},
            {{"output-y", "error-y"}, 200},
            {{"time-against-length", "error-compensation", "tree-blelloch"}, 200}};
}

About about() {
    return {
        "Position t of y combines x_0 to x_t. sequential keeps one running total per column, like "
        "torch.cumsum along a middle axis. As the operator is associative, every grouping gives the same "
        "value up to rounding, and four variants use that to work in parallel. They differ in launches, in "
        "combines and memory traffic per element, in the longest chain of combines, and in how rounding "
        "errors grow.",
        "y_t = x_0 o x_1 o ... o x_t\nlinear: y_t = a_t y_(t-1) + x_t\n"
        "logcumsumexp: y_t = log(exp(x_0) + ... + exp(x_t))",
        {{"1,048,576 positions in one row: look-back is one pass",
          "Launches: lookback has one, hillis_steele twenty, each reading and writing the whole array.",
          {{"batch", int64_t{1}}, {"channels", int64_t{1}}, {"length", int64_t{1} << 20}},
          is_one_pass},
         {"Compensated sums remove the rounding error",
          "Error of y: with compensation every variant is exact to the last bits of f32.",
          {{"compensated", true}},
          compensation_helps},
         {"op linear: a recurrence is also a scan",
          "Outputs: y_t = a_t y_(t-1) + x_t, computed with the same trees and tiles.",
          {{"op", "linear"}},
          linear_is_right}},
    };
}

}  // namespace sawtooth::scan
