#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "kernels/memory/family.h"
#include "kernels/memory/figure_parts.h"
#include "kernels/memory/job.h"
#include "kernels/memory/parts.h"
#include "kernels/memory/strategies.h"

namespace sawtooth::memory {

Figure new_figure(std::string id, Place place, std::string title, std::string caption, Axis x, Axis y) {
    Figure figure;
    figure.id = std::move(id);
    figure.place = place;
    figure.title = std::move(title);
    figure.caption = std::move(caption);
    figure.x = std::move(x);
    figure.y = std::move(y);
    return figure;
}

Axis token_axis(int64_t length) {
    return {.label = "token", .minimum = 0, .maximum = static_cast<double>(length - 1), .shared = "token"};
}

Axis chunk_axis() { return {.label = "chunk", .unit = "tokens", .scale = Scale::log2}; }

Drawn::Drawn(const Parameters& parameters)
    : batch(std::min(parameters.integer("drawn_batch"), parameters.integer("batch") - 1)),
      channel(std::min(parameters.integer("drawn_channel"), parameters.integer("d") - 1)),
      length(parameters.integer("length")),
      width(parameters.integer("d")),
      strategy(parameters.text("drawn_strategy")),
      chunk(strategy_named(strategy).chunk_of(parameters)) {
    boundary = std::min(parameters.integer("drawn_boundary"), (length + chunk - 1) / chunk);
    token = std::min(boundary * chunk, length);
}

std::string Drawn::boundary_words() const {
    return token == length ? fmt::format("{}, boundary {}, after the last token", strategy, boundary)
                           : fmt::format("{}, boundary {}, before token {}", strategy, boundary, token);
}

std::vector<Line> curves_of(const SweepResult& sweep, double (*number)(const Result&, const VariantResult&)) {
    std::map<int, Line> lines;
    for (const SweepCell& cell : sweep.cells) {
        if (!cell.result) continue;
        const auto chunk = static_cast<double>(std::get<int64_t>(cell.values.front()));
        for (const VariantResult& variant : cell.result->variants) {
            if (!variant.ran() || !variant.time) continue;
            Line& line = lines[variant.index];
            line.label = variant.name;
            line.ink = ink_of(variant);
            line.markers = true;
            line.x.push_back(chunk);
            line.y.push_back(number(*cell.result, variant));
            if (!has_chunks(variant)) continue;
            line.sets.parameter = strategy_named(variant.name).chunk;
            line.sets.values.push_back(chunk);
        }
    }
    std::vector<Line> in_order;
    for (auto& [index, line] : lines) in_order.push_back(std::move(line));
    return in_order;
}

void add_lines(Figure& figure, std::vector<Line> lines) {
    if (lines.empty()) figure.missing = "Points appear as the background sweep makes them.";
    for (Line& line : lines) figure.marks.push_back(std::move(line));
}

View::Range range_of(const std::vector<Line>& lines) {
    View::Range range{std::numeric_limits<double>::infinity(), 0};
    for (const Line& line : lines)
        for (const double y : line.y)
            if (y > 0 && y < std::numeric_limits<double>::infinity())
                range = {std::min(range.low, y), std::max(range.high, y)};
    return range.high > 0 ? range : View::Range{0.1, 1};
}

std::vector<FigureSweep> sweeps(const Parameters& parameters) {
    const auto powers_to = [](int64_t last) {
        std::vector<Value> values;
        for (int64_t chunk = 1; chunk <= last; chunk *= 2) values.emplace_back(chunk);
        return values;
    };
    FigureSweep tradeoff{
        "chunk",         "error and time against chunk", {{"chunk", powers_to(1024), {"C_G"}}}, {}, {},
        tradeoff_figures};
    // Long enough for many long chunks, unless one token of the rule costs too much for that.
    const int64_t d = parameters.integer("d"), a_token = sizes_of(parameters).window * d * d;
    const int64_t length = a_token > 1 << 14 ? parameters.integer("length") : 16384;
    // A narrow memory forgets less between two tokens that want the same place: frozen steps add up.
    const int64_t narrow = parameters.is("rule", "trellis") ? parameters.integer("compress") : 4;
    std::vector<Value> widths = {d};
    if (narrow < d) widths.emplace_back(narrow);
    FigureSweep growth{"growth",
                       "error against chunk until it diverges",
                       {{"d", widths, {}}, {"chunk", powers_to(std::max<int64_t>(length / 2, 1)), {}}},
                       {{"batch", int64_t{1}}, {"length", length}, {"levels", "none"}},
                       {"chunkwise_gd"},
                       growth_figures};
    const std::vector<Value> ways = memory_family().parameter("launch")->choices;
    FigureSweep launches{"launch",       "ways to launch", {{"launch", ways, {}}}, {{"levels", "none"}},
                         {"sequential"}, launch_figures,   Backend::cuda};
    return {std::move(tradeoff), std::move(growth), std::move(launches)};
}

std::vector<Figure> figures(const Result& result, const View& view) {
    std::vector<Figure> all = {sawtooth_figure(result, view)};
    const auto add = [&](std::vector<Figure> more) {
        std::move(more.begin(), more.end(), std::back_inserter(all));
    };
    add(token_figures(result, view));
    all.push_back(table_figure(result.parameters));
    add(state_figures(result));
    add(level_figures(result, view));
    return all;
}

}  // namespace sawtooth::memory
