// The errors of orders 1 and 2 against the exact recurrence s_t = a_t s_{t-1} + u_t, in float64.
//
// Order 1 enters block b with 0 instead of s, the exact state at the end of block b - 1. Order 2 enters it
// with the local value there, which lacks (a_0 ... a_{BL-1}) s', with the gates of block b - 1 and s' the
// exact state at the end of block b - 2. Inside block b either loss fades with g_i = a_0 ... a_i. The state
// before block 0 is carry0, which order 2 does not lack there.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/btp/figures/common.h"
#include "kernels/core/table.h"

namespace sawtooth::btp {
namespace {

// With more numbers the window would wait for the figure.
constexpr int64_t most_numbers = int64_t{1} << 22;
constexpr int64_t blocks_in_sight = 16;  // few at first, so that errors are seen to fade inside each

struct Truncation {
    // The largest loss over all channels, by position.
    std::vector<double> first_order, second_order;
    double largest_x = 0;  // the largest |x| of the exact recurrence
};

struct States {
    // The largest magnitude over all channels at the last position of each block, and at any position.
    std::vector<double> at_ends;
    double largest = 0;
};

// Runs the exact recurrence over positions 0 to count - 1.
States exact_states(const Result& result, const Drawn& drawn, int64_t count) {
    constexpr int64_t together = 8;  // channels in flight, as a step of one waits for its step before
    const auto gates = drawn.gates(result);
    const auto first_carries = drawn.first_carries(result);
    States states;
    states.at_ends.resize(static_cast<size_t>(ceil_divide(count, drawn.block)));
    for (int64_t first = 0; first < drawn.width; first += together) {
        const int64_t channels = std::min(together, drawn.width - first);
        std::array<const float*, together> u;
        for (int64_t c = 0; c < channels; ++c)
            u[static_cast<size_t>(c)] = drawn.inputs(result, first + c).data();
        std::array<double, together> state{};
        std::copy_n(first_carries.begin() + first, channels, state.begin());
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
    found.first_order.reserve(static_cast<size_t>(count));
    found.second_order.reserve(static_cast<size_t>(count));
    double product = 1;               // the product of the gates from the start of the block
    double first_lost = 0, lost = 0;  // what orders 1 and 2 lack at the start of the block
    for (const float carry : drawn.first_carries(result))
        first_lost = std::max(first_lost, std::abs(double{carry}));
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

// Returns text such as "Inputs fade to 1 % after 44 positions.", from the median gate.
std::string words_of_fading(std::span<const float> gates) {
    const double gate = median_gate(gates);
    if (gate >= 1) return "Inputs never fade.";
    if (gate <= 0.01) return "Inputs fade to 1 % at the next position.";
    return fmt::format("Inputs fade to 1 % after {:.0f} positions.",
                       std::ceil(std::log(0.01) / std::log(gate)));
}

// Returns text such as "8.2 % of the largest |x|" or "nothing".
std::string words_of_largest(const std::vector<double>& errors, double largest_x) {
    const double largest = *std::max_element(errors.begin(), errors.end());
    return largest == 0 ? "nothing" : percent_number(largest / largest_x) + " % of the largest |x|";
}

bool is_exact(const std::vector<double>& errors) {
    return std::all_of(errors.begin(), errors.end(), [](double error) { return error == 0; });
}

// "16 to 31 positions back", "1 position back"
std::string words_of_reach(int64_t least, int64_t most) {
    if (least == most) return count_words(least, "position") + " back";
    return fmt::format("{} to {} positions back", least, most);
}

std::string caption_of(const Drawn& drawn, const Truncation& truncation, std::span<const float> gates) {
    if (!std::isfinite(truncation.largest_x))
        return "x is not finite here, so what an order loses has no size. ";
    if (drawn.order == Order::full)
        return fmt::format("Order full is exact. Order 1 loses up to {}, order 2 {}. ",
                           words_of_largest(truncation.first_order, truncation.largest_x),
                           words_of_largest(truncation.second_order, truncation.largest_x));
    const int order = drawn.order == Order::one ? 1 : 2;
    const int64_t least = (order - 1) * drawn.block;
    return fmt::format(
        "Order {} loses up to {}: it sees {}. {} ", order,
        words_of_largest(order == 1 ? truncation.first_order : truncation.second_order, truncation.largest_x),
        words_of_reach(least, least + drawn.block - 1), words_of_fading(gates));
}

Line line_of_errors(const Figure& figure, const View& view, int order, const std::vector<double>& errors) {
    Line line = line_of(fmt::format("order {}", order), {Ink::Role::kind, order},
                        reduce(std::ssize(errors), view, figure.x.shared, [&](int64_t at) {
                            const double error = errors[static_cast<size_t>(at)];
                            return error > 0 ? error : gap;
                        }));
    line.markers = true;
    return line;
}

void add_marks(Figure& figure, const Truncation& truncation, const Drawn& drawn, const View& view) {
    figure.marks.push_back(line_of_errors(figure, view, 1, truncation.first_order));
    if (!is_exact(truncation.second_order))
        figure.marks.push_back(line_of_errors(figure, view, 2, truncation.second_order));
    lay_floor(figure);
    View visible = view;
    if (drawn.blocks() > blocks_in_sight) {
        figure.x.in_sight = static_cast<double>(blocks_in_sight * drawn.block - 1);
        visible.visible.insert({figure.x.shared, {0, *figure.x.in_sight}});  // unless it is limited
    }
    add_borders(figure, drawn, visible);
}

}  // namespace

Figure truncation_figure(const Result& result, const View& view) {
    const Drawn drawn(result.parameters);
    Figure figure = new_figure("truncation", Place::error, "Truncation error", "",
                               place_axis("position", drawn.length), absolute_error_axis());
    figure.chosen_by = {"drawn_batch", "drawn_head"};
    // A position costs as much as 8 numbers.
    const int64_t count = std::min(drawn.length, most_numbers / (drawn.width + 8));
    const std::string last = with_thousands(count - 1);
    if (view.range_of(figure.x.shared, {}).low >= static_cast<double>(count)) {
        leave_out(figure, "Computed up to position " + last + ": zoom out or pan left.");
        return figure;
    }
    const Truncation truncation = truncation_of(result, drawn, count);
    if (is_exact(truncation.first_order)) {
        leave_out(figure,
                  drawn.blocks() == 1
                      ? "Needs more than one block, so L above BL: inside a block every order is exact."
                      : "Here every order is exact: a gate of 0 starts each block. Set gate above 0.");
        return figure;
    }
    figure.caption = caption_of(drawn, truncation, drawn.gates(result));
    if (drawn.blocks() > blocks_in_sight)
        figure.caption +=
            fmt::format("At first the plot shows {} of {} blocks. ", blocks_in_sight, drawn.blocks());
    if (count < drawn.length) figure.caption += "Computed up to position " + last + ". ";
    add_marks(figure, truncation, drawn, view);
    return figure;
}

}  // namespace sawtooth::btp
