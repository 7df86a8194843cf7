// The sequence that figures show, and the list of all figures.

#include <algorithm>

#include "kernels/ar_ssm/figures/common.h"
#include "kernels/ar_ssm/parts.h"
#include "kernels/figures/launch_figures.h"
#include "kernels/scan/job.h"

namespace sawtooth::ar_ssm {

Drawn::Drawn(const Parameters& parameters)
    : Sizes(parameters), sequence(std::min(parameters.integer("drawn_batch"), batch - 1)) {}

std::vector<Figure> figures(const Result& result, const View& view) {
    std::vector<Figure> all = gate_figures(result, view);
    const auto add = [&](std::vector<Figure> more) {
        std::move(more.begin(), more.end(), std::back_inserter(all));
    };
    add(launches_figures(result, view, "Launches: one per step, and fused"));
    add(kernel_figures(result, {.step_of = scan::scan_of, .most = 24}));
    all.push_back(rank_error_figure(result));
    add(output_figures(result, view));
    return all;
}

}  // namespace sawtooth::ar_ssm
