// The update of the second pass in the drawn block: g c^T, with g_i = a_0 ... a_i and the carry c.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/btp/figures/common.h"
#include "kernels/core/table.h"

namespace sawtooth::btp {
namespace {

constexpr int64_t most_named = 64;  // with more channels the axis has numbers

struct Update {
    Range positions;
    std::vector<double> g, c;  // g by position of the block, c by channel
};

Update update_of(const Result& result, const Drawn& drawn, const Array& carries) {
    Update update{drawn.block_positions(), {}, {}};
    double product = 1;
    for (const float gate : drawn.gates_of_block(result)) update.g.push_back(product *= double{gate});
    const int64_t first = (drawn.head_index * drawn.blocks() + drawn.block_index) * drawn.width;
    for (int64_t channel = 0; channel < drawn.width; ++channel)
        update.c.push_back(carries.value(first + channel).real());
    return update;
}

Figure figure_with(std::string id, const std::string& what, const Drawn& drawn, std::string caption, Axis x,
                   Axis y) {
    Figure figure =
        new_figure(std::move(id), Place::views,
                   fmt::format("{} of block {}, {}", what, drawn.block_index, drawn.words_of_block()),
                   std::move(caption), std::move(x), std::move(y));
    figure.chosen_by = {"drawn_batch", "drawn_head", "drawn_block"};
    return figure;
}

double largest_of(const std::vector<double>& values) {
    double largest = 0;
    for (const double value : values) largest = std::max(largest, std::abs(value));
    return largest;
}

Figure product_figure(const Drawn& drawn, const Update& update) {
    const double largest = largest_of(update.c);
    Figure figure = figure_with(
        "rank-one", "g c^T", drawn,
        fmt::format(
            "The second pass adds at most {:.3g} at position {} and {:.3g} at {}: {} + {} numbers give "
            "all {} values.",
            update.g.front() * largest, update.positions.first, update.g.back() * largest,
            update.positions.last - 1, update.g.size(), update.c.size(), update.g.size() * update.c.size()),
        {.label = "position"}, {.label = "channel"});
    HeatMap map = heat_map("g c", drawn.width, update.positions.count(), 0, update.positions.first);
    map.colours = HeatMap::Colours::diverging;
    for (const double c : update.c)
        for (const double g : update.g) map.values.push_back(g * c);
    figure.marks.push_back(std::move(map));
    return figure;
}

Figure g_figure(const Drawn& drawn, const Update& update) {
    const int64_t first = update.positions.first;
    const auto zero = std::find(update.g.begin(), update.g.end(), 0.0);
    const std::string left =
        zero == update.g.end()
            ? fmt::format("At the end of the block, {} % of the carry is left",
                          percent_number(update.g.back()))
            : fmt::format("The carry is gone from position {} on", first + (zero - update.g.begin()));
    Figure figure =
        figure_with("rank-one-g", "g", drawn, left + ": g is the product of the gates since its start.",
                    {.label = "position",
                     .minimum = static_cast<double>(first) - 0.5,
                     .maximum = static_cast<double>(update.positions.last) - 0.5},
                    {.label = "g", .scale = Scale::log10, .maximum = 1});
    Line line = line_of("g", {Ink::Role::highlight}, {});
    line.markers = true;
    for (size_t i = 0; i < update.g.size(); ++i) {
        line.x.push_back(static_cast<double>(first) + static_cast<double>(i));
        line.y.push_back(update.g[i] > 0 ? update.g[i] : gap);
    }
    figure.marks.push_back(std::move(line));
    return figure;
}

// Says what the carry of the drawn block is.
std::string words_of_source(const Drawn& drawn) {
    if (drawn.block_index == 0) return "The first block receives carry0";
    return fmt::format("The {} value of block {}",
                       drawn.order == Order::two ? "last local" : "corrected last", drawn.block_index - 1);
}

Figure c_figure(const Drawn& drawn, const Update& update) {
    const auto largest = std::max_element(update.c.begin(), update.c.end(), [](double left, double right) {
        return std::abs(left) < std::abs(right);
    });
    Figure figure = figure_with("rank-one-c", "c", drawn,
                                fmt::format("{}; the largest, {:.3g}, is in channel {}.",
                                            words_of_source(drawn), *largest, largest - update.c.begin()),
                                {.label = "channel"}, {.label = "c"});
    for (int64_t channel = 0; channel < drawn.width && drawn.width <= most_named; ++channel)
        figure.x.categories.push_back(std::to_string(channel));
    Line line = line_of("c", {Ink::Role::highlight}, {});
    line.markers = true;
    for (size_t channel = 0; channel < update.c.size(); ++channel) {
        line.x.push_back(static_cast<double>(channel));
        line.y.push_back(update.c[channel]);
    }
    figure.marks.push_back(std::move(line));
    figure.marks.push_back(Rule{Rule::Across::y, 0, "", {Ink::Role::quiet}});
    return figure;
}

}  // namespace

std::vector<Figure> rank_one_figures(const Result& result) {
    const Array* const carries = find(result.reference, "carry");
    if (!carries) return {};
    const Drawn drawn(result.parameters);
    const Update update = update_of(result, drawn, *carries);
    std::vector<Figure> all = {product_figure(drawn, update), g_figure(drawn, update),
                               c_figure(drawn, update)};
    for (Figure* figure : {&all[0], &all[2]}) {
        if (drawn.order == Order::one)
            leave_out(*figure, "Order 1 has no second pass: set order to 2 or full.");
        else if (drawn.block_index == 0 && !find(result.inputs, "carry0"))
            leave_out(*figure, "The first block receives no carry: choose a later drawn_block.");
    }
    if (update.g.front() == 0)
        for (Figure* figure : {&all[0], &all[1]})
            leave_out(*figure, "The first gate is 0, so nothing is carried in: choose another drawn_block.");
    return all;
}

}  // namespace sawtooth::btp
