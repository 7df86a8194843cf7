// The rate of every variant beside the measured peak.

#include <fmt/format.h>

#include "kernels/attention/figures/common.h"
#include "kernels/core/ceilings.h"
#include "kernels/core/table.h"
#include "kernels/figures/comparison.h"
#include "kernels/figures/correctness.h"

namespace sawtooth::attention {
namespace {

// Returns the measured peak of products in the dtype. Tensor cores multiply f16 and bf16 at the same rate.
double peak_of(const Result& result) {
    const Ceilings& ceilings = *result.ceilings;
    return ceilings.gpu && !result.parameters.is("dtype", "f32") ? ceilings.gpu->bf16_operations_per_second
                                                                 : ceilings.operations_per_second;
}

}  // namespace

Figure peak_figure(const Result& result) {
    const bool on_gpu = result.backend == Backend::cuda;
    const double unit = on_gpu ? 1e12 : 1e9;
    Figure figure = new_figure("share-of-peak", Place::views, "Share of measured peak", "",
                               {.label = "rate", .unit = on_gpu ? "TFLOP/s" : "GFLOP/s", .minimum = 0},
                               {.label = "variant"});
    Bars bars;
    const double peak = result.ceilings ? peak_of(result) : 0;
    for (const VariantResult& variant : result.variants) {
        if (!variant.time || peak == 0) continue;
        const double rate = result.work.operations / (variant.time->median * 1e-6);
        bars.bars.push_back({.ink = ink_of(variant),
                             .segments = {{"", rate / unit}},
                             .low = {},
                             .high = {},
                             .text = share_words(rate, peak, "peak"),
                             .badge = wrong_badge(variant)});
        figure.y.categories.push_back(variant.name);
    }
    if (bars.bars.empty()) {
        figure.missing =
            "The rate of every variant against measured peak. Available after a run with repeats (press F5).";
        return figure;
    }
    const auto fastest = fastest_right(result);
    if (fastest.size() == 1 || (!fastest.empty() && fastest.size() < figure.y.categories.size())) {
        std::vector<std::string> names;
        for (const VariantResult* variant : fastest) names.push_back(variant->name);
        const double rate = result.work.operations / (fastest.front()->time->median * 1e-6);
        figure.caption = fmt::format("{} reaches {}. ", either_of(names), share_words(rate, peak, "peak"));
    }
    figure.caption += "Counted: two products per unmasked pair forward, five backward.";
    figure.marks.push_back(std::move(bars));
    figure.marks.push_back(Rule{Rule::Across::x,
                                peak / unit,
                                fmt::format("measured peak: {} {}", rounded(peak / unit, 3), figure.x.unit),
                                {Ink::Role::limit}});
    return figure;
}

}  // namespace sawtooth::attention
