#include "kernels/btp/family.h"
#include "kernels/btp/figures/common.h"
#include "kernels/btp/parts.h"
#include "kernels/figures/launch_figures.h"
#include "kernels/figures/without_arrays.h"

namespace sawtooth::btp {
namespace {

const std::vector<FigureName> names_of_block_figures = {
    {"truncation", Place::error, "Truncation error"},
    {"truncation_by_gate", Place::views, "Error by gate"},
    {"transfer-matrix", Place::views, "Lmat"},
    {"construction-error", Place::views, "Lmat error by gate"},
    {"construction-error-by-block", Place::views, "Lmat error by BL"},
    {"rank-one", Place::views, "g c^T"},
    {"rank-one-g", Place::views, "g"},
    {"rank-one-c", Place::views, "c"}};

std::vector<Figure> outputs_without_arrays(const Result& result, const View& view) {
    std::vector<Figure> all;
    for (const Array& reference : result.reference) {
        if (!btp_family().array(reference.name)) continue;  // a list of rows
        if (reference.name == "carry" || reference.name == "dcarry0") {
            const std::string id = reference.name == "carry" ? "carry" : "gradient-dcarry0";
            for (Figure& figure : left_out_without_arrays({{id, Place::outputs, reference.name}}))
                all.push_back(std::move(figure));
            continue;
        }
        for (Figure& figure : output_without_arrays(result, view, reference.name, "position")) {
            if (figure.id == "output-da" || figure.id == "output-du")
                figure.id = "gradient-" + reference.name;
            all.push_back(std::move(figure));
        }
    }
    return all;
}

// The figures that need no arrays, and what is left of the others.
std::vector<Figure> figures_without_arrays(const Result& result, const View& view) {
    std::vector<Figure> all = launches_figures(result, view, "Launches: per token, per pass, fused");
    for (auto& more : {speed_figures(result), left_out_without_arrays(names_of_block_figures),
                       outputs_without_arrays(result, view)})
        all.insert(all.end(), more.begin(), more.end());
    return all;
}

}  // namespace

std::vector<Figure> figures(const Result& result, const View& view) {
    if (!has_arrays(result)) return figures_without_arrays(result, view);
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
