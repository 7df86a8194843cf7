#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/core/series.h"
#include "kernels/memory/family.h"
#include "kernels/memory/figure_parts.h"
#include "kernels/memory/strategies.h"

namespace sawtooth::memory {
namespace {

constexpr int64_t most_rules = 128;  // boundaries that are marked, no more in sight

Figure output_figure(const Result& result, const View& view) {
    const Drawn drawn(result.parameters);
    Figure figure = new_figure(
        "output-y", Place::outputs, fmt::format("y, sequence {}, channel {}", drawn.batch, drawn.channel),
        "Every strategy over the double-precision reference; where they part, errors were frozen too long.",
        token_axis(drawn.length), {.label = "y"});
    const auto line = [&](std::string label, Ink ink, const Array& array) {
        Series series = reduce(drawn.length, view, "token", [&](int64_t token) {
            return array.value((drawn.batch * drawn.length + token) * drawn.width + drawn.channel).real();
        });
        figure.marks.push_back(Line{std::move(label), ink, std::move(series.x), std::move(series.y)});
    };
    line("reference, f64", {Ink::Role::reference}, *find(result.reference, "y"));
    for (const VariantResult& variant : result.variants)
        if (const Array* const y = find(variant.outputs, "y")) line(variant.name, ink_of(variant), *y);
    return figure;
}

// Where chunks start, as far as there is room for them.
void add_boundaries(Figure& figure, const Drawn& drawn, const View& view) {
    View::Range range{0, static_cast<double>(drawn.length)};
    if (const auto seen = view.visible.find("token"); seen != view.visible.end()) range = seen->second;
    const auto chunk = static_cast<double>(drawn.chunk);
    const auto first = static_cast<int64_t>(std::max(std::ceil(range.low / chunk), 1.0));
    const auto last =
        static_cast<int64_t>(std::min(range.high / chunk, static_cast<double>(drawn.length - 1) / chunk));
    if (last - first >= most_rules) return;
    for (int64_t boundary = first; boundary <= last; ++boundary)
        figure.marks.push_back(Rule{Rule::Across::x,
                                    static_cast<double>(boundary * drawn.chunk),
                                    "boundary of a chunk",
                                    {Ink::Role::quiet}});
}

Figure error_figure(const Result& result, const View& view) {
    const Drawn drawn(result.parameters);
    Figure figure = new_figure(
        "error-y", Place::error, "Error of y by token",
        "The largest over all sequences and channels. Frozen errors age inside a chunk; at its boundary they "
        "are taken anew, from the memory that they have changed.",
        token_axis(drawn.length), {.label = "absolute error", .scale = Scale::log10});
    for (const VariantResult& variant : result.variants) {
        if (variant.errors.empty()) continue;
        const std::vector<float>& errors = variant.errors.front().by_position;
        Series series = reduce(static_cast<int64_t>(errors.size()), view, "token",
                               [&](int64_t token) { return errors[static_cast<size_t>(token)]; });
        figure.marks.push_back(Line{variant.name, ink_of(variant), std::move(series.x), std::move(series.y)});
    }
    add_boundaries(figure, drawn, view);
    return figure;
}

std::string words_of_growth(const std::string& strategy, double ratio) {
    const std::string sizes =
        fmt::format("{}: at the end of a chunk {:.3g} times as large as at its start", strategy, ratio);
    return sizes + (ratio > 1.1
                        ? ", as its errors age; the boundary takes them anew."
                        : ": the memory that is handed on is wrong throughout. With readout = boundary "
                          "it grows up to the boundary.");
}

// The mean over all whole chunks of the error at each place of a chunk: how errors age.
Figure age_figure(const Result& result) {
    const Drawn drawn(result.parameters);
    Figure figure = new_figure("error-in-chunk", Place::error,
                               fmt::format("Error of y by place in a chunk of {}", drawn.chunk), "",
                               {.label = "place in the chunk", .unit = "tokens"},
                               {.label = "mean absolute error", .scale = Scale::log10});
    const int64_t whole = drawn.length / drawn.chunk;
    for (const VariantResult& variant : result.variants) {
        if (variant.errors.empty() || whole == 0 || drawn.chunk < 2) continue;
        if (strategy_named(variant.name).chunk_of(result.parameters) != drawn.chunk) continue;
        if (memory_family().variant(variant.name)->is_exact(result.parameters)) continue;  // rounding alone
        const std::vector<float>& errors = variant.errors.front().by_position;
        Series means = reduce(drawn.chunk, {}, "", [&](int64_t place) {
            double sum = 0;
            for (int64_t chunk = 0; chunk < whole; ++chunk)
                sum += errors[static_cast<size_t>(chunk * drawn.chunk + place)];
            return sum / static_cast<double>(whole);
        });
        if (variant.name == drawn.strategy && means.y.front() > 0)
            figure.caption = words_of_growth(variant.name, means.y.back() / means.y.front());
        figure.marks.push_back(Line{variant.name, ink_of(variant), std::move(means.x), std::move(means.y)});
    }
    if (figure.marks.empty())
        figure.missing =
            "How errors grow inside a chunk: of strategies that freeze them, over whole chunks of two tokens "
            "and more.";
    return figure;
}

// ||M - reference|| / ||reference|| of one sequence at one boundary.
double distance(const Array& states, const Array& reference, int64_t batch, int64_t boundary) {
    const int64_t size = states.shape[2] * states.shape[3];
    const int64_t at = (batch * states.shape[1] + boundary) * size;
    double difference = 0, square = 0;
    for (int64_t i = at; i < at + size; ++i) {
        const double wanted = reference.value(i).real(), got = states.value(i).real();
        difference += (got - wanted) * (got - wanted);
        square += wanted * wanted;
    }
    return square > 0 ? std::sqrt(difference / square) : nan;
}

Figure boundary_figure(const Result& result) {
    const Drawn drawn(result.parameters);
    Figure figure =
        new_figure("error-boundaries", Place::error,
                   fmt::format("Error of the memory at boundaries, sequence {}", drawn.batch),
                   "What a chunk hands to the next one, against the sequential memory there.",
                   token_axis(drawn.length), {.label = "relative error, L2", .scale = Scale::log10});
    for (const VariantResult& variant : result.variants) {
        const Array* const states = find(variant.outputs, "boundaries");
        const Array* wanted = find(result.reference, variant.name + "/boundaries");
        if (!wanted) wanted = find(result.reference, "boundaries");
        if (!states || !wanted || states->shape != wanted->shape) continue;
        const int64_t chunk = strategy_named(variant.name).chunk_of(result.parameters);
        Line line{variant.name, ink_of(variant), {}, {}, states->shape[1] <= 64};
        // Where there are more boundaries than columns every so many are drawn.
        const int64_t step = std::max<int64_t>(states->shape[1] / 2048, 1);
        for (int64_t boundary = step; boundary < states->shape[1]; boundary += step) {
            line.x.push_back(static_cast<double>(std::min(boundary * chunk, drawn.length)));
            line.y.push_back(distance(*states, *wanted, drawn.batch, boundary));
        }
        figure.marks.push_back(std::move(line));
    }
    if (figure.marks.empty())
        figure.missing =
            "The error of the memory at every boundary; rules with one memory matrix or slots have it, "
            "where all boundaries together are small enough to be kept.";
    return figure;
}

// A row a level: 1 where it fires; below them how many levels fire together.
Figure pulse_figure(const Result& result, const View& view, const std::vector<int64_t>& chunks) {
    const int64_t length = result.parameters.integer("length");
    Figure figure = new_figure("pulse", Place::views, "Pulse of the levels",
                               "Where each level fires and takes its memory anew; the last row counts the "
                               "levels whose boundaries coincide.",
                               token_axis(length), {.label = "level"});
    int64_t first = 0, last = length;
    if (const auto seen = view.visible.find("token"); seen != view.visible.end()) {
        first = std::clamp(static_cast<int64_t>(std::floor(seen->second.low)), int64_t{0}, length - 1);
        last = std::clamp(static_cast<int64_t>(std::ceil(seen->second.high)) + 1, first + 1, length);
    }
    const int64_t columns = std::min<int64_t>(last - first, view.columns);
    const auto levels = static_cast<int64_t>(chunks.size());
    HeatMap map{"levels",
                "",
                levels + 1,
                columns,
                {},
                static_cast<double>(first) - 0.5,
                static_cast<double>(last) - 0.5,
                -0.5,
                static_cast<double>(levels) + 0.5};
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
    const Drawn drawn(result.parameters);
    Figure figure =
        new_figure("levels", Place::outputs,
                   fmt::format("What levels read, sequence {}, channel {}", drawn.batch, drawn.channel),
                   "Each level reads its memory at its last boundary; dashed what the sequential "
                   "memory there would give.",
                   token_axis(drawn.length), {.label = "level_y"});
    const auto levels = static_cast<int64_t>(chunks.size());
    const auto add = [&](const Array* array, bool dashed) {
        for (int64_t level = 0; array && level < levels; ++level) {
            Series series = reduce(drawn.length, view, "token", [&](int64_t token) {
                const int64_t row = (drawn.batch * levels + level) * drawn.length + token;
                return array->value(row * drawn.width + drawn.channel).real();
            });
            figure.marks.push_back(Line{
                fmt::format("every {}{}", chunks[static_cast<size_t>(level)], dashed ? ", reference" : ""),
                {Ink::Role::variant, static_cast<int>(level), dashed},
                std::move(series.x),
                std::move(series.y)});
        }
    };
    const VariantResult* const variant = find(result, "chunkwise_gd");
    add(find(result.reference, "level_y"), true);
    if (variant) add(find(variant->outputs, "level_y"), false);
    return figure;
}

}  // namespace

std::vector<Figure> token_figures(const Result& result, const View& view) {
    return {output_figure(result, view), error_figure(result, view), age_figure(result),
            boundary_figure(result)};
}

std::vector<Figure> level_figures(const Result& result, const View& view) {
    const auto* chunks = std::get_if<std::vector<int64_t>>(&result.parameters.at("levels"));
    if (!chunks) return {};
    return {pulse_figure(result, view, *chunks), level_figure(result, view, *chunks)};
}

}  // namespace sawtooth::memory
