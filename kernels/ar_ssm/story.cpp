// The story of ar_ssm: its first figures and texts.

#include <cmath>

#include "kernels/ar_ssm/parts.h"
#include "kernels/figures/correctness.h"

namespace sawtooth::ar_ssm {
namespace {

// With hard gates the effective rank is a whole number, and it differs between positions.
bool ranks_are_counted(const Result& result) {
    const auto ranks = find(result.reference, "effective_rank")->as<double>();
    const bool whole =
        std::all_of(ranks.begin(), ranks.end(), [](double rank) { return rank == std::round(rank); });
    const auto [least, most] = std::minmax_element(ranks.begin(), ranks.end());
    return whole && *least < *most && is_right(result, "unfused") && is_right(result, "fused");
}

// The root mean square of y over positions first … last - 1 of the first sequence.
double size_of_y(const Result& result, int64_t first, int64_t last) {
    const int64_t width = Sizes(result.parameters).width;
    const auto y = find(result.reference, "y")->as<double>();
    double square = 0;
    for (int64_t at = first * width; at < last * width; ++at)
        square += y[static_cast<size_t>(at)] * y[static_cast<size_t>(at)];
    return std::sqrt(square / static_cast<double>((last - first) * width));
}

bool ends_are_alike(const Result& result) {
    const int64_t length = Sizes(result.parameters).length;
    const double start = size_of_y(result, 0, length / 16),
                 end = size_of_y(result, length - length / 16, length);
    return start > 0.5 * end && end > 0.5 * start && is_right(result, "fused");
}

bool doubling_takes_launches(const Result& result) {
    const VariantResult *const unfused = find(result, "unfused"), *const fused = find(result, "fused");
    return unfused && fused && unfused->launch_count >= fused->launch_count + 10 &&
           is_right(result, "unfused");
}

}  // namespace

std::vector<StoryRow> story() {
    return {{{"launches"}, 60},
            {{"gates", "effective-rank", "error_by_rank"}, 150},
            {{"output-y", "error-y", "time_by_scan"}, 150}};
}

About about() {
    return {
        "The layer adds a local part, a convolution over three positions, and a low-rank part that carries "
        "the whole past. Each position projects its input to u and v; a running sum c collects u, and v "
        "chooses what is read from c. Gates, computed from the same input, scale each rank of u and v: their "
        "sum is the effective rank of the position. Generated inputs are loud and quiet in turn, and loud "
        "ones open the gates. unfused has one launch per step, fused as few as the scan allows.",
        "t = conv(x)\ng = sigmoid(W2 relu(W1 x + b1) + b2)\n"
        "u = (x U^T) g     v = (x V^T) g\nc_l = u_0 + u_1 + ... + u_l\n"
        "y = t + (c v) W_o^T + b_o",
        {{"gate_mode hard: every rank is open or closed",
          "Gates: only 0 and 1 are left (zoom in: a cell of several positions shows their mean). Effective "
          "rank: it counts open ranks, so it moves in whole steps.",
          {{"gate_mode", "hard"}},
          ranks_are_counted},
         {"bidirectional: both ends see everything",
          "y: it no longer grows along the sequence, because every position also reads a sum from the end. "
          "Launches: unfused scans, multiplies and projects twice.",
          {{"bidirectional", true}},
          ends_are_alike},
         {"scan hillis_steele: ten passes over u",
          "Launches: 1,024 positions need ten doublings, each a launch that reads and writes all ranks. "
          "fused scans inside its tiles and is not affected.",
          {{"scan", "hillis_steele"}},
          doubling_takes_launches}},
    };
}

}  // namespace sawtooth::ar_ssm
