// Outputs and gradients over the reference; errors by position and by head.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/attention/family.h"
#include "kernels/attention/figures/common.h"
#include "kernels/core/common_parameters.h"
#include "kernels/figures/correctness.h"
#include "kernels/figures/without_arrays.h"

namespace sawtooth::attention {
namespace {

// Returns the outputs that are shown: with the form qkv not the gradients of rotated queries and keys, which
// are only steps on the way to dq and dk.
std::vector<const char*> shown_outputs(const Parameters& parameters) {
    std::vector<const char*> names = {"o", "lse"};
    if (!runs_backward(parameters)) return names;
    if (parameters.is("form", "qkv"))
        names.insert(names.end(), {"dq", "dk", "dv"});
    else
        names.insert(names.end(), {"dq1", "dq2", "dk1", "dk2", "dv"});
    return names;
}

Figure error_by_position(const Result& result, const View& view, const Array& reference,
                         const DrawnLine& line) {
    Figure figure = error_figure(result, view, reference, line, ErrorOf::all_lines);
    const Drawn drawn(result.parameters);
    tell_errors(figure, result, reference);
    const bool by_query = reference.name == "o" || reference.name == "lse";
    const int64_t first_far = drawn.mask.window - drawn.first_query;  // a position of the axis
    if (by_query && drawn.mask.causal && first_far > 0 && first_far < drawn.query_count())
        add_beside_data(figure, Rule{Rule::Across::x,
                                     static_cast<double>(first_far),
                                     "far keys from here on",
                                     {Ink::Role::quiet}});
    return figure;
}

constexpr int64_t most_named = 64;  // with more heads the axis has numbers

struct HeadErrors {
    std::vector<double> relative, largest;
};

// Returns errors over the rows that the reference has; NaN for a head without any.
HeadErrors errors_by_head(const Array& output, const Array& reference) {
    const Shape shape = reference.whole_shape();
    const int64_t length = shape[2], d = shape[3];
    const auto heads = static_cast<size_t>(shape[0] * shape[1]);
    std::vector<double> difference(heads), square(heads);
    HeadErrors errors{std::vector<double>(heads, gap), std::vector<double>(heads, gap)};
    for (int64_t row = 0; row * d < reference.count(); ++row) {
        const int64_t place = reference.rows ? reference.rows->places[static_cast<size_t>(row)] : row;
        const auto head = static_cast<size_t>(place / length);
        for (int64_t m = 0; m < d; ++m) {
            const double wanted = reference.as<double>()[static_cast<size_t>(row * d + m)];
            const double off = std::abs(output.as<float>()[static_cast<size_t>(place * d + m)] - wanted);
            difference[head] += off * off;
            square[head] += wanted * wanted;
            errors.largest[head] = std::fmax(errors.largest[head], off);
        }
        errors.relative[head] = square[head] > 0 ? std::sqrt(difference[head] / square[head]) : gap;
    }
    return errors;
}

// Returns text such as ", naive 10 (2.9e-07)", or "" if no error is known.
std::string words_of_worst(const std::string& name, const std::vector<double>& relative) {
    size_t worst = 0;
    for (size_t head = 0; head < relative.size(); ++head)
        if (!(relative[head] <= relative[worst]) && !std::isnan(relative[head])) worst = head;
    return std::isnan(relative[worst]) ? "" : fmt::format(", {} {} ({:.2g})", name, worst, relative[worst]);
}

Figure error_by_head(const Result& result, const Array& reference) {
    Figure figure =
        new_figure("error-by-head", Place::error, "Error of o by head", "",
                   {.label = "head, over all sequences"}, {.label = "error", .scale = Scale::log10});
    const auto add = [&](const std::string& label, Ink ink, const std::vector<double>& errors) {
        const auto heads = static_cast<int64_t>(errors.size());
        Line line =
            line_of(label, ink,
                    reduce(heads, {}, "", [&](int64_t head) { return errors[static_cast<size_t>(head)]; }));
        line.markers = heads <= most_named;
        figure.marks.push_back(std::move(line));
    };
    std::string worst;
    for (const VariantResult& variant : result.variants) {
        const Array* const output = find(variant.outputs, "o");
        if (!output || output->shape != reference.whole_shape()) continue;
        const HeadErrors errors = errors_by_head(*output, reference);
        Ink dotted = ink_of(variant);
        dotted.dashed = true;
        add(variant.name, ink_of(variant), errors.relative);
        add(variant.name + ", largest absolute", dotted, errors.largest);
        worst += words_of_worst(variant.name, errors.relative);
    }
    if (!worst.empty()) figure.caption = "Head with the largest relative L2 error: " + worst.substr(2) + ". ";
    figure.caption += "Dotted: largest absolute error.";
    if (reference.rows) figure.caption += " Over the rows that the reference has.";
    if (figure.marks.empty())
        figure.missing = "The error of every head. Needs a variant that ran: tick one in Parameters.";
    const Shape shape = reference.whole_shape();
    const int64_t heads = shape[0] * shape[1];
    for (int64_t head = 0; head < heads && heads <= most_named; ++head)
        figure.x.categories.push_back(std::to_string(head));
    return figure;
}

void add_without_arrays(std::vector<Figure>& all, const Result& result, const View& view, const char* name) {
    for (Figure& figure : output_without_arrays(result, view, name, "position"))
        all.push_back(std::move(figure));
    if (all.size() == 2)
        for (Figure& figure :
             left_out_without_arrays({{"error-by-head", Place::error, "Error of o by head"}}))
            all.push_back(std::move(figure));
}

}  // namespace

std::vector<Figure> output_figures(const Result& result, const View& view) {
    const LineChooser chooser{
        attention_family(),
        "position",
        {{"Z", "drawn_batch"}, {"H", "drawn_head"}, {"H_kv", "drawn_head"}, {"D", "drawn_channel"}}};
    std::vector<Figure> all;
    for (const char* name : shown_outputs(result.parameters)) {
        if (!has_arrays(result)) {
            if (find(result.reference, name)) add_without_arrays(all, result, view, name);
            continue;
        }
        const Array* const reference = find(result.reference, name);
        const auto line = reference ? chooser.line(*reference, result.parameters) : std::nullopt;
        if (!line) continue;
        all.push_back(output_figure(result, view, *reference, *line));
        all.push_back(error_by_position(result, view, *reference, *line));
        if (all.size() == 2) all.push_back(error_by_head(result, *reference));
    }
    return all;
}

}  // namespace sawtooth::attention
