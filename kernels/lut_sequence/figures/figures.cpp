#include "kernels/figures/launch_figures.h"
#include "kernels/lut_sequence/figures/common.h"
#include "kernels/lut_sequence/parts.h"

namespace sawtooth::lut_sequence {

std::vector<Figure> figures(const Result& result, const View& view) {
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
