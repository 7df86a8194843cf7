// Outputs and gradients over the reference, their errors, and carries along the blocks.

#include <fmt/format.h>

#include <algorithm>

#include "kernels/btp/family.h"
#include "kernels/btp/figures/common.h"
#include "kernels/figures/correctness.h"

namespace sawtooth::btp {
namespace {

void add_output(std::vector<Figure>& all, const Result& result, const View& view, const Array& reference,
                const LineChooser& chooser) {
    const auto line = chooser.line(reference, result.parameters);
    if (!line) return;
    const std::string& name = reference.name;
    Figure output = output_figure(result, view, reference, *line);
    if (name != "x") output.id = "gradient-" + name;
    Figure error = error_figure(result, view, reference, *line, ErrorOf::all_lines);
    add_borders(error, Sizes(result.parameters), view);
    for (Figure* figure : {&output, &error}) {
        tell_errors(*figure, result, reference);
        leave_out_without_outputs(*figure, result);
        all.push_back(std::move(*figure));
    }
}

// Draws the carries of the drawn channel along the blocks.
DrawnLine line_of_carries(const Drawn& drawn) {
    return {.first = drawn.head_index * drawn.blocks() * drawn.width + drawn.channel,
            .step = drawn.width,
            .length = drawn.blocks(),
            .place = "block",
            .words = fmt::format("{}, channel {}", drawn.words(), drawn.channel),
            .chosen_by = {"drawn_batch", "drawn_head", "drawn_channel"}};
}

std::string words_of_carries(const Array& reference, const DrawnLine& line, Order order, bool has_carry0) {
    if (order == Order::one) return "Order 1 carries nothing from block to block: all carries are 0.";
    double largest = 0;
    int64_t at = 0;
    for (int64_t block = 0; block < line.length; ++block)
        if (const double size = std::abs(reference.value(line.index(block))); size > largest)
            largest = size, at = block;
    const char* const source = order == Order::two ? "the last local value" : "the corrected last value";
    return fmt::format(
        "Each block receives {} of the block before it{}. The largest, {:.3g}, enters block {}.", source,
        has_carry0 ? ", the first one carry0" : "", largest, at);
}

Figure carry_figure(const Result& result, const View& view, const Array& reference) {
    const Drawn drawn(result.parameters);
    const DrawnLine line = line_of_carries(drawn);
    Figure figure = output_figure(result, view, reference, line);
    figure.id = "carry";
    const bool has_carry0 = find(result.inputs, "carry0") != nullptr;
    figure.caption =
        words_of_carries(reference, line, drawn.order, has_carry0) + " " + words_of_errors(result, "carry");
    leave_out_without_outputs(figure, result);
    return figure;
}

// Draws the gradient of carry0 by channel.
Figure first_gradient_figure(const Result& result, const View& view, const Array& reference) {
    const Drawn drawn(result.parameters);
    const DrawnLine line = {.first = drawn.head_index * drawn.width,
                            .length = drawn.width,
                            .place = "channel",
                            .words = drawn.words(),
                            .chosen_by = {"drawn_batch", "drawn_head"}};
    Figure figure = output_figure(result, view, reference, line);
    figure.id = "gradient-dcarry0";
    tell_errors(figure, result, reference);
    leave_out_without_outputs(figure, result);
    return figure;
}

}  // namespace

std::vector<Figure> output_figures(const Result& result, const View& view) {
    const LineChooser chooser{
        btp_family(), "position", {{"B", "drawn_batch"}, {"H", "drawn_head"}, {"DH", "drawn_channel"}}};
    std::vector<Figure> all;
    const auto add = [&](const char* name) {
        const Array* const reference = find(result.reference, name);
        if (reference) add_output(all, result, view, *reference, chooser);
    };
    add("x");
    if (const Array* const carries = find(result.reference, "carry"))
        all.push_back(carry_figure(result, view, *carries));
    add("da");
    add("du");
    if (const Array* const gradient = find(result.reference, "dcarry0"))
        all.push_back(first_gradient_figure(result, view, *gradient));
    return all;
}

}  // namespace sawtooth::btp
