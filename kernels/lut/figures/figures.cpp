#include "kernels/figures/launch_figures.h"
#include "kernels/figures/without_arrays.h"
#include "kernels/lut/figures/common.h"
#include "kernels/lut/parts.h"

namespace sawtooth::lut {
namespace {

const std::vector<FigureName> names_of_input_figures = {
    {"bits", Place::views, "Bits of the detectors"},
    {"margins", Place::views, "Margins of the detectors"},
    {"steps", Place::views, "y against an input"},
    {"surrogate", Place::views, "Surrogate gradient of a bit"},
    {"rows", Place::views, "Table rows that are hit"},
    {"rows-by-anchors", Place::views, "Share of rows used against anchors_per_detector"},
    {"rows-by-items", Place::views, "Share of rows used against items"}};

// The figures that need no arrays, and what is left of the others.
std::vector<Figure> figures_without_arrays(const Result& result, const View& view) {
    std::vector<Figure> all = left_out_without_arrays(names_of_input_figures);
    const auto add = [&](const std::vector<Figure>& more) {
        all.insert(all.end(), more.begin(), more.end());
    };
    add(kernel_figures(result, {.label_of = kernel_label}));
    for (const char* name : {"y", "dx", "dweights"})
        if (find(result.reference, name)) add(output_without_arrays(result, view, name, "element"));
    return all;
}

}  // namespace

std::vector<Figure> figures(const Result& result, const View& view) {
    if (!has_arrays(result)) return figures_without_arrays(result, view);
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
