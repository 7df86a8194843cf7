// The error of every construction of Lmat against products in double precision: as gates approach 0, and by
// block length.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/btp/family.h"
#include "kernels/btp/figures/common.h"
#include "kernels/btp/parts.h"

namespace sawtooth::btp {
namespace {

const std::vector<Value>& constructions() { return btp_family().parameter("construction")->choices; }

// The largest distance of an element; NaN if one is NaN.
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
        for (const Value& construction : constructions()) {
            Ink ink{Ink::Role::kind, static_cast<int>(lines.size()) + 1};
            if (construction == Value("double")) ink = {Ink::Role::reference};
            lines.push_back(line_of(to_text(construction), ink, {}));
            lines.back().markers = true;
        }
    }
    void add(double x, std::span<const float> gates) {
        for (size_t i = 0; i < lines.size(); ++i) {
            lines[i].x.push_back(x);
            lines[i].y.push_back(largest_error(transfer_matrix(static_cast<Construction>(i), gates), gates));
        }
    }
    void add_gap(double x) {
        for (Line& line : lines) {
            line.x.push_back(x);
            line.y.push_back(gap);
        }
    }
};

// "log_stable 8e-08, log_difference NaN": the error of each line that error_of gives.
template <class ErrorOf>
std::string words_of(const ErrorLines& all, ErrorOf error_of) {
    std::string words;
    for (const Line& line : all.lines) {
        const double error = error_of(line);
        words += words.empty() ? "" : ", ";
        words += line.label + (std::isnan(error) ? " NaN" : fmt::format(" {:.1g}", error));
    }
    return words;
}

// NaN if all are.
double largest(const Line& line) {
    double most = gap;
    for (const double error : line.y) most = std::fmax(most, error);
    return most;
}

Figure errors_figure(std::string id, const std::string& what, Axis x) {
    Figure figure = new_figure(std::move(id), Place::views, "Error of Lmat " + what, "", std::move(x),
                               {.label = "largest absolute error", .scale = Scale::log10});
    figure.chosen_by = {"drawn_batch", "drawn_head", "drawn_block"};
    return figure;
}

// Every fourth gate takes each power of ten down to that of the least normal f32, and 0.
Figure gate_figure(const Result& result, const Drawn& drawn) {
    constexpr int decades = 38;
    constexpr double place_of_zero = 1e-42;
    Figure figure = errors_figure(
        "construction-error", "as gates approach 0",
        {.label = "every fourth gate", .scale = Scale::log10, .minimum = place_of_zero / 10, .maximum = 10});
    const auto of_block = drawn.gates_of_block(result);
    std::vector<float> gates(of_block.begin(), of_block.end());
    if (gates.size() < 2) {
        leave_out(figure, "Needs a block of more than one position.");
        return figure;
    }
    ErrorLines errors;
    const auto add = [&](double x, double gate) {
        for (size_t i = 1; i < gates.size(); i += 4) gates[i] = static_cast<float>(gate);
        errors.add(x, gates);
    };
    add(place_of_zero, 0);
    errors.add_gap(place_of_zero * 10);
    for (int decade = decades; decade >= 0; --decade) add(std::pow(10, -decade), std::pow(10, -decade));
    std::string at_zero = "0";
    for (const Line& line : errors.lines)
        if (std::isnan(line.y.front())) at_zero += ", " + line.label + ": NaN";
    figure.caption = fmt::format(
        "Largest errors: {}. At 0: {}. The other gates stay as they are. {}", words_of(errors, largest),
        words_of(errors, [](const Line& line) { return line.y.front(); }), drawn.words_of_block());
    figure.marks.push_back(Rule{Rule::Across::x, place_of_zero, at_zero, {Ink::Role::quiet}});
    std::move(errors.lines.begin(), errors.lines.end(), std::back_inserter(figure.marks));
    return figure;
}

// Blocks of every length from the start of the drawn one, or as late as the sequence allows.
Figure length_figure(const Result& result, const Drawn& drawn) {
    Figure figure = errors_figure("construction-error-by-block", "by block length",
                                  {.label = "BL", .unit = "positions", .scale = Scale::log2});
    ErrorLines errors;
    Setting sets{"BL", {}};
    for (const Value& choice : btp_family().parameter("BL")->choices) {
        const int64_t block = std::get<int64_t>(choice);
        if (block > drawn.length) break;
        const int64_t first = std::min(drawn.block_positions().first, drawn.length - block);
        errors.add(static_cast<double>(block),
                   drawn.gates(result).subspan(static_cast<size_t>(first), static_cast<size_t>(block)));
        sets.values.push_back(static_cast<double>(block));
    }
    if (sets.values.empty()) {
        leave_out(figure, "Needs L of at least 16.");
        return figure;
    }
    figure.caption = fmt::format(
        "At BL {:.0f}: {}. Gates of {}, from position {} on.", sets.values.back(),
        words_of(errors, [](const Line& line) { return line.y.back(); }), drawn.words(),
        std::min(drawn.block_positions().first, drawn.length - static_cast<int64_t>(sets.values.back())));
    for (Line& line : errors.lines) {
        line.sets = sets;
        figure.marks.push_back(std::move(line));
    }
    return figure;
}

}  // namespace

std::vector<Figure> construction_figures(const Result& result) {
    const Drawn drawn(result.parameters);
    return {gate_figure(result, drawn), length_figure(result, drawn)};
}

}  // namespace sawtooth::btp
