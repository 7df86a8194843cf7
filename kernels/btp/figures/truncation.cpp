// What orders 1 and 2 lose against the exact recurrence s_t = a_t s_{t-1} + u_t, in double precision.
//
// Order 1 enters block b with 0 instead of s, the exact state at the end of block b - 1. Order 2 enters it
// with the local value there, which lacks (a_0 ... a_{BL-1}) s', with the gates of block b - 1 and s' the
// exact state at the end of block b - 2. Inside block b either loss fades with g_i = a_0 ... a_i.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/btp/figures/common.h"
#include "kernels/core/table.h"

namespace sawtooth::btp {
namespace {

// Above this the window would wait for the figure.
constexpr int64_t most_numbers = int64_t{1} << 22;
constexpr int64_t blocks_in_sight = 16;  // at first, so that errors are seen to fade inside of each

struct Truncation {
    std::vector<double> first_order, second_order;  // by position, the largest of all channels; 0: no loss
    double largest_x = 0;                           // of the exact recurrence
};

struct States {
    std::vector<double> at_ends;  // the largest magnitude of all channels at the last position of each block
    double largest = 0;           // at any position
};

// Of the exact recurrence over positions 0 to count - 1.
States exact_states(const Result& result, const Drawn& drawn, int64_t count) {
    constexpr int64_t together = 8;  // channels at once, as each waits for its last step
    const auto gates = drawn.gates(result);
    States states;
    states.at_ends.resize(static_cast<size_t>(ceil_divide(count, drawn.block)));
    for (int64_t first = 0; first < drawn.width; first += together) {
        const int64_t channels = std::min(together, drawn.width - first);
        std::array<const float*, together> u;
        for (int64_t c = 0; c < channels; ++c)
            u[static_cast<size_t>(c)] = drawn.inputs(result, first + c).data();
        std::array<double, together> state{};
        for (int64_t t = 0; t < count; ++t) {
            double largest = 0;
            for (size_t c = 0; c < static_cast<size_t>(channels); ++c) {
                state[c] = double{gates[static_cast<size_t>(t)]} * state[c] + double{u[c][t]};
                largest = std::max(largest, std::abs(state[c]));
            }
            states.largest = std::max(states.largest, largest);
            if ((t + 1) % drawn.block != 0) continue;
            double& at_end = states.at_ends[static_cast<size_t>(t / drawn.block)];
            at_end = std::max(at_end, largest);
        }
    }
    return states;
}

Truncation truncation_of(const Result& result, const Drawn& drawn, int64_t count) {
    const States states = exact_states(result, drawn, count);
    const auto gates = drawn.gates(result);
    Truncation found;
    found.largest_x = states.largest;
    double product = 1;               // of the gates from the start of the block
    double first_lost = 0, lost = 0;  // at the start of the block, by order 1 and by order 2
    for (int64_t t = 0; t < count; ++t) {
        if (t > 0 && t % drawn.block == 0) {
            lost = product * first_lost;
            first_lost = states.at_ends[static_cast<size_t>(t / drawn.block - 1)];
            product = 1;
        }
        product *= double{gates[static_cast<size_t>(t)]};
        found.first_order.push_back(product * first_lost);
        found.second_order.push_back(product * lost);
    }
    return found;
}

double median_gate(std::span<const float> gates) {
    constexpr size_t most = size_t{1} << 16;
    std::vector<float> some(gates.begin(),
                            gates.begin() + static_cast<std::ptrdiff_t>(std::min(most, gates.size())));
    const auto middle = some.begin() + static_cast<std::ptrdiff_t>(some.size() / 2);
    std::nth_element(some.begin(), middle, some.end());
    return double{*middle};
}

// "With the median gate, 0.9, an input fades to 1 % in 44 positions."
std::string words_of_fading(std::span<const float> gates) {
    const double gate = median_gate(gates);
    if (gate >= 1) return "With the median gate, 1, an input never fades.";
    const double positions = gate > 0 ? std::ceil(std::log(0.01) / std::log(gate)) : 1;
    return fmt::format("With the median gate, {:.3g}, an input fades to 1 % in {:.0f} position{}.", gate,
                       positions, positions == 1 ? "" : "s");
}

// "0.41, 8.2 % of the largest |x|, at position 47"
std::string words_of_largest(const std::vector<double>& errors, double largest_x) {
    const auto largest = std::max_element(errors.begin(), errors.end());
    return fmt::format("{:.2g}, {:.2g} % of the largest |x|, at position {}", *largest,
                       100 * *largest / largest_x, largest - errors.begin());
}

bool is_exact(const std::vector<double>& errors) {
    return std::all_of(errors.begin(), errors.end(), [](double error) { return error == 0; });
}

std::string words_of_both(const Truncation& truncation) {
    std::string words =
        "Order 1 is off by up to " + words_of_largest(truncation.first_order, truncation.largest_x);
    if (!is_exact(truncation.second_order))
        words += ", order 2 by up to " + words_of_largest(truncation.second_order, truncation.largest_x);
    return words + ".";
}

std::string caption_of(const Drawn& drawn, const Truncation& truncation, std::span<const float> gates) {
    if (drawn.order == Order::full)
        return "Order full is the exact recurrence: it has no truncation error. " + words_of_both(truncation);
    const bool is_first = drawn.order == Order::one;
    const std::vector<double>& errors = is_first ? truncation.first_order : truncation.second_order;
    const int64_t least = is_first ? 0 : drawn.block;
    const std::string reach = fmt::format("Order {} looks back {} to {} positions", is_first ? 1 : 2, least,
                                          least + drawn.block - 1);
    if (is_exact(errors)) return reach + " and loses nothing here.";
    return fmt::format("{} and is off by up to {}. {}", reach, words_of_largest(errors, truncation.largest_x),
                       words_of_fading(gates));
}

Figure truncation_figure(const Result& result, const View& view) {
    const Drawn drawn(result.parameters);
    Figure figure = new_figure("truncation", Place::error, "Truncation error, " + drawn.words(), "",
                               place_axis("position", drawn.length), absolute_error_axis());
    figure.chosen_by = {"drawn_batch", "drawn_head"};
    const View::Range visible = view.range_of("position", {0, static_cast<double>(drawn.length)});
    const int64_t affordable = std::max<int64_t>(most_numbers / drawn.width, drawn.block);
    const auto seen = std::clamp(static_cast<int64_t>(std::ceil(visible.high)) + 2, int64_t{1}, drawn.length);
    const int64_t count = std::min(seen, affordable);
    if (static_cast<double>(count) <= visible.low) {
        leave_out(figure,
                  fmt::format("The exact recurrence is computed from position 0 on: the window can wait "
                              "for positions up to {}.",
                              with_thousands(count - 1)));
        return figure;
    }
    const Truncation truncation = truncation_of(result, drawn, count);
    if (is_exact(truncation.first_order)) {
        leave_out(figure,
                  drawn.blocks() == 1
                      ? "Needs more than one block, so L above BL: inside a block every order is exact."
                      : "Here the gates forget everything at the starts of blocks: every order is exact.");
        return figure;
    }
    figure.caption = caption_of(drawn, truncation, drawn.gates(result));
    if (count < seen)
        figure.caption += fmt::format(" Computed up to position {}.", with_thousands(count - 1));
    for (const auto& [label, errors, kind] :
         {std::tuple{"order 1", &truncation.first_order, 1}, {"order 2", &truncation.second_order, 2}}) {
        if (is_exact(*errors)) continue;
        Line line = line_of(label, {Ink::Role::kind, kind},
                            reduce(count, view, figure.x.shared, [&errors = *errors](int64_t at) {
                                const double error = errors[static_cast<size_t>(at)];
                                return error > 0 ? error : gap;
                            }));
        line.markers = true;
        figure.marks.push_back(std::move(line));
    }
    lay_floor(figure);
    if (drawn.blocks() > blocks_in_sight)
        figure.x.in_sight = static_cast<double>(blocks_in_sight * drawn.block - 1);
    View seen_first;
    if (figure.x.in_sight) seen_first.visible["position"] = {0, *figure.x.in_sight};
    add_borders(figure, drawn, view.visible.contains("position") ? view : seen_first);
    return figure;
}

constexpr double f32_rounding = 0x1p-24;

// The largest error of order 2 relative to the largest |x| with a constant gate, for each block length: at
// the start of a block, where it is gate^(BL + 1) times the exact state BL + 1 positions before.
std::array<double, 3> losses(std::span<const float> u, double gate, const std::array<int64_t, 3>& blocks) {
    std::array<double, 3> largest_missed{};
    double state = 0, largest = 0;
    for (size_t t = 0; t < u.size(); ++t) {
        state = gate * state + double{u[t]};
        largest = std::max(largest, std::abs(state));
        for (size_t i = 0; i < blocks.size(); ++i) {
            const auto block = static_cast<size_t>(blocks[i]);
            const bool is_end = (t + 1) % block == 0, is_felt = t + 1 + block < u.size();
            if (is_end && is_felt) largest_missed[i] = std::max(largest_missed[i], std::abs(state));
        }
    }
    for (size_t i = 0; i < blocks.size(); ++i)
        largest_missed[i] *= std::pow(gate, static_cast<double>(blocks[i] + 1)) / largest;
    return largest_missed;
}

Figure gate_figure(const Result& result) {
    constexpr int64_t most_positions = int64_t{1} << 13;
    constexpr int steps_per_octave = 2, octaves = 10;
    constexpr std::array<int64_t, 3> blocks = {16, 32, 64};
    const Drawn drawn(result.parameters);
    const auto u = drawn.inputs(result, drawn.channel)
                       .first(static_cast<size_t>(std::min(drawn.length, most_positions)));
    Figure figure =
        new_figure("truncation_by_gate", Place::views, "Truncation error of order 2 by gate", "",
                   {.label = "half-life of a constant gate", .unit = "positions", .scale = Scale::log2},
                   {.label = "error / largest |x|", .scale = Scale::log10, .minimum = f32_rounding / 2});
    figure.chosen_by = {"drawn_batch", "drawn_head", "drawn_channel"};
    std::array<Line, 3> lines;
    for (size_t i = 0; i < blocks.size(); ++i) {
        lines[i] = line_of(fmt::format("BL {}", blocks[i]), {Ink::Role::kind, static_cast<int>(i) + 5}, {});
        lines[i].markers = true;
    }
    double within = 0;  // the largest gate whose error is below 1 % with the block length as set
    for (int step = 0; step <= steps_per_octave * octaves; ++step) {
        const double half_life = std::exp2(static_cast<double>(step) / steps_per_octave);
        const double gate = std::exp2(-1 / half_life);
        const auto lost = losses(u, gate, blocks);
        for (size_t i = 0; i < blocks.size(); ++i) {
            if (lost[i] == 0) continue;
            lines[i].x.push_back(half_life);
            lines[i].y.push_back(lost[i]);
            if (blocks[i] == drawn.block && lost[i] <= 0.01) within = gate;
        }
    }
    for (Line& line : lines)
        if (!line.x.empty()) figure.marks.push_back(std::move(line));
    if (figure.marks.empty()) {
        leave_out(figure, "Needs more than two blocks, so L above 32.");
        return figure;
    }
    figure.caption = "Order 2 with the inputs of the drawn channel and one gate for all positions";
    if (within > 0)
        figure.caption += fmt::format(
            ": with BL {} it is within 1 % up to a gate of {:.3g}, a half-life of {:.3g} positions.",
            drawn.block, within, -1 / std::log2(within));
    else
        figure.caption += ".";
    figure.marks.push_back(Rule{Rule::Across::y, 0.01, "1 %", {Ink::Role::quiet}});
    figure.marks.push_back(Rule{Rule::Across::y, f32_rounding, "f32 rounding", {Ink::Role::limit}});
    const double median = median_gate(drawn.gates(result));
    if (median > 0 && median < 1)
        figure.marks.push_back(Rule{Rule::Across::x,
                                    -1 / std::log2(median),
                                    fmt::format("median gate {:.3g}", median),
                                    {Ink::Role::accent}});
    return figure;
}

}  // namespace

std::vector<Figure> truncation_figures(const Result& result, const View& view) {
    return {truncation_figure(result, view), gate_figure(result)};
}

}  // namespace sawtooth::btp
