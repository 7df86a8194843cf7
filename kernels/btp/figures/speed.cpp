// The rate of every variant beside that of a copy, and the time per token.

#include "kernels/btp/figures/common.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "kernels/btp/parts.h"
#include "kernels/core/ceilings.h"
#include "kernels/core/common_parameters.h"
#include "kernels/core/table.h"
#include "kernels/figures/comparison.h"
#include "kernels/figures/correctness.h"

namespace sawtooth::btp {
namespace {

Figure rate_figure(const Result& result) {
    Figure figure = new_figure("rate", Place::views, "Rate against a same-size copy", "",
                               {.label = "rate", .unit = "GB/s", .minimum = 0}, {.label = "variant"});
    const double copy = copy_rate(result);
    Bars bars;
    for (const VariantResult& variant : result.variants) {
        if (!variant.time || copy == 0) continue;
        const double rate = variant.work.bytes / variant.time->median / 1e3;
        bars.bars.push_back({.ink = ink_of(variant),
                             .segments = {{"", rate}},
                             .low = {},
                             .high = {},
                             .text = share_words(rate, copy, "a same-size copy"),
                             .badge = wrong_badge(variant)});
        figure.y.categories.push_back(variant.name);
    }
    if (bars.bars.empty()) {
        figure.missing =
            "The rate of every variant against a copy of the same size. Available after a run with repeats "
            "(press F5).";
        return figure;
    }
    const auto fastest = fastest_right(result);
    if (fastest.size() == 1 || (!fastest.empty() && fastest.size() < figure.y.categories.size())) {
        std::vector<std::string> names;
        for (const VariantResult* variant : fastest) names.push_back(variant->name);
        const double rate = fastest.front()->work.bytes / fastest.front()->time->median / 1e3;
        figure.caption =
            fmt::format("{} reaches {}. ", either_of(names), share_words(rate, copy, "a same-size copy"));
    }
    figure.caption += fmt::format("Every input and output counts once: {}.", short_bytes(result.work.bytes));
    figure.marks.push_back(std::move(bars));
    figure.marks.push_back(Rule{
        Rule::Across::x,
        copy,
        fmt::format("copy: {} GB/s", copy < 999.5 ? rounded(copy, 3) : with_thousands(std::llround(copy))),
        {Ink::Role::limit}});
    return figure;
}

// Returns text such as "45 ns" or "2.3 us".
std::string words_of_ns(double ns) { return ns < 1000 ? fmt::format("{:.3g} ns", ns) : short_time(ns / 1e3); }

std::string with_badge(const TimeStatistics& time) {
    const std::string badge = unstable_badge(time);
    return badge.empty() ? "" : " (" + badge + ")";
}

// Says how much state a step updates; all channels take a step at once.
std::string words_of_state(const Parameters& parameters) {
    const Sizes s(parameters);
    return fmt::format("Each step updates {}: the local value and the carry of {}.",
                       short_bytes(8 * static_cast<double>(s.rows())), count_words(s.rows(), "channel"));
}

// "One launch for all steps, or a launch per step: decode is 120x faster than sequential. "; "" if one of
// them did not run or is wrong.
std::string words_of_steps(const Result& result) {
    const VariantResult *const decode = find(result, "decode"), *const sequential =
                                                                    find(result, "sequential");
    if (!decode || !has_speed(*decode) || !sequential || !has_speed(*sequential)) return "";
    return "One launch for all steps, or a launch per step: " +
           comparison_words("decode", "sequential", compare(result, *decode, *sequential)) + ". ";
}

// Draws the time per token of the variants that go token by token, and of fused.
Figure token_figure(const Result& result) {
    Figure figure = new_figure("time-a-token", Place::views, "Time per token", "",
                               {.label = "time", .unit = "ns", .minimum = 0}, {.label = "variant"});
    const auto length = static_cast<double>(result.parameters.integer("L"));
    Bars bars;
    for (const char* name : {"sequential", "decode", "fused"}) {
        const VariantResult* const variant = find(result, name);
        if (!variant || !variant->time) continue;
        const double scale = 1e3 / length, ns = variant->time->median * scale;
        bars.bars.push_back({.ink = ink_of(*variant),
                             .segments = {{"", ns}},
                             .low = variant->time->q1 * scale,
                             .high = variant->time->q3 * scale,
                             .text = words_of_ns(ns) + with_badge(*variant->time),
                             .badge = wrong_badge(*variant)});
        const std::string whole =
            runs_backward(result.parameters) ? "fused with backward, whole / L" : "fused, whole / L";
        figure.y.categories.push_back(variant->name == "fused" ? whole : variant->name);
    }
    if (bars.bars.empty()) {
        figure.missing =
            "The time per token of a step and of the whole sequence. Available after a run with repeats "
            "(press F5).";
        return figure;
    }
    break_long_bars(figure, bars, lengths_of(bars));
    figure.caption = words_of_steps(result) + words_of_state(result.parameters);
    figure.marks.push_back(std::move(bars));
    return figure;
}

}  // namespace

std::vector<Figure> speed_figures(const Result& result) {
    return {rate_figure(result), token_figure(result)};
}

}  // namespace sawtooth::btp
