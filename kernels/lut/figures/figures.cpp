#include "kernels/figures/launch_figures.h"
#include "kernels/lut/figures/common.h"
#include "kernels/lut/parts.h"

namespace sawtooth::lut {

std::vector<Figure> figures(const Result& result, const View& view) {
    std::vector<Figure> all;
    const auto add = [&](std::vector<Figure> more) {
        std::move(more.begin(), more.end(), std::back_inserter(all));
    };
    add(bit_figures(result));
    add(kernel_figures(result, {.label_of = kernel_label}));
    all.push_back(steps_figure(result));
    all.push_back(surrogate_figure(result));
    add(row_figures(result));
    add(output_figures(result, view));
    return all;
}

}  // namespace sawtooth::lut
