// The sweeps, and their figures over block sizes, orders and lengths.

#include "kernels/btp/figures/sweeps.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kernels/btp/family.h"
#include "kernels/btp/parts.h"
#include "kernels/core/common_parameters.h"
#include "kernels/core/table.h"
#include "kernels/figures/comparison.h"
#include "kernels/figures/correctness.h"
#include "kernels/figures/figures.h"
#include "kernels/figures/sweep_figures.h"
#include "kernels/figures/sweep_maps.h"

namespace sawtooth::btp {
namespace {

const std::vector<std::string> two_ways = {"two_pass", "fused"};

Axis axis_of(const SweepResult& sweep) {
    const SweepAxis& swept = sweep.sweep.axes.front();
    Axis axis = swept_axis(swept, *btp_family().parameter(swept.parameter));
    axis.scale = Scale::log2;
    if (axis.unit.empty()) axis.unit = "positions";
    return axis;
}

// Returns the curve of fused, or that of the variant that ran.
const Line& told_in_words(const std::vector<Line>& lines) {
    const auto fused =
        std::find_if(lines.begin(), lines.end(), [](const Line& line) { return line.label == "fused"; });
    return fused == lines.end() ? lines.front() : *fused;
}

Figure time_by_block(const SweepResult& sweep) {
    std::vector<Line> lines = timed_curves_of(sweep, median_us);
    Figure figure = new_figure("time_by_block", Place::views, "Time against BL", progress_words(sweep),
                               axis_of(sweep), time_axis());
    if (!lines.empty()) {
        const Line& told = told_in_words(lines);
        if (const std::string words = fastest_cells_words(sweep, told.label); !words.empty())
            figure.caption += fmt::format("{} is fastest at {}. ", told.label, words);
        figure.caption +=
            fmt::format("From BL {:.0f} to {:.0f} its products do {} times the work.", told.x.front(),
                        told.x.back(), rounded((told.x.back() + 1) / (told.x.front() + 1), 2));
    }
    add_times(figure, sweep, std::move(lines));
    return figure;
}

Figure rate_by_block(const SweepResult& sweep) {
    std::vector<Line> lines = timed_curves_of(sweep, gigabytes_per_second);
    Figure figure = new_figure("rate_by_block", Place::views, "Rate against BL", "", axis_of(sweep),
                               {.label = "rate", .unit = "GB/s", .minimum = 0});
    Line copies = copy_rates(sweep);
    if (!lines.empty() && !copies.x.empty()) {
        const Line& told = told_in_words(lines);
        figure.caption = progress_words(sweep);
        if (const std::string words = fastest_cells_words(sweep, told.label); !words.empty())
            figure.caption += fmt::format("{} is nearest to a same-size copy at {}. ", told.label, words);
        figure.caption += "A rate counts every input and output once.";
    }
    add_lines(figure, std::move(lines));
    add_beside_data(figure, std::move(copies));
    return figure;
}

// Returns the time of a variant in the cell of an order; null if it did not run or is wrong.
const TimeStatistics* time_of(const SweepResult& sweep, const Value& order, const std::string& variant) {
    for (const SweepCell& cell : sweep.cells) {
        const VariantResult* const found =
            cell.result && cell.values.front() == order ? find(*cell.result, variant) : nullptr;
        if (found && has_speed(*found)) return &*found->time;
    }
    return nullptr;
}

constexpr const char* undecided = "cannot be told";

// The time of an order against that of order 2 in words, and how many variants are slower.
struct CostOfOrder {
    std::string words;  // "fused 1.3x", "cannot be told"; "" without times
    int slower = 0;     // variants that are certainly slower than with order 2
};

CostOfOrder cost_of(const SweepResult& sweep, const Value& order) {
    CostOfOrder cost;
    bool was_measured = false;
    for (const char* variant : {"fused", "two_pass"}) {
        const TimeStatistics *const two = time_of(sweep, Value(2), variant), *const other = time_of(
                                                                                 sweep, order, variant);
        if (!two || !other) continue;
        const Comparison speed = compare_apart(*two, *other);
        cost.slower += speed.pace == Pace::faster;
        was_measured = true;
        if (speed.pace == Pace::cannot_tell) continue;
        cost.words += (cost.words.empty() ? "" : ", ") + std::string(variant) + " " + ratio_words(speed);
    }
    if (was_measured && cost.words.empty()) cost.words = undecided;
    return cost;
}

std::string words_of_orders(const SweepResult& sweep) {
    if (!sweep.complete) return progress_words(sweep);
    const CostOfOrder one = cost_of(sweep, Value(1)), full = cost_of(sweep, Value("full"));
    if (one.words == undecided && full.words == undecided)
        return fmt::format("Differences below {}x cannot be told between separate measurements.",
                           apart_within);
    if (one.words.empty() || full.words.empty()) return "";
    return fmt::format(
        "Time against order 2: full: {}; order 1: {}.{}", full.words, one.words,
        full.slower == std::ssize(two_ways) ? " With full, blocks wait for earlier carries." : "");
}

}  // namespace

std::vector<Figure> block_figures(const SweepResult& sweep) {
    std::vector<Figure> figures = {time_by_block(sweep), rate_by_block(sweep)};
    explain_missing(figures, sweep, "fused");
    return figures;
}

std::vector<Figure> warp_figures(const SweepResult& sweep) {
    std::vector<Figure> figures = {time_map(sweep, btp_family(), "time_by_block_and_warps")};
    if (auto occupancy = occupancy_map(sweep, btp_family(), "occupancy_by_block_and_warps", "fused",
                                       "a kernel that waits for memory needs only enough warps"))
        figures.push_back(std::move(*occupancy));
    return figures;
}

std::vector<Figure> order_figures(const SweepResult& sweep) {
    Figure figure = new_figure("time_by_order", Place::views, "Time by order", "",
                               {.label = "time", .unit = "us", .minimum = 0}, {.label = "order"});
    Bars bars;
    for (const std::string& name : two_ways)
        for (const SweepCell& cell : sweep.cells) {
            const VariantResult* const variant = cell.result ? find(*cell.result, name) : nullptr;
            if (!variant || !variant->time) continue;
            bars.bars.push_back(time_bar(*variant));
            figure.y.categories.push_back(name + ", " + to_text(cell.values.front()));
        }
    add_bars(figure, std::move(bars));
    if (!figure.marks.empty()) figure.caption = words_of_orders(sweep);
    std::vector<Figure> figures = {std::move(figure)};
    explain_missing(figures, sweep, "fused");
    return figures;
}

std::vector<Figure> length_figures(const SweepResult& sweep) {
    std::vector<Line> lines = timed_curves_of(sweep, median_us);
    Figure figure =
        new_figure("time_by_length", Place::views, "Time against L", "", axis_of(sweep), time_axis());
    std::string words;
    for (const Line& line : lines)
        if (const auto cells = timed_cells_of(sweep, line.label); !cells.empty())
            words += fmt::format("{}{} {}", words.empty() ? "" : ", ", line.label,
                                 time_words(cells.back().time()));
    if (!lines.empty())
        figure.caption = fmt::format("{}At L {}: {}.", progress_words(sweep),
                                     with_thousands(std::llround(lines.front().x.back())), words);
    add_times(figure, sweep, std::move(lines));
    std::vector<Figure> figures = {std::move(figure)};
    explain_missing(figures, sweep, "fused");
    return figures;
}

std::vector<FigureSweep> sweeps(const Parameters& parameters) {
    constexpr int64_t most_heads = 16, most_length = 8192;  // on the CPU
    const SweepAxis blocks{"BL", {lengths_on_tensor_cores.begin(), lengths_on_tensor_cores.end()}};
    const SweepAxis warps{"wpb", {int64_t{4}, int64_t{8}, int64_t{16}, int64_t{32}}};
    const SweepAxis orders{"order", btp_family().parameter("order")->choices};
    std::vector<FigureSweep> all;
    for (const Backend backend : {Backend::cpu, Backend::cuda}) {
        std::vector<std::pair<std::string, Value>> shape;
        if (backend == Backend::cpu)
            shape = {{"B", int64_t{1}},
                     {"H", std::min(parameters.integer("H"), most_heads)},
                     {"L", std::min(parameters.integer("L"), most_length)}};
        all.push_back({"BL", "time against BL", {blocks}, shape, two_ways, block_figures, backend});
        auto own_warps = shape;  // every order with the number of warps that is automatic for it
        own_warps.emplace_back("wpb", "auto");
        all.push_back({"order", "time by order", {orders}, own_warps, two_ways, order_figures, backend});
        auto forward = shape;  // without backward, which sequential and decode do not have
        forward.emplace_back("backward", false);
        all.push_back({"L",
                       "time against L",
                       {powers_of_two("L", 256, most_length)},
                       forward,
                       {},
                       length_figures,
                       backend});
    }
    all.push_back(
        {"BL_wpb", "time over BL and wpb", {blocks, warps}, {}, {"fused"}, warp_figures, Backend::cuda});
    return all;
}

}  // namespace sawtooth::btp
