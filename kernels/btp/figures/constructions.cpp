// The error of every construction of Lmat against products in float64, as gates approach 0 and by block
// length.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/btp/family.h"
#include "kernels/btp/figures/common.h"
#include "kernels/btp/parts.h"

namespace sawtooth::btp {
namespace {

constexpr double rounding = 1e-6;  // smaller errors are roundings of f32
constexpr double in_sight = 1e-8;  // smaller ones are not drawn

// Returns the largest error of an entry; NaN if one is NaN.
double largest_error(const std::vector<float>& built, std::span<const float> gates) {
    const size_t n = gates.size();
    double largest = 0;
    for (size_t j = 0; j < n; ++j) {
        double exact = 1;
        for (size_t i = j; i < n; ++i) {
            if (i > j) exact *= double{gates[i]};
            const double error = std::abs(double{built[i * n + j]} - exact);
            if (std::isnan(error)) return gap;
            largest = std::max(largest, error);
        }
    }
    return largest;
}

// One line per construction, with the same x.
struct ErrorLines {
    std::vector<Line> lines;

    ErrorLines() {
        for (const Value& construction : btp_family().parameter("construction")->choices) {
            Ink ink{Ink::Role::kind, static_cast<int>(lines.size()) + 1};
            if (construction == Value("double")) ink = {Ink::Role::reference};
            lines.push_back(line_of(to_text(construction), ink, {}));
            lines.back().markers = true;
        }
    }
    void add(double x, std::span<const float> gates) {
        for (Line& line : lines) {
            line.x.push_back(x);
            line.y.push_back(largest_error(transfer_matrix(construction_named(line.label), gates), gates));
        }
    }
    void add_gap(double x) {
        for (Line& line : lines) {
            line.x.push_back(x);
            line.y.push_back(gap);
        }
    }
};

// Returns the largest y of a line; 0 if all are NaN.
double largest_of(const Line& line) {
    double largest = 0;
    for (const double error : line.y) largest = std::fmax(largest, error);
    return largest;
}

// Returns text such as "log_difference is off by up to 1e-05 and NaN at 0, cumprod_ratio is off by up to 1;
// the others stay within 5e-08."
std::string words_of_worst(const std::vector<Line>& lines) {
    std::string words;
    double within = 0;
    for (const Line& line : lines) {
        const double largest = largest_of(line);
        const bool is_nan = std::isnan(line.y.front());
        if (largest <= rounding && !is_nan) {
            within = std::max(within, largest);
            continue;
        }
        words += (words.empty() ? "" : ", ") + line.label + " is ";
        words += largest == 0 ? "NaN"
                              : fmt::format("off by up to {:.1g}{}", largest, is_nan ? " and NaN at 0" : "");
    }
    return fmt::format("{}{} within {:.1g}.", words, words.empty() ? "All stay" : "; the others stay",
                       within);
}

// Returns the errors at the last point, such as "log_stable 8e-08, log_difference NaN".
std::string words_of_last(const std::vector<Line>& lines) {
    std::string words;
    for (const Line& line : lines) {
        words += words.empty() ? "" : ", ";
        words += line.label + (std::isnan(line.y.back()) ? " NaN" : fmt::format(" {:.1g}", line.y.back()));
    }
    return words;
}

Figure errors_figure(std::string id, std::string title, Axis x) {
    Figure figure = new_figure(std::move(id), Place::views, std::move(title), "", std::move(x),
                               {.label = "largest error", .scale = Scale::log10, .minimum = in_sight});
    figure.chosen_by = {"drawn_batch", "drawn_head", "drawn_block"};
    return figure;
}

void add_lines(Figure& figure, ErrorLines errors) {
    const bool any_in_sight = std::any_of(errors.lines.begin(), errors.lines.end(),
                                          [](const Line& line) { return largest_of(line) >= in_sight; });
    if (!any_in_sight)
        return leave_out(figure, "No construction is off by more than 1e-8: choose another drawn_block.");
    std::move(errors.lines.begin(), errors.lines.end(), std::back_inserter(figure.marks));
}

// Draws errors with every fourth gate set to each power of ten down to 1e-38, near the least normal f32, and
// to 0.
Figure gate_figure(const Result& result, const Drawn& drawn) {
    constexpr int decades = 38;
    constexpr double place_of_zero = 5e-40;
    Figure figure = errors_figure(
        "construction-error", "Lmat error by gate",
        {.label = "every fourth gate", .scale = Scale::log10, .minimum = place_of_zero / 4, .maximum = 4});
    const auto of_block = drawn.gates_of_block(result);
    std::vector<float> gates(of_block.begin(), of_block.end());
    ErrorLines errors;
    const auto add = [&](double x, double gate) {
        for (size_t i = 1; i < gates.size(); i += 4) gates[i] = static_cast<float>(gate);
        errors.add(x, gates);
    };
    add(place_of_zero, 0);
    errors.add_gap(2 * place_of_zero);
    for (int decade = decades; decade >= 0; --decade) add(std::pow(10, -decade), std::pow(10, -decade));
    std::string zero = "0";
    for (const Line& line : errors.lines)
        if (std::isnan(line.y.front())) zero += ", " + line.label + ": NaN";
    figure.marks.push_back(Rule{Rule::Across::x, place_of_zero, zero, {Ink::Role::quiet}});
    figure.caption = words_of_worst(errors.lines);
    add_lines(figure, std::move(errors));
    return figure;
}

// Draws errors of blocks of every length that start where the drawn one does, or as late as the sequence
// allows.
Figure length_figure(const Result& result, const Drawn& drawn) {
    Figure figure = errors_figure("construction-error-by-block", "Lmat error by BL",
                                  {.label = "BL", .unit = "positions", .scale = Scale::log2});
    ErrorLines errors;
    Setting sets{"BL", {}};
    for (const int64_t block : compared_lengths(drawn)) {
        if (block > drawn.length) break;
        const int64_t first = std::min(drawn.block_positions().first, drawn.length - block);
        errors.add(static_cast<double>(block),
                   drawn.gates(result).subspan(static_cast<size_t>(first), static_cast<size_t>(block)));
        sets.values.push_back(static_cast<double>(block));
    }
    if (sets.values.empty()) {
        leave_out(figure, "Needs a block: set L to at least 16.");
        return figure;
    }
    figure.caption = fmt::format("BL {:.0f}: {}.", sets.values.back(), words_of_last(errors.lines));
    for (Line& line : errors.lines) line.sets = sets;
    add_lines(figure, std::move(errors));
    return figure;
}

}  // namespace

std::vector<Figure> construction_figures(const Result& result) {
    const Drawn drawn(result.parameters);
    return {gate_figure(result, drawn), length_figure(result, drawn)};
}

}  // namespace sawtooth::btp
