// Figures along the tokens: y, errors, the pulse and the levels.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/core/table.h"
#include "kernels/figures/correctness.h"
#include "kernels/figures/sweep_figures.h"
#include "kernels/figures/visible_range.h"
#include "kernels/figures/without_arrays.h"
#include "kernels/memory/family.h"
#include "kernels/memory/figures/common.h"
#include "kernels/memory/strategies.h"

namespace sawtooth::memory {
namespace {

void add_boundaries(Figure& figure, int64_t length, int64_t chunk, const View& view) {
    add_steps(figure, length, chunk, "boundary of a chunk", view);
}

std::vector<Figure> y_figures(const Result& result, const View& view) {
    if (!has_arrays(result)) return output_without_arrays(result, view, "y", "token");
    const Array& y = *find(result.reference, "y");
    const DrawnLine line = drawn_line(y, result.parameters);
    Figure output = output_figure(result, view, y, line);
    output.caption =
        "Each variant over the float64 reference. A visible gap is what the method of a variant leaves out; "
        "shorter chunks may close it.";
    Figure error = error_figure(result, view, y, line, ErrorOf::all_lines);
    if (const VariantResult* const chunkwise = find(result, "chunkwise_gd");
        chunkwise && chunkwise->ran() && rule_of(result.parameters).reads_memory)
        error.caption =
            rule_of(result.parameters).is(State::slots)
                ? "chunkwise_gd takes all gates of a chunk from the slots at its start."
                : "chunkwise_gd takes all prediction errors of a chunk from the memory at its start.";
    const Drawn drawn(result.parameters);
    add_boundaries(error, drawn.length, drawn.chunk, view);
    return {std::move(output), std::move(error)};
}

std::string words_of_growth(const std::string& strategy, double ratio, bool has_next) {
    const std::string sizes = fmt::format("{}: at the end of a chunk the error is {}x that at its start",
                                          strategy, rounded(ratio, 3));
    if (!has_next) return sizes + ".";
    return sizes + (ratio > 1.1
                        ? ". Each boundary refreshes the prediction errors."
                        : ": the memory passed on is off throughout. With readout = boundary the error "
                          "grows up to the boundary.");
}

// The mean error over all whole chunks at each position in a chunk: how errors age.
Figure age_figure(const Result& result) {
    const Drawn drawn(result.parameters);
    Figure figure = new_figure("error-in-chunk", Place::error,
                               fmt::format("Error of y by position in a chunk of {}", drawn.chunk), "",
                               {.label = "position in the chunk", .unit = "tokens"},
                               {.label = "mean absolute error", .scale = Scale::log10});
    const int64_t whole = drawn.length / drawn.chunk;
    for (const VariantResult& variant : result.variants) {
        if (variant.errors.empty() || whole == 0 || drawn.chunk < 2) continue;
        if (std::ssize(variant.errors.front().by_position) != drawn.length) continue;
        if (strategy_named(variant.name).chunk_of(result.parameters) != drawn.chunk) continue;
        if (memory_family().variant(variant.name)->is_exact(result.parameters)) continue;  // only rounding
        const std::vector<float>& errors = variant.errors.front().by_position;
        Series means = reduce(drawn.chunk, {}, "", [&](int64_t place) {
            double sum = 0;
            for (int64_t chunk = 0; chunk < whole; ++chunk)
                sum += errors[static_cast<size_t>(chunk * drawn.chunk + place)];
            return sum / static_cast<double>(whole);
        });
        if (variant.name == drawn.strategy && means.y.front() > 0)
            figure.caption =
                words_of_growth(variant.name, means.y.back() / means.y.front(), drawn.length > drawn.chunk);
        figure.marks.push_back(line_of(variant.name, ink_of(variant), std::move(means)));
    }
    if (figure.marks.empty())
        figure.missing =
            "How the error grows inside a chunk. Set chunk to 2 or more, and tick a variant that "
            "approximates, such as chunkwise_gd.";
    return figure;
}

// The relative error ||M - reference|| / ||reference|| of one sequence at one boundary.
double distance(const Array& states, const Array& reference, int64_t batch, int64_t boundary) {
    const int64_t size = states.shape[2] * states.shape[3];
    const int64_t at = (batch * states.shape[1] + boundary) * size;
    double difference = 0, square = 0;
    for (int64_t i = at; i < at + size; ++i) {
        const double wanted = reference.value(i).real(), got = states.value(i).real();
        difference += (got - wanted) * (got - wanted);
        square += wanted * wanted;
    }
    return square > 0 ? std::sqrt(difference / square) : gap;
}

Figure boundary_figure(const Result& result) {
    const Drawn drawn(result.parameters);
    Figure figure = new_figure("error-boundaries", Place::error,
                               fmt::format("Error of the memory at boundaries, sequence {}", drawn.batch),
                               "The memory passed to the next chunk, against the exact memory there.",
                               place_axis("token", drawn.length), relative_error_axis());
    if (!has_arrays(result))
        return left_out_without_arrays({{figure.id, figure.place, figure.title}}).front();
    for (const VariantResult& variant : result.variants) {
        const Array* const states = find(variant.outputs, "boundaries");
        const Array* wanted = find(result.reference, variant.name + "/boundaries");
        if (!wanted) wanted = find(result.reference, "boundaries");
        if (!states || !wanted || states->shape != wanted->shape) continue;
        const int64_t chunk = strategy_named(variant.name).chunk_of(result.parameters);
        Line line{variant.name, ink_of(variant), {}, {}, states->shape[1] <= 64};
        // With more boundaries than columns, boundaries are thinned.
        const int64_t step = std::max<int64_t>(states->shape[1] / 2048, 1);
        for (int64_t boundary = step; boundary < states->shape[1]; boundary += step) {
            line.x.push_back(static_cast<double>(std::min(boundary * chunk, drawn.length)));
            line.y.push_back(distance(*states, *wanted, drawn.batch, boundary));
        }
        figure.marks.push_back(std::move(line));
    }
    if (figure.marks.empty())
        figure.missing =
            "The error of the memory at every boundary. Not for rule trellis; reduce batch, length or d if "
            "the "
            "boundaries are too large to store.";
    return figure;
}

// A heat map with one row per level, 1 where it fires; the last row is the number of levels that fire
// together.
Figure pulse_figure(const Result& result, const View& view, const std::vector<int64_t>& chunks) {
    const int64_t length = result.parameters.integer("length");
    Figure figure =
        new_figure("pulse", Place::views, "Pulse of the levels",
                   "Where each level fires and updates its memory. Last row: how many fire together.",
                   place_axis("token", length), {.label = "level"});
    const auto [first, last] = visible_range(view, "token", length);
    const int64_t columns = std::min<int64_t>(last - first, view.columns);
    const auto levels = static_cast<int64_t>(chunks.size());
    HeatMap map = heat_map("levels", levels + 1, last - first, 0, first);
    map.columns = columns;
    map.values.assign(static_cast<size_t>(map.rows * columns), 0);
    for (int64_t column = 0; column < columns; ++column) {
        const int64_t begin = first + (last - first) * column / columns;
        const int64_t end = first + (last - first) * (column + 1) / columns;
        for (int64_t token = begin; token < end; ++token) {
            double together = 0;
            for (int64_t level = 0; level < levels; ++level) {
                if (token % chunks[static_cast<size_t>(level)] != 0) continue;
                map.values[static_cast<size_t>(level * columns + column)] = 1;
                ++together;
            }
            double& most = map.values[static_cast<size_t>(levels * columns + column)];
            most = std::max(most, together);
        }
    }
    for (const int64_t chunk : chunks) figure.y.categories.push_back(fmt::format("every {}", chunk));
    figure.y.categories.push_back("together");
    figure.marks.push_back(std::move(map));
    return figure;
}

Figure level_figure(const Result& result, const View& view, const std::vector<int64_t>& chunks) {
    const DrawnLine y = drawn_line(*find(result.reference, "y"), result.parameters);
    Figure figure =
        new_figure("levels", Place::outputs, y.title("Outputs of levels"),
                   "Each level reads its memory at its last boundary. Dotted: the exact memory there.",
                   place_axis("token", y.length), {.label = "level_y"});
    const auto add = [&](const Array* array, bool dashed) {
        if (!array) return;
        const DrawnLine first = drawn_line(*array, result.parameters);
        for (size_t level = 0; level < chunks.size(); ++level) {
            const auto before =
                static_cast<int64_t>(level) * first.length;  // levels are stored one after another
            figure.marks.push_back(line_of(
                fmt::format("every {}{}", chunks[level], dashed ? ", reference" : ""),
                {Ink::Role::variant, static_cast<int>(level), dashed},
                reduce(first.length, view, "token",
                       [&](int64_t token) { return array->value(first.index(before + token)).real(); })));
        }
    };
    add(find(result.reference, "level_y"), true);
    for (const VariantResult& variant : result.variants) add(find(variant.outputs, "level_y"), false);
    return figure;
}

}  // namespace

std::vector<Figure> token_figures(const Result& result, const View& view) {
    std::vector<Figure> figures = y_figures(result, view);
    figures.push_back(age_figure(result));
    figures.push_back(boundary_figure(result));
    return figures;
}

std::vector<Figure> readout_figures(const SweepResult& sweep) {
    const Parameters& parameters = sweep.sweep.base.parameters;
    const int64_t length = parameters.integer("length");
    Figure figure = error_by_value(sweep, "error-readouts", "Error of y by token, both readouts", "",
                                   place_axis("token", length));
    add_boundaries(figure, length, parameters.integer("chunk"), {});
    std::vector<double> errors;
    for (const SweepCell& cell : sweep.cells)
        if (const auto error =
                cell.result ? reference_error(*cell.result, cell.result->variants.front()) : std::nullopt)
            errors.push_back(*error);
    // Without a next boundary, or where neither follows the reference, it does not grow up to one.
    const int64_t chunk = parameters.integer("chunk");
    const bool grows = errors.size() == 2 && chunk > 1 && chunk < length && errors[0] < 1 && errors[1] < 1;
    if (errors.size() == 2)
        figure.caption =
            fmt::format("evolving is {} off, boundary (dotted) {}{}.", error_words(errors[0]),
                        error_words(errors[1]), grows ? ": it grows up to the next boundary" : "");
    return {std::move(figure)};
}

std::vector<Figure> level_figures(const Result& result, const View& view) {
    const std::vector<int64_t> chunks = levels_of(result.parameters);
    if (chunks.empty()) return {};
    std::vector<Figure> figures = {pulse_figure(result, view, chunks)};
    figures.push_back(
        has_arrays(result)
            ? level_figure(result, view, chunks)
            : left_out_without_arrays({{"levels", Place::outputs, "Outputs of levels"}}).front());
    return figures;
}

}  // namespace sawtooth::memory
