// Outputs and gradients over the reference; errors by position and by head.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/attention/family.h"
#include "kernels/attention/figures/common.h"
#include "kernels/core/common_parameters.h"
#include "kernels/core/correctness.h"

namespace sawtooth::attention {
namespace {

// Gradients of the inputs; those of the rotated queries and keys are steps on the way.
std::vector<const char*> shown_outputs(const Parameters& parameters) {
    std::vector<const char*> names = {"o", "lse"};
    if (!runs_backward(parameters)) return names;
    if (parameters.is("form", "qkv"))
        names.insert(names.end(), {"dq", "dk", "dv"});
    else
        names.insert(names.end(), {"dq1", "dq2", "dk1", "dk2", "dv"});
    return names;
}

// "streaming is within 4.5e-07 of the f64 reference, naive within 5.9e-07."
std::string words_of_errors(const Result& result, const std::string& output) {
    std::string words;
    for (const VariantResult& variant : result.variants)
        for (const OutputError& error : variant.errors)
            if (error.output == output && error.max_abs)
                words += fmt::format("{}{} {}within {:.2g}", words.empty() ? "" : ", ", variant.name,
                                     words.empty() ? "is " : "", *error.max_abs);
    return words.empty() ? "" : words + " of the f64 reference.";
}

Figure error_by_position(const Result& result, const View& view, const Array& reference,
                         const DrawnLine& line) {
    Figure figure = error_figure(result, view, reference, line, ErrorOf::all_lines);
    const Drawn drawn(result.parameters);
    figure.caption = words_of_errors(result, reference.name) + " " + figure.caption;
    const bool by_query = reference.name == "o" || reference.name == "lse";
    if (by_query && drawn.mask.causal && drawn.mask.window < drawn.length)
        figure.marks.push_back(Rule{Rule::Across::x,
                                    static_cast<double>(drawn.mask.window),
                                    "far keys from here on",
                                    {Ink::Role::quiet}});
    return figure;
}

constexpr int64_t most_named = 64;  // heads; more are numbers on an axis

struct HeadErrors {
    std::vector<double> relative, largest;
};

HeadErrors errors_by_head(const Array& output, const Array& reference) {
    const int64_t heads = reference.shape[0] * reference.shape[1];
    const int64_t each = heads == 0 ? 0 : reference.count() / heads;
    const auto got = output.as<float>();
    const auto wanted = reference.as<double>();
    HeadErrors errors;
    for (int64_t head = 0; head < heads; ++head) {
        double difference = 0, square = 0, largest = 0;
        for (auto i = static_cast<size_t>(head * each); i < static_cast<size_t>((head + 1) * each); ++i) {
            const double off = std::abs(got[i] - wanted[i]);
            difference += off * off;
            square += wanted[i] * wanted[i];
            largest = largest >= off ? largest : off;  // a NaN wins
        }
        errors.relative.push_back(square > 0 ? std::sqrt(difference / square) : gap);
        errors.largest.push_back(largest);
    }
    return errors;
}

// ", naive 10 (2.9e-07)"
std::string words_of_worst(const std::string& name, const std::vector<double>& relative) {
    const auto worst = std::max_element(relative.begin(), relative.end());
    return fmt::format(", {} {} ({:.2g})", name, worst - relative.begin(), *worst);
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
        if (!output || output->shape != reference.shape) continue;
        const HeadErrors errors = errors_by_head(*output, reference);
        Ink dotted = ink_of(variant);
        dotted.dashed = true;
        add(variant.name, ink_of(variant), errors.relative);
        add(variant.name + ", largest absolute", dotted, errors.largest);
        worst += words_of_worst(variant.name, errors.relative);
    }
    if (figure.marks.empty()) {
        figure.missing = "The error of every head. Needs a reference for every head.";
        return figure;
    }
    figure.caption = "Heads with the largest relative L2 error: " + worst.substr(2) +
                     ". Dotted: the largest absolute error of every head.";
    const int64_t heads = reference.shape[0] * reference.shape[1];
    for (int64_t head = 0; head < heads && heads <= most_named; ++head)
        figure.x.categories.push_back(std::to_string(head));
    return figure;
}

}  // namespace

std::vector<Figure> output_figures(const Result& result, const View& view) {
    const LineChooser chooser{
        attention_family(), "position", {{"Z", "drawn_batch"}, {"H", "drawn_head"}, {"D", "drawn_channel"}}};
    std::vector<Figure> all;
    for (const char* name : shown_outputs(result.parameters)) {
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
