// Outputs and gradients over the reference, and their errors by position, distance and row.

#include <fmt/format.h>

#include <algorithm>

#include "kernels/figures/correctness.h"
#include "kernels/lut_sequence/family.h"
#include "kernels/lut_sequence/figures/common.h"

namespace sawtooth::lut_sequence {
namespace {

void add_figure(std::vector<Figure>& all, const Result& result, const std::string& output, Figure figure) {
    tell_errors(figure, result, *find(result.reference, output));
    leave_out_without_outputs(figure, result);
    all.push_back(std::move(figure));
}

// Adds the figures of y and dx along the sequence.
void add_along_sequence(std::vector<Figure>& all, const Result& result, const View& view, const char* name) {
    const LineChooser chooser{
        lut_sequence_family(),
        "position",
        {{"batch", "drawn_batch"}, {"outputs", "drawn_output"}, {"inputs", "drawn_input"}}};
    const auto reference = lut_table::float64_reference(result, name);
    const auto line = reference ? chooser.line(*reference, result.parameters) : std::nullopt;
    if (!line) return;
    add_figure(all, result, name, output_figure(result, view, *reference, *line));
    add_figure(all, result, name, error_figure(result, view, *reference, *line, ErrorOf::all_lines));
}

// The largest error among the `width` numbers of every row of an output, for a range of the rows.
Figure error_by_row(const Result& result, const View& view, const Array& reference, const Axis& axis,
                    Range rows, int64_t width) {
    Figure figure =
        new_figure("error-" + reference.name, Place::error,
                   "Error of " + reference.name + " by " + axis.label, "", axis, absolute_error_axis());
    for (const VariantResult& variant : result.variants) {
        const Array* const output = find(variant.outputs, reference.name);
        if (!output || output->shape != reference.shape) continue;
        add_errors(figure, variant.name, ink_of(variant), rows.count(), view, [&](int64_t row) {
            double largest = 0;
            for (int64_t at = (rows.first + row) * width; at < (rows.first + row + 1) * width; ++at)
                largest = std::max(largest, std::abs(output->value(at) - reference.value(at)));
            return largest;
        });
    }
    lay_floor(figure);
    return figure;
}

// The values of dpositional for the drawn detector, distances across and bits down.
Figure distance_map(const Drawn& drawn, const Array& reference) {
    Figure figure = new_figure("gradient-dpositional", Place::outputs,
                               fmt::format("dpositional, detector {}", drawn.detector), "",
                               {.label = "distance"}, {.label = "bit"});
    figure.chosen_by = {"drawn_detector"};
    for (int64_t r = 0; r < drawn.positional; ++r) figure.y.categories.push_back(std::to_string(r));
    HeatMap map = heat_map("dpositional", drawn.positional, drawn.distances(), 0, 1);
    map.colours = HeatMap::Colours::diverging;
    double largest = 0;
    int64_t distance = 1, bit = 0, zeros = 0;
    for (int64_t r = 0; r < drawn.positional; ++r)
        for (int64_t d = 0; d < drawn.distances(); ++d) {
            const double value =
                reference.value((d * drawn.detectors + drawn.detector) * drawn.positional + r).real();
            map.values.push_back(value);
            zeros += value == 0;
            if (std::abs(value) > std::abs(largest)) largest = value, distance = d + 1, bit = r;
        }
    figure.caption = fmt::format("Largest gradient: {:.3g}, of bit {} at distance {}. {} of {} are 0.",
                                 largest, bit, distance, zeros, map.values.size());
    figure.marks.push_back(std::move(map));
    return figure;
}

void add_positional(std::vector<Figure>& all, const Result& result, const View& view) {
    const Drawn drawn(result.parameters);
    const auto reference = lut_table::float64_reference(result, "dpositional");
    if (!reference || reference->count() == 0) return;
    all.push_back(distance_map(drawn, *reference));
    add_figure(all, result, "dpositional",
               error_by_row(result, view, *reference, place_axis("distance - 1", drawn.distances()),
                            {0, drawn.distances()}, drawn.detectors * drawn.positional));
}

// Adds the error of dweights or weights_after by row of the drawn detector, or if sparse by synapse.
void add_weights(std::vector<Figure>& all, const Result& result, const View& view, const char* name) {
    const Drawn drawn(result.parameters);
    const auto reference = lut_table::float64_reference(result, name);
    if (!reference || reference->rows || reference->count() == 0) return;
    const bool full = !drawn.sparse;
    const int64_t first = full ? drawn.detector * drawn.rows : 0,
                  count = full ? drawn.rows : reference->count();
    Figure figure = error_by_row(result, view, *reference, place_axis(full ? "row" : "synapse", count),
                                 {first, first + count}, full ? drawn.outputs : 1);
    if (full) {
        figure.title += fmt::format(", detector {}", drawn.detector);
        figure.chosen_by = {"drawn_detector"};
    }
    add_figure(all, result, name, std::move(figure));
}

}  // namespace

std::vector<Figure> output_figures(const Result& result, const View& view) {
    std::vector<Figure> all;
    add_along_sequence(all, result, view, "y");
    add_along_sequence(all, result, view, "dx");
    add_positional(all, result, view);
    add_weights(all, result, view, "dweights");
    add_weights(all, result, view, "weights_after");
    return all;
}

}  // namespace sawtooth::lut_sequence
