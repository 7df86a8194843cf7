// Outputs and gradients of the drawn item over the reference, and their errors.

#include <fmt/format.h>

#include <algorithm>

#include "kernels/figures/correctness.h"
#include "kernels/lut/figures/common.h"

namespace sawtooth::lut {
namespace {

DrawnLine line_of_item(const Drawn& drawn, const std::string& place, int64_t width) {
    return {.first = drawn.item * width,
            .step = 1,
            .length = width,
            .place = place,
            .words = fmt::format("item {}", drawn.item),
            .chosen_by = {"drawn_batch"}};
}

// The row that the drawn item chooses in the table of the drawn detector.
DrawnLine line_of_row(const Result& result, const Drawn& drawn) {
    const int64_t row = Detectors(result).row(drawn.item, drawn.detector, drawn.anchors);
    DrawnLine line{.first = (drawn.detector * drawn.rows + row) * drawn.outputs,
                   .step = 1,
                   .length = drawn.outputs,
                   .place = "output",
                   .words = fmt::format("detector {}, row {}", drawn.detector, row),
                   .chosen_by = {"drawn_batch", "drawn_detector"}};
    if (!drawn.sparse) return line;
    const Range own = Weights(result).synapses(drawn.detector, row);
    line.first = own.first;
    line.length = own.count();
    line.place = "synapse";
    return line;
}

bool has_errors(const Figure& figure) {
    return std::any_of(figure.marks.begin(), figure.marks.end(), [](const Mark& mark) {
        const Line* const line = std::get_if<Line>(&mark);
        return line && std::any_of(line->y.begin(), line->y.end(), [](double error) { return error > 0; });
    });
}

void add_output(std::vector<Figure>& all, const Result& result, const View& view, const char* name,
                const DrawnLine& line) {
    const auto reference = float64_reference(result, name);
    if (!reference) return;
    Figure output = output_figure(result, view, *reference, line);
    Figure error = error_figure(result, view, *reference, line, ErrorOf::drawn_line);
    const bool is_exact = !has_errors(error);
    for (Figure* figure : {&output, &error}) {
        tell_errors(*figure, result, *reference);
        if (figure == &error && is_exact) leave_out(error, "Every value is exact.");
        leave_out_without_outputs(*figure, result);
        if (line.length == 0)
            leave_out(*figure, "This row has no synapses: choose another drawn_batch or drawn_detector.");
        all.push_back(std::move(*figure));
    }
}

}  // namespace

std::vector<Figure> output_figures(const Result& result, const View& view) {
    const Drawn drawn(result.parameters);
    std::vector<Figure> all;
    add_output(all, result, view, "y", line_of_item(drawn, "output", drawn.outputs));
    add_output(all, result, view, "dx", line_of_item(drawn, "input", drawn.inputs));
    add_output(all, result, view, "dweights", line_of_row(result, drawn));
    return all;
}

}  // namespace sawtooth::lut
