// The running maximum and sum of one query, tile by tile.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernels/attention/figures/scores.h"
#include "kernels/core/table.h"

namespace sawtooth::attention {
namespace {

constexpr size_t most_points = 1024;  // with more tiles points are left out, but never the last one

// Returns a strip under the curves that shows the kinds of the tiles.
KindMap strip_of(const Drawn& drawn, const std::vector<RunningSoftmax>& steps, double bottom, double height) {
    KindMap strip;
    strip.label = "tile";
    strip.kinds = tile_kinds();
    strip.row_names = {""};
    for (const RunningSoftmax& step : steps) {
        const int64_t tile = step.keys.first / drawn.block_n;
        strip.column_names.push_back(words_of_tiles("keys", step.keys, {tile, tile + 1}));
        strip.cells.push_back(static_cast<int>(step.kind));
    }
    strip.x_low = -0.5;
    strip.x_high = static_cast<double>(static_cast<int64_t>(steps.size()) * drawn.block_n) - 0.5;
    strip.y_low = bottom + height;
    strip.y_high = bottom;
    return strip;
}

std::string words_of(const std::vector<RunningSoftmax>& steps) {
    const RunningSoftmax& last = steps.back();
    const auto rises =
        std::count_if(steps.begin() + 1, steps.end(), [](const auto& step) { return step.rises; });
    std::string way = fmt::format("m rises in {} of {}, and each time scales the sum l down. At the end",
                                  rises, count_words(std::ssize(steps) - 1, "later tile"));
    if (rises == 0) way = "The largest score is in the first tile, so m never rises. At the end";
    if (steps.size() == 1) way = "All keys are in one tile. After it";
    return fmt::format("{} m + log2 l = {:.4g} is the log-sum-exp.", way,
                       last.m * std::numbers::log2e + std::log2(last.l));
}

}  // namespace

std::vector<RunningSoftmax> running_softmax(const Drawn& drawn, const ScoredRows& rows) {
    std::vector<RunningSoftmax> steps;
    RunningSoftmax step;
    step.m = -INFINITY;
    for (int64_t tile = 0; tile < drawn.key_tiles(); ++tile) {
        step.keys = drawn.keys(tile);
        step.kind = kind_of(drawn.mask, drawn.queries(), step.keys);
        if (step.kind == TileKind::skipped) continue;
        double m = step.m, sum = 0;
        for (int64_t j = step.keys.first; j < step.keys.last; ++j) m = std::fmax(m, rows.at(drawn.query, j));
        for (int64_t j = step.keys.first; j < step.keys.last; ++j) {
            const double p = std::exp(rows.at(drawn.query, j) - m);
            sum += std::isnan(p) ? 0 : p;
        }
        step.rises = m > step.m;
        step.l = step.l * (step.rises && step.l > 0 ? std::exp(step.m - m) : 1) + sum;
        step.m = m;
        steps.push_back(step);
    }
    return steps;
}

Figure running_figure(const Drawn& drawn, const ScoredRows& rows) {
    const auto steps = running_softmax(drawn, rows);
    Figure figure =
        new_figure("running-softmax", Place::views, fmt::format("Running softmax of query {}", drawn.query),
                   words_of(steps), key_axis(drawn.seen_keys()), {.label = "base-2 logarithm"});
    figure.chosen_by = {"drawn_query"};
    Line m = line_of("m, largest score so far", {Ink::Role::kind, 3}, {});
    Line l = line_of("log2 l, sum so far", {Ink::Role::kind, 4}, {});
    Line both = line_of("m + log2 l", {Ink::Role::reference}, {});
    const size_t every = (steps.size() + most_points - 1) / most_points;
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < steps.size(); ++i) {
        if (i % every != 0 && i + 1 < steps.size()) continue;
        const double x = static_cast<double>(steps[i].keys.first + steps[i].keys.last - 1) / 2;
        const double most = steps[i].m * std::numbers::log2e, sum = std::log2(steps[i].l);
        for (const auto& [line, y] : {std::pair{&m, most}, {&l, sum}, {&both, most + sum}}) {
            line->x.push_back(x);
            line->y.push_back(std::isfinite(y) ? y : gap);
            if (std::isfinite(y)) low = std::min(low, y), high = std::max(high, y);
        }
    }
    const double height = high > low ? (high - low) / 10 : 1;
    if (std::isfinite(low)) {
        figure.y.minimum = low - 2 * height;
        figure.y.maximum = high + height;
        figure.marks.push_back(strip_of(drawn, steps, low - 2 * height, height));
    }
    for (Line* line : {&m, &l, &both}) {
        line->markers = steps.size() <= 64;
        figure.marks.push_back(std::move(*line));
    }
    return figure;
}

}  // namespace sawtooth::attention
