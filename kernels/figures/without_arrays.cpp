#include "kernels/figures/without_arrays.h"

#include <algorithm>

#include "kernels/figures/correctness.h"
#include "kernels/figures/figures.h"

namespace sawtooth {
namespace {

Figure left_out(const FigureName& name) {
    Figure figure = new_figure(name.id, name.place, name.title, "", {}, {});
    leave_out(figure, "Needs the arrays of the run, which are not here: run it again (press F5).");
    return figure;
}

// The errors of the output by position that variants have.
Figure recorded_errors(const Result& result, const View& view, const std::string& output,
                       const std::string& place) {
    size_t length = 0;
    for (const VariantResult& variant : result.variants)
        for (const OutputError& error : variant.errors)
            if (error.output == output) length = std::max(length, error.by_position.size());
    if (length == 0) return left_out({"error-" + output, Place::error, "Error of " + output});
    Figure figure = new_figure("error-" + output, Place::error, "Error of " + output + " by " + place,
                               words_of_errors(result, output),
                               place_axis(place, static_cast<int64_t>(length)), absolute_error_axis());
    for (const VariantResult& variant : result.variants)
        for (const OutputError& error : variant.errors)
            if (error.output == output)
                add_largest_errors(figure, variant.name, ink_of(variant), error, view);
    lay_floor(figure);
    return figure;
}

}  // namespace

bool has_arrays(const Result& result) {
    const auto all_have_data = [](const Arrays& arrays) {
        return std::all_of(arrays.begin(), arrays.end(), [](const Array& array) { return array.data; });
    };
    return !result.inputs.empty() && all_have_data(result.inputs) && all_have_data(result.reference) &&
           std::all_of(result.variants.begin(), result.variants.end(),
                       [&](const VariantResult& variant) { return all_have_data(variant.outputs); });
}

std::vector<Figure> left_out_without_arrays(const std::vector<FigureName>& names) {
    std::vector<Figure> figures;
    for (const FigureName& name : names) figures.push_back(left_out(name));
    return figures;
}

std::vector<Figure> output_without_arrays(const Result& result, const View& view, const std::string& output,
                                          const std::string& place) {
    return {left_out({"output-" + output, Place::outputs, output}),
            recorded_errors(result, view, output, place)};
}

}  // namespace sawtooth
