#include "kernels/figures/launch_figures.h"
#include "kernels/figures/without_arrays.h"
#include "kernels/lut_sequence/figures/common.h"
#include "kernels/lut_sequence/parts.h"

namespace sawtooth::lut_sequence {
namespace {

const std::vector<FigureName> names_of_input_figures = {
    {"pair", Place::views, "One pair"},
    {"pairs", Place::views, "Which bit gets the gradient of a pair"},
    {"events", Place::views, "Events by position"},
    {"rows", Place::views, "Rows of the table by position"},
    {"hash-fill", Place::views, "Hash table of the backward pass: first tries and taken slots"},
    {"hash-probes", Place::views, "Hash table of the backward pass: probes per key"}};

std::vector<Figure> outputs_without_arrays(const Result& result, const View& view) {
    std::vector<Figure> all;
    for (const char* name : {"y", "dx", "dpositional", "dweights", "weights_after"}) {
        if (!find(result.reference, name)) continue;
        for (Figure& figure : output_without_arrays(result, view, name, "position")) {
            const bool is_along_sequence = name == std::string_view("y") || name == std::string_view("dx");
            if (figure.id == "output-dpositional") figure.id = "gradient-dpositional";
            if (is_along_sequence || figure.place == Place::error || figure.id == "gradient-dpositional")
                all.push_back(std::move(figure));
        }
    }
    return all;
}

// The figures that need no arrays, and what is left of the others.
std::vector<Figure> figures_without_arrays(const Result& result, const View& view) {
    std::vector<Figure> all = left_out_without_arrays(names_of_input_figures);
    for (auto& more : {launches_figures(result, view, "Launches: unfused over fused"),
                       kernel_figures(result, {.label_of = lut_table::kernel_label}),
                       outputs_without_arrays(result, view)})
        all.insert(all.end(), more.begin(), more.end());
    return all;
}

}  // namespace

std::vector<Figure> figures(const Result& result, const View& view) {
    if (!has_arrays(result)) return figures_without_arrays(result, view);
    const Drawn drawn(result.parameters);
    const EventsByPosition events = events_of(result, drawn);
    std::vector<Figure> all = {pair_figure(result), pair_map_figure(result)};
    const auto add = [&](std::vector<Figure> more) {
        std::move(more.begin(), more.end(), std::back_inserter(all));
    };
    add(launches_figures(result, view, "Launches: unfused over fused"));
    add(event_figures(result, events));
    add(kernel_figures(result, {.label_of = lut_table::kernel_label}));
    add(hash_table_figures(drawn, events));
    add(output_figures(result, view));
    return all;
}

}  // namespace sawtooth::lut_sequence
