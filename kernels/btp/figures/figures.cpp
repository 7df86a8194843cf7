#include "kernels/btp/figures/common.h"
#include "kernels/btp/parts.h"
#include "kernels/figures/launch_figures.h"

namespace sawtooth::btp {

std::vector<Figure> figures(const Result& result, const View& view) {
    std::vector<Figure> all = launches_figures(result, view, "Launches: per token, per pass, fused");
    const auto add = [&](std::vector<Figure> more) {
        std::move(more.begin(), more.end(), std::back_inserter(all));
    };
    all.push_back(truncation_figure(result, view));
    all.push_back(truncation_by_gate_figure(result));
    add(speed_figures(result));
    all.push_back(transfer_figure(result));
    add(construction_figures(result));
    add(rank_one_figures(result));
    add(output_figures(result, view));
    return all;
}

}  // namespace sawtooth::btp
