// The truncation error of order 2 against the size of a constant gate: how far information travels.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/btp/figures/common.h"

namespace sawtooth::btp {
namespace {

// With more positions the window would wait for the figure.
constexpr int64_t most_positions = int64_t{1} << 13;
// Half-lives of gates, from 1 position to 2^10.
constexpr int octaves = 10, steps_per_octave = 2;
constexpr double f32_rounding = 0x1p-24;

double half_life_of(double gate) { return -1 / std::log2(gate); }

// Returns for every block length the largest error relative to the largest |x|; 0 without a third block. The
// error is largest at the starts of blocks, where it is gate^(BL + 1) times the exact state BL + 1 positions
// before.
std::vector<double> losses(std::span<const float> u, double gate, const std::vector<int64_t>& blocks) {
    std::vector<double> missed(blocks.size());
    double state = 0, largest = 0;
    for (size_t t = 0; t < u.size(); ++t) {
        state = gate * state + double{u[t]};
        largest = std::max(largest, std::abs(state));
        for (size_t i = 0; i < blocks.size(); ++i) {
            const auto block = static_cast<size_t>(blocks[i]);
            const bool is_end = (t + 1) % block == 0, is_missed = t + 1 + block < u.size();
            if (is_end && is_missed) missed[i] = std::max(missed[i], std::abs(state));
        }
    }
    for (size_t i = 0; i < blocks.size(); ++i)
        if (missed[i] > 0) missed[i] *= std::pow(gate, static_cast<double>(blocks[i] + 1)) / largest;
    return missed;
}

// Returns a line per block length that loses something, with that of the result emphasised.
std::vector<Line> lines_of(std::span<const float> u, const Drawn& drawn) {
    const std::vector<int64_t> blocks = compared_lengths(drawn);
    std::vector<Line> lines;
    Ink other{Ink::Role::quiet};
    for (const int64_t block : blocks) {
        const bool is_drawn = block == drawn.block;
        lines.push_back(line_of(fmt::format("BL {}", block), is_drawn ? Ink{Ink::Role::accent} : other, {}));
        lines.back().markers = true;
        if (!is_drawn) other.dashed = true;
    }
    for (int step = 0; step <= steps_per_octave * octaves; ++step) {
        const double half_life = std::exp2(static_cast<double>(step) / steps_per_octave);
        const std::vector<double> lost = losses(u, std::exp2(-1 / half_life), blocks);
        for (size_t i = 0; i < blocks.size(); ++i) {
            if (lost[i] == 0) continue;
            lines[i].x.push_back(half_life);
            lines[i].y.push_back(lost[i]);
        }
    }
    std::erase_if(lines, [](const Line& line) { return line.x.empty(); });
    return lines;
}

// Returns text such as "With BL 16, order 2 is within 1 % up to a gate of 0.707, a half-life of 2
// positions: …".
std::string words_of(const std::vector<Line>& lines, const Drawn& drawn) {
    const std::string label = fmt::format("BL {}", drawn.block);
    const auto line =
        std::find_if(lines.begin(), lines.end(), [&](const Line& each) { return each.label == label; });
    std::string words = fmt::format("With {}, order 2 ", label);
    if (line == lines.end()) return words + "loses nothing: there are at most two blocks.";
    double within = 0;  // the longest half-life
    for (size_t i = 0; i < line->x.size(); ++i)
        if (line->y[i] <= 0.01) within = line->x[i];
    if (within == 0)
        words += "loses more than 1 % at every gate from 0.5 on";
    else
        words += fmt::format("is within 1 % up to a gate of {:.3g}, a half-life of {:.3g} positions",
                             std::exp2(-1 / within), within);
    return words + ".";
}

}  // namespace

Figure truncation_by_gate_figure(const Result& result) {
    const Drawn drawn(result.parameters);
    const auto u = drawn.inputs(result, drawn.channel);
    std::vector<Line> lines =
        lines_of(u.first(static_cast<size_t>(std::min(drawn.length, most_positions))), drawn);
    Figure figure =
        new_figure("truncation_by_gate", Place::views, "Error by gate, the same at all positions",
                   words_of(lines, drawn),
                   {.label = "half-life of a constant gate", .unit = "positions", .scale = Scale::log2},
                   {.label = "relative error", .scale = Scale::log10, .minimum = f32_rounding / 2});
    figure.chosen_by = {"drawn_batch", "drawn_head", "drawn_channel"};
    if (lines.empty()) {
        leave_out(figure, fmt::format("Needs more than two blocks, so L above {}.",
                                      2 * compared_lengths(drawn).front()));
        return figure;
    }
    std::move(lines.begin(), lines.end(), std::back_inserter(figure.marks));
    figure.marks.push_back(Rule{Rule::Across::y, 0.01, "1 %", {Ink::Role::quiet}});
    figure.marks.push_back(Rule{Rule::Across::y, f32_rounding, "f32 rounding", {Ink::Role::limit}});
    const double median = median_gate(drawn.gates(result)), half_life = half_life_of(median);
    if (half_life >= 1 && half_life <= std::exp2(octaves))
        figure.marks.push_back(
            Rule{Rule::Across::x, half_life, fmt::format("median gate {:.3g}", median), {Ink::Role::accent}});
    return figure;
}

}  // namespace sawtooth::btp
