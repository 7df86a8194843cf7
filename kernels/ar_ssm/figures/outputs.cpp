// Outputs and gradients over the reference, and their errors by position and by output.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/ar_ssm/family.h"
#include "kernels/ar_ssm/figures/common.h"
#include "kernels/figures/correctness.h"
#include "kernels/figures/without_arrays.h"

namespace sawtooth::ar_ssm {
namespace {

// The arrays along the sequence; gradients of weights have only errors.
constexpr std::array along_sequence = {"y", "dx", "gates", "effective_rank"};

void add_output(std::vector<Figure>& all, const Result& result, const View& view, const Array& reference) {
    const LineChooser chooser{
        ar_ssm_family(),
        "position",
        {{"batch", "drawn_batch"}, {"d_model", "drawn_channel"}, {"max_rank", "drawn_rank"}}};
    const DrawnLine line = *chooser.line(reference, result.parameters);
    std::vector<Figure> figures = {error_figure(result, view, reference, line, ErrorOf::all_lines)};
    // effective_rank is drawn among the gates, with its limit.
    if (reference.name != "effective_rank") figures.push_back(output_figure(result, view, reference, line));
    for (Figure& figure : figures) {
        tell_errors(figure, result, reference);
        leave_out_without_outputs(figure, result);
        all.push_back(std::move(figure));
    }
}

void add_without_arrays(std::vector<Figure>& all, const Result& result, const View& view,
                        const std::string& name) {
    for (Figure& figure : output_without_arrays(result, view, name, "position"))
        if (figure.place == Place::error || name != "effective_rank") all.push_back(std::move(figure));
}

// The cell of an output: its relative error, or why it has none.
struct Cell {
    double error = gap;
    std::string text;
};

Cell cell_of(const OutputError& error) {
    if (error.nonfinite > 0) return {gap, "not finite"};
    if (!error.rel_l2) return {gap, "reference is 0"};
    if (*error.rel_l2 == 0) return {gap, "exact"};
    return {*error.rel_l2, error_words(*error.rel_l2)};
}

struct Column {
    std::string variant;
    std::vector<Cell> cells;  // one per output
};

// "Largest: du_proj of fused, 4.4e-07. "; "" if none is known.
std::string words_of_largest(const std::vector<Column>& columns, const std::vector<std::string>& outputs) {
    double largest = 0;
    std::string words;
    for (const Column& column : columns)
        for (size_t i = 0; i < column.cells.size(); ++i)
            if (column.cells[i].error > largest) {
                largest = column.cells[i].error;
                words =
                    fmt::format("Largest: {} of {}, {}. ", outputs[i], column.variant, column.cells[i].text);
            }
    return words;
}

// One row per output, one column per variant.
Figure errors_figure(const Result& result) {
    Figure figure = new_figure("error-by-output", Place::error, "Error of every output", "",
                               {.label = "variant"}, {.label = "output"});
    std::vector<Column> columns;
    for (const VariantResult& variant : result.variants) {
        if (variant.errors.empty()) continue;
        if (!columns.empty() && columns.front().cells.size() != variant.errors.size()) continue;
        columns.push_back({variant.name, {}});
        figure.x.categories.push_back(variant.name);
        figure.y.categories.clear();  // the same for every variant
        for (const OutputError& error : variant.errors) {
            columns.back().cells.push_back(cell_of(error));
            figure.y.categories.push_back(error.output);
        }
    }
    if (columns.empty()) {
        leave_out(figure, "Needs a variant that ran: tick one in Parameters.");
        return figure;
    }
    HeatMap map = heat_map("rel L2 error", std::ssize(figure.y.categories), std::ssize(figure.x.categories));
    map.logarithmic = true;
    for (size_t row = 0; row < figure.y.categories.size(); ++row)
        for (const Column& column : columns) {
            map.values.push_back(column.cells[row].error);
            map.texts.push_back(column.cells[row].text);
        }
    figure.caption = words_of_largest(columns, figure.y.categories) +
                     "Relative to the float64 reference, over all elements.";
    figure.marks.push_back(std::move(map));
    return figure;
}

}  // namespace

std::vector<Figure> output_figures(const Result& result, const View& view) {
    std::vector<Figure> all;
    for (const char* name : along_sequence)
        if (const Array* const reference = find(result.reference, name)) {
            if (has_arrays(result))
                add_output(all, result, view, *reference);
            else
                add_without_arrays(all, result, view, name);
        }
    all.push_back(errors_figure(result));
    return all;
}

}  // namespace sawtooth::ar_ssm
