// Lmat of the drawn block, Lmat_ij = a_i ... a_{j+1}, and the errors of its constructions.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/btp/family.h"
#include "kernels/btp/figures/common.h"
#include "kernels/btp/parts.h"

namespace sawtooth::btp {
namespace {

using Gates = std::vector<float>;

const std::vector<Value>& constructions() { return btp_family().parameter("construction")->choices; }

// Calls each(i, j, place in the matrix) for every pair j <= i.
template <class Each>
void each_pair(size_t count, Each&& each) {
    for (size_t i = 0; i < count; ++i)
        for (size_t j = 0; j <= i; ++j) each(i, j, i * count + j);
}

// The products in double precision, [n, n] row-major.
std::vector<double> exact_matrix(const Gates& gates) {
    const size_t n = gates.size();
    std::vector<double> exact(n * n);
    each_pair(
        n, [&](size_t i, size_t j, size_t at) { exact[at] = i == j ? 1 : exact[at - n] * double{gates[i]}; });
    return exact;
}

// The largest distance of each construction, in order; NaN if an element is NaN.
std::vector<double> construction_errors(const Gates& gates) {
    const std::vector<double> exact = exact_matrix(gates);
    std::vector<double> errors;
    for (size_t index = 0; index < constructions().size(); ++index) {
        const std::vector<float> built = transfer_matrix(static_cast<Construction>(index), gates);
        double largest = 0;
        each_pair(gates.size(), [&](size_t, size_t, size_t at) {
            const double error = std::abs(double{built[at]} - exact[at]);
            if (!(error <= largest)) largest = std::isnan(largest) ? largest : error;
        });
        errors.push_back(largest);
    }
    return errors;
}

std::string words_of_matrix(const HeatMap& map, int64_t nans, int64_t zeros,
                            const std::string& construction) {
    const int64_t n = map.rows, pairs = n * (n + 1) / 2;
    const double corner = map.values[static_cast<size_t>((n - 1) * n)];
    std::string words = fmt::format("Built by {}.", construction);
    if (!std::isnan(corner))
        words = fmt::format("The first u of the block reaches its end with weight {:.2g}. {}", corner, words);
    if (nans > 0) words += fmt::format(" NaN in {} of {} elements: a gate is 0.", nans, pairs);
    if (zeros > 0) words += fmt::format(" {} of {} elements are 0.", zeros, pairs);
    return words;
}

Figure matrix_figure(const Result& result, const Drawn& drawn, const Gates& gates) {
    const Range positions = drawn.block_positions();
    const int64_t n = positions.count();
    HeatMap map = heat_map("weight", n, n, positions.first, positions.first);
    map.logarithmic = true;
    map.values.assign(static_cast<size_t>(n * n), gap);
    map.texts.assign(static_cast<size_t>(n * n), "");
    const std::vector<float> built = transfer_matrix(construction_of(result.parameters), gates);
    int64_t nans = 0, zeros = 0;
    each_pair(gates.size(), [&](size_t, size_t, size_t at) {
        map.values[at] = double{built[at]};
        if (std::isnan(built[at])) ++nans, map.texts[at] = "NaN";
        if (built[at] == 0) ++zeros, map.texts[at] = "0";
    });
    Figure figure = new_figure("transfer-matrix", Place::views, "Lmat of " + drawn.words_of_block(),
                               words_of_matrix(map, nans, zeros, result.parameters.text("construction")),
                               {.label = "position of u"}, {.label = "position of v"});
    figure.chosen_by = {"drawn_batch", "drawn_head", "drawn_block"};
    figure.marks.push_back(std::move(map));
    return figure;
}

// One line per construction, without points.
std::vector<Line> lines_of_constructions() {
    std::vector<Line> lines;
    for (const Value& construction : constructions()) {
        Line line = line_of(to_text(construction), {Ink::Role::kind, static_cast<int>(lines.size()) + 1}, {});
        line.markers = true;
        lines.push_back(std::move(line));
    }
    return lines;
}

Figure errors_figure(std::string id, const std::string& title, Axis x) {
    Figure figure = new_figure(std::move(id), Place::views, title, "", std::move(x),
                               {.label = "largest absolute error", .scale = Scale::log10, .minimum = 1e-9});
    figure.chosen_by = {"drawn_batch", "drawn_head", "drawn_block"};
    return figure;
}

// "log_stable within 6e-08, log_difference NaN, …" at the last point of every line.
std::string words_of_errors(const std::vector<Line>& lines, size_t point) {
    std::string words;
    for (const Line& line : lines) {
        const double error = line.y[point];
        words += words.empty() ? "" : ", ";
        words += line.label + (std::isnan(error) ? " is NaN" : fmt::format(" {:.1g}", error));
    }
    return words;
}

// The gate in the middle of the block takes every power of ten down to the least normal f32, and 0.
Figure gate_figure(const Drawn& drawn, Gates gates) {
    constexpr int decades = 38;
    constexpr double place_of_zero = 1e-41;
    const size_t middle = gates.size() / 2;
    Figure figure =
        errors_figure("construction-error", "Error of Lmat as a gate approaches 0, " + drawn.words_of_block(),
                      {.label = fmt::format("gate at position {}",
                                            drawn.block_positions().first + static_cast<int64_t>(middle)),
                       .scale = Scale::log10,
                       .minimum = place_of_zero / 10,
                       .maximum = 1});
    if (gates.size() < 2) {
        figure.missing = figure.title + ". Needs a block of more than one position.";
        return figure;
    }
    std::vector<Line> lines = lines_of_constructions();
    const auto add = [&](double x, const std::vector<double>& errors) {
        for (size_t i = 0; i < lines.size(); ++i) {
            lines[i].x.push_back(x);
            lines[i].y.push_back(errors[i]);
        }
    };
    gates[middle] = 0;
    add(place_of_zero, construction_errors(gates));
    add(place_of_zero * 10, std::vector<double>(lines.size(), gap));
    for (int decade = decades; decade >= 0; --decade) {
        const double gate = std::pow(10, -decade);
        gates[middle] = static_cast<float>(gate);
        add(gate, construction_errors(gates));
    }
    figure.caption = fmt::format("The other gates stay. At 0: {}.", words_of_errors(lines, 0));
    double highest = 1e-6;
    for (const Line& line : lines)
        for (const double error : line.y) highest = std::fmax(highest, error);
    for (const Line& line : lines)
        if (std::isnan(line.y.front()))
            figure.marks.push_back(Note{place_of_zero, highest, line.label + ": NaN"});
    figure.marks.push_back(Rule{Rule::Across::x, place_of_zero, "0", {Ink::Role::quiet}});
    std::move(lines.begin(), lines.end(), std::back_inserter(figure.marks));
    return figure;
}

// Blocks of every length from the start of the drawn one, or as late as the sequence allows.
Figure length_figure(const Result& result, const Drawn& drawn) {
    Figure figure =
        errors_figure("construction-error-by-block", "Error of Lmat by block length, " + drawn.words(),
                      {.label = "BL", .unit = "positions", .scale = Scale::log2});
    std::vector<Line> lines = lines_of_constructions();
    for (Line& line : lines) line.sets.parameter = "BL";
    for (const Value& choice : btp_family().parameter("BL")->choices) {
        const int64_t block = std::get<int64_t>(choice);
        if (block > drawn.length) break;
        const int64_t first = std::min(drawn.block_positions().first, drawn.length - block);
        const auto part = drawn.gates(result).subspan(static_cast<size_t>(first), static_cast<size_t>(block));
        const std::vector<double> errors = construction_errors(Gates(part.begin(), part.end()));
        for (size_t i = 0; i < lines.size(); ++i) {
            lines[i].x.push_back(static_cast<double>(block));
            lines[i].y.push_back(errors[i]);
            lines[i].sets.values.push_back(static_cast<double>(block));
        }
    }
    if (lines.front().x.empty()) {
        figure.missing = figure.title + ". Needs L of at least 16.";
        return figure;
    }
    figure.caption =
        fmt::format("Gates from position {} on. At BL {:.0f}: {}.", drawn.block_positions().first,
                    lines.front().x.back(), words_of_errors(lines, lines.front().x.size() - 1));
    std::move(lines.begin(), lines.end(), std::back_inserter(figure.marks));
    return figure;
}

}  // namespace

std::vector<Figure> transfer_figures(const Result& result) {
    const Drawn drawn(result.parameters);
    const Range positions = drawn.block_positions();
    const auto part = drawn.gates(result).subspan(static_cast<size_t>(positions.first),
                                                  static_cast<size_t>(positions.count()));
    const Gates gates(part.begin(), part.end());
    return {matrix_figure(result, drawn, gates), gate_figure(drawn, gates), length_figure(result, drawn)};
}

}  // namespace sawtooth::btp
