// The figures specific to the associative scan.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/core/table.h"
#include "kernels/figures/comparison.h"
#include "kernels/figures/correctness.h"
#include "kernels/figures/figures.h"
#include "kernels/figures/launch_figures.h"
#include "kernels/figures/sweep_figures.h"
#include "kernels/figures/without_arrays.h"
#include "kernels/scan/family.h"
#include "kernels/scan/job.h"
#include "kernels/scan/parts.h"

namespace sawtooth::scan {
namespace {

// Kahan summation of one column in f32: its compensation is lost whenever a larger term arrives.
std::vector<float> kahan_scan(const Array& x, const DrawnLine& line, bool flipped) {
    std::vector<float> sums(static_cast<size_t>(line.length));
    volatile float sum = 0,
                   compensation = 0;  // volatile: the compiler must not cancel the compensation
    for (int64_t step = 0; step < line.length; ++step) {
        const int64_t position = flipped ? line.length - 1 - step : step;
        const float term = x.as<float>()[static_cast<size_t>(line.index(position))] - compensation;
        const volatile float next = sum + term;
        const volatile float gained = next - sum;
        compensation = gained - term;
        sum = next;
        sums[static_cast<size_t>(position)] = sum;
    }
    return sums;
}

void add_kahan_errors(Figure& figure, const Result& result, const View& view, const Array& reference,
                      const DrawnLine& line) {
    const bool flipped = reference.name == "y_reverse" || result.parameters.is("direction", "reverse");
    const auto sums = kahan_scan(*find(result.inputs, "x"), line, flipped);
    add_errors(figure, "Kahan summation", {Ink::Role::accent, 0, true}, line.length, view,
               [&](int64_t position) {
                   const double sum = sums[static_cast<size_t>(position)];
                   return std::abs(sum - reference.value(line.index(position)));
               });
}

// Adds the figures of one output: its real and imaginary part over the reference, and its error.
void add_output(std::vector<Figure>& all, const Result& result, const View& view, const Array& reference,
                const DrawnLine& line) {
    all.push_back(output_figure(result, view, reference, line));
    if (reference.dtype == Dtype::complex128)
        all.push_back(output_figure(result, view, reference, line, Part::imaginary));
    all.push_back(error_figure(result, view, reference, line, ErrorOf::drawn_line));
    if (reference.name.starts_with("y") && result.parameters.is("op", "sum"))
        add_kahan_errors(all.back(), result, view, reference, line);
}

void add_output_without_arrays(std::vector<Figure>& all, const Result& result, const View& view,
                               const Array& reference) {
    if (!scan_family().array(reference.name)) return;  // a list of rows
    for (Figure& figure : output_without_arrays(result, view, reference.name, "position"))
        all.push_back(std::move(figure));
    if (reference.dtype == Dtype::complex128)
        for (Figure& figure :
             left_out_without_arrays({{"output-" + reference.name + "-imaginary", Place::outputs,
                                       "Imaginary part of " + reference.name}}))
            all.push_back(std::move(figure));
}

// "hillis_steele: 11 combines, depth 12. sequential: 1 combine, depth 4,096. Depth: …": the variants with the
// least and the most depth. Rows have the columns of the figure; without counts, launches and depth alone.
std::string words_of_work(const std::vector<std::string>& names, const std::vector<std::vector<double>>& rows,
                          int64_t block_size, bool counts) {
    constexpr size_t combines = 1;
    auto least = rows.end(), most = rows.end();
    bool all_known = true;
    for (auto row = rows.begin(); row != rows.end(); ++row) {
        all_known = all_known && !std::isnan(row->back());
        if (std::isnan(row->back())) continue;
        if (least == rows.end() || row->back() < least->back()) least = row;
        if (most == rows.end() || row->back() >= most->back()) most = row;
    }
    if (least == rows.end())
        return "The depth of tiles on a GPU depends on how threads share them, so it is left out.";
    const auto words = [&](auto row) {
        const std::string count = counts ? rounded((*row)[combines], 3) : "";
        return fmt::format("{}: {}{}depth {}.", names[static_cast<size_t>(row - rows.begin())], count,
                           !counts        ? ""
                           : count == "1" ? " combine, "
                                          : " combines, ",
                           with_thousands(std::llround(row->back())));
    };
    return words(least) + (least == most ? "" : " " + words(most)) +
           fmt::format(" Depth with blocks of {}: the longest chain of combines.", block_size) +
           (all_known
                ? ""
                : " The depth of tiles on a GPU depends on how threads share them, so it is left out.") +
           (counts ? "" : " Combines, reads and writes are counted on the CPU only.");
}

Figure work_figure(const Result& result) {
    const bool counts = result.backend == Backend::cpu;
    Figure figure = new_figure("work-and-depth", Place::views,
                               counts ? "Work per element, and depth" : "Launches and depth", "", {}, {});
    Matrix matrix;
    matrix.column_labels = {"launches", "depth"};
    if (counts) matrix.column_labels = {"launches", "combines", "reads", "writes", "depth"};
    matrix.kinds = {{"counted", {Ink::Role::quiet}}, {"lowest in column", {Ink::Role::accent}}};
    std::vector<std::vector<double>> numbers;
    const int64_t block_size = block_size_of(result.parameters, result.backend);
    const auto size = [&](const char* name) { return static_cast<double>(result.parameters.integer(name)); };
    const double elements = size("batch") * size("length") * size("channels") *
                            (result.parameters.is("op", "complex_sum") ? 2 : 1);
    for (const VariantResult& variant : result.variants) {
        if (!variant.ran() || variant.launches.empty()) continue;
        Tally tally;
        for (const LaunchRecord& launch : variant.launches) tally += launch.tally;
        std::vector<double> row{static_cast<double>(variant.launches.size())};
        if (counts)
            for (const int64_t count : {tally.combines, tally.read, tally.written})
                row.push_back(static_cast<double>(count) / elements);
        const auto depth = depth_of(scan_family().variants[static_cast<size_t>(variant.index)],
                                    result.parameters, result.backend, block_size);
        row.push_back(depth ? static_cast<double>(*depth) : gap);
        matrix.row_labels.push_back(variant.name);
        numbers.push_back(std::move(row));
    }
    if (numbers.empty()) {
        figure.missing = "Counted work of every variant. Set profile to timeline and run (press F5).";
        return figure;
    }
    for (const auto& row : numbers)
        for (size_t c = 0; c < row.size(); ++c) {
            const bool is_known = !std::isnan(row[c]);
            const bool least =
                is_known && std::all_of(numbers.begin(), numbers.end(), [&](const auto& other) {
                    return std::isnan(other[c]) || row[c] <= other[c] * 1.0001;
                });
            const bool whole = c == 0 || c + 1 == row.size();
            matrix.cells.push_back(!is_known ? -1 : least ? 1 : 0);
            matrix.texts.push_back(!is_known ? "not known"
                                   : whole   ? fmt::format("{:.0f}", row[c])
                                             : fmt::format("{:.3g}", row[c]));
        }
    figure.caption = words_of_work(matrix.row_labels, numbers, block_size, counts);
    figure.marks.push_back(std::move(matrix));
    return figure;
}

std::string range_text(int64_t first, int64_t last) {
    return first == last ? std::to_string(first) : std::to_string(first) + ":" + std::to_string(last);
}

Figure example_figure(std::string id, std::string title, std::string caption, Tree tree,
                      std::vector<std::string> rows) {
    Figure figure = new_figure(std::move(id), Place::views, std::move(title), std::move(caption),
                               {.label = "position"}, {.label = "step", .categories = std::move(rows)});
    figure.chosen_by = {"example_length", "example_step"};
    figure.marks.push_back(std::move(tree));
    return figure;
}

// Rows from the top: the input, then one per step; node (k, i) holds the combination of inputs from - to.
Figure ladder_figure(const Parameters& parameters) {
    const int64_t length = parameters.integer("example_length"), steps = levels_of(length);
    const int64_t lit = std::min(parameters.integer("example_step"), steps);
    Tree tree;
    std::vector<std::string> rows = {"x"};
    for (int64_t step = 0; step <= steps; ++step) {
        const int64_t reach = step == 0 ? 0 : int64_t{1} << (step - 1);
        for (int64_t i = 0; i < length; ++i) {
            const int64_t first = std::max<int64_t>(i + 1 - (int64_t{1} << step), 0);
            const bool joins = step > 0 && i >= reach;
            const auto node = static_cast<int>(tree.nodes.size());
            const auto above = static_cast<int>(node - length);
            tree.nodes.push_back({static_cast<double>(i), static_cast<double>(step), range_text(first, i),
                                  step == lit && joins});
            if (step == 0) continue;
            tree.edges.push_back({above, node, step == lit && joins});
            if (joins) tree.edges.push_back({above - static_cast<int>(reach), node, step == lit});
        }
        if (step > 0) rows.push_back("reach " + std::to_string(reach));
    }
    return example_figure(
        "ladder-hillis-steele", "Hillis-Steele network",
        fmt::format("In step k, each position combines with the one 2^(k - 1) positions before it. "
                    "a:b combines inputs a to b. Highlighted: step {} of {}.",
                    lit, steps),
        std::move(tree), std::move(rows));
}

Figure tree_figure(const Parameters& parameters) {
    const int64_t length = parameters.integer("example_length"), levels = levels_of(length);
    const int64_t steps = 2 * levels - 1, lit = std::min(parameters.integer("example_step"), steps);
    Tree tree;
    std::vector<std::string> rows;
    std::vector<int> above;  // nodes of the previous row
    const auto span_of = [&](int64_t height, int64_t node) {
        const int64_t first = node << height;
        return std::pair{first, std::min(first + (int64_t{1} << height), length) - 1};
    };
    const auto add = [&](int64_t step, double x, std::string text, bool is_lit) {
        tree.nodes.push_back({x, static_cast<double>(step), std::move(text), is_lit});
        return static_cast<int>(tree.nodes.size()) - 1;
    };
    const auto nodes_at = [&](int64_t height) { return (length + (int64_t{1} << height) - 1) >> height; };
    const auto middle = [&](int64_t height, int64_t node) {
        const auto [first, last] = span_of(height, node);
        return static_cast<double>(first + last) / 2;
    };

    for (int64_t height = 0; height < levels; ++height) {
        std::vector<int> row;
        for (int64_t node = 0; node < nodes_at(height); ++node) {
            const auto [first, last] = span_of(height, node);
            const bool joins = height > 0 && 2 * node + 1 < nodes_at(height - 1);
            row.push_back(add(height, middle(height, node), range_text(first, last), height == lit && joins));
            for (int64_t child = 2 * node; height > 0 && child < std::min(2 * node + 2, nodes_at(height - 1));
                 ++child)
                tree.edges.push_back({above[static_cast<size_t>(child)], row.back(), height == lit && joins});
        }
        rows.push_back(height == 0 ? "x" : "up " + std::to_string(height));
        above = std::move(row);
    }
    // The down-sweep: the prefix of every node; its first step starts from the empty prefix of the root.
    above.clear();
    for (int64_t height = levels - 1; height >= 0; --height) {
        const int64_t step = 2 * levels - 1 - height;
        std::vector<int> row;
        for (int64_t node = 0; node < nodes_at(height); ++node) {
            const auto [first, last] = span_of(height, node);
            const bool is_leaf = height == 0;
            const std::string text = is_leaf      ? range_text(0, last)
                                     : first == 0 ? "-"
                                                  : range_text(0, first - 1);
            row.push_back(add(step, middle(height, node), text, step == lit));
            if (!above.empty())
                tree.edges.push_back({above[static_cast<size_t>(node / 2)], row.back(), step == lit});
        }
        rows.push_back("down " + std::to_string(levels - height));
        above = std::move(row);
    }
    return example_figure(
        "tree-blelloch", "Blelloch tree",
        fmt::format("Totals go up, then prefixes come down; leaves join their own value last. "
                    "Highlighted: step {} of {}.",
                    lit, steps),
        std::move(tree), std::move(rows));
}

double speed_up(const Result& result, const VariantResult& variant) {
    const VariantResult* const sequential = find(result, "sequential");
    const bool have_speed = sequential && has_speed(*sequential) && has_speed(variant);
    return have_speed ? sequential->time->median / variant.time->median : gap;
}

// The timed variants of the last cell.
std::vector<const VariantResult*> timed_at_last(const SweepResult& sweep) {
    std::vector<const VariantResult*> timed;
    if (!sweep.cells.empty() && sweep.cells.back().result)
        for (const VariantResult& variant : sweep.cells.back().result->variants)
            if (variant.time) timed.push_back(&variant);
    return timed;
}

std::string last_length(const SweepResult& sweep) {
    return with_thousands(sweep.cells.back().result->parameters.integer("length"));
}

// "At length 16,384, lookback is fastest." once the sweep is complete.
std::string words_of_fastest(const SweepResult& sweep) {
    if (!sweep.complete || timed_at_last(sweep).empty()) return progress_words(sweep);
    const Result& result = *sweep.cells.back().result;
    std::vector<std::string> names;
    for (const VariantResult* variant : fastest_right(result)) names.push_back(variant->name);
    if (names.empty()) return "";
    if (names.size() == 1)
        return fmt::format("At length {}, {} is fastest.", last_length(sweep), names.front());
    if (names.size() == timed_at_last(sweep).size())
        return fmt::format("Which is fastest at length {} cannot be told.", last_length(sweep));
    return fmt::format("At length {}, {} may be fastest.", last_length(sweep), either_of(names));
}

// The speed-up that lookback reaches here, and the one that Fused Associative Scan Implementation reports.
std::string words_of_speed_up(const SweepResult& sweep) {
    std::string words = progress_words(sweep);
    const auto timed = timed_at_last(sweep);
    const auto named = [&](const char* name) {
        const auto found = std::find_if(timed.begin(), timed.end(),
                                        [&](const VariantResult* each) { return each->name == name; });
        return found == timed.end() ? nullptr : *found;
    };
    const VariantResult *const sequential = named("sequential"), *const lookback = named("lookback");
    if (sweep.complete && sequential && lookback)
        words += fmt::format("At length {}, {}. ", last_length(sweep),
                             comparison_words("lookback", "sequential",
                                              compare(*sweep.cells.back().result, *lookback, *sequential)));
    return words + "Fused Associative Scan Implementation reports 3.1x to 3.5x over torch.cumsum on its GPU.";
}

std::vector<Figure> length_figures(const SweepResult& sweep) {
    const Axis length = swept_axis(sweep.sweep.axes.front(), *scan_family().parameter("length"));
    Figure time = time_against(sweep, words_of_fastest(sweep), length, timed_curves_of(sweep, median_us));
    Figure faster = figure_against("speed-up", words_of_speed_up(sweep), length,
                                   {.label = "speed-up", .unit = "x", .scale = Scale::log10},
                                   timed_curves_of(sweep, speed_up));
    faster.title = "Speed-up over sequential";
    add_beside_data(
        faster,
        Rule{Rule::Across::y, 3, "goal of Fused Associative Scan Implementation: 3x", {Ink::Role::limit}});
    Figure rate = figure_against("rate", "Minimum bytes to move, divided by the measured time.", length,
                                 {.label = "rate", .unit = "GB/s", .minimum = 0},
                                 timed_curves_of(sweep, gigabytes_per_second));
    add_beside_data(rate, copy_rates(sweep));
    return {std::move(time), std::move(faster), std::move(rate)};
}

std::vector<Figure> block_size_figures(const SweepResult& sweep) {
    Figure figure =
        time_against(sweep, progress_words(sweep) + "Marked: the automatic choice. sequential has no blocks.",
                     {.label = "block_size", .unit = "positions", .scale = Scale::log2},
                     timed_curves_of(sweep, median_us));
    const auto measured =
        std::ranges::find_if(sweep.cells, [](const SweepCell& cell) { return cell.result != nullptr; });
    if (measured != sweep.cells.end()) {
        const int64_t chosen = automatic_block_size(sweep.sweep.base.parameters, measured->result->backend);
        add_beside_data(figure,
                        Rule{Rule::Across::x, static_cast<double>(chosen), "auto", {Ink::Role::accent}});
    }
    return {std::move(figure)};
}

// "rel L2 error of sequential: 6.7e-07; with compensation (dotted) 5.9e-08." for the main output.
std::string words_of_compensation(const SweepResult& sweep) {
    std::vector<double> errors;
    for (const SweepCell& cell : sweep.cells) {
        const VariantResult* const sequential = cell.result ? find(*cell.result, "sequential") : nullptr;
        const auto error = sequential ? reference_error(*cell.result, *sequential) : std::nullopt;
        if (error) errors.push_back(*error);
    }
    // Cells of a recording have no errors by position.
    const auto is_dotted = [](const VariantResult& variant) {
        return std::ranges::any_of(variant.errors,
                                   [](const OutputError& error) { return !error.by_position.empty(); });
    };
    const bool has_dotted = std::ranges::any_of(sweep.cells, [&](const SweepCell& cell) {
        return cell.result && cell.values.front() == Value(true) &&
               std::ranges::any_of(cell.result->variants, is_dotted);
    });
    if (errors.size() != 2) return has_dotted ? "Dotted: with compensation." : "";
    return fmt::format("rel L2 error of sequential: {}; with compensation{} {}.", error_words(errors[0]),
                       has_dotted ? " (dotted)" : "", error_words(errors[1]));
}

std::vector<Figure> compensation_figures(const SweepResult& sweep) {
    return {error_by_value(sweep, "error-compensation", "Error with and without compensation",
                           words_of_compensation(sweep),
                           place_axis("position", sweep.sweep.base.parameters.integer("length")))};
}

}  // namespace

std::vector<FigureSweep> sweeps(const Parameters& parameters) {
    std::vector<FigureSweep> all;
    SweepAxis lengths{"length", {}};
    for (int64_t length = 512; length <= 16384; length *= 2) lengths.values.emplace_back(length);
    // Longer ones follow up to the length that is set, in fewer steps, as the last ones take longest.
    const int64_t present = parameters.integer("length");
    for (int64_t length = 65536; length < present; length *= 4) lengths.values.emplace_back(length);
    if (present > 16384) lengths.values.emplace_back(present);
    all.push_back({"length", "time against length", {lengths}, {}, {}, length_figures});
    const SweepAxis blocks{"block_size", {int64_t{128}, int64_t{256}, int64_t{512}, int64_t{1024}}};
    all.push_back({"block_size", "time against block_size", {blocks}, {}, {}, block_size_figures});
    if (parameters.is("op", "sum") || parameters.is("op", "complex_sum"))
        all.push_back({"compensated",
                       "error with and without compensation",
                       {{"compensated", {false, true}}},
                       {},
                       {"sequential", "lookback"},
                       compensation_figures});
    return all;
}

std::vector<Figure> figures(const Result& result, const View& view) {
    const LineChooser chooser{
        scan_family(), "position", {{"batch", "drawn_batch"}, {"channels", "drawn_channel"}}};
    std::vector<Figure> all;
    for (const Array& reference : result.reference) {
        if (!has_arrays(result))
            add_output_without_arrays(all, result, view, reference);
        else if (const auto line = chooser.line(reference, result.parameters))
            add_output(all, result, view, reference, *line);
    }
    all.push_back(work_figure(result));
    for (Figure& figure : launches_figures(result, view, "Launches")) all.push_back(std::move(figure));
    all.push_back(tree_figure(result.parameters));
    all.push_back(ladder_figure(result.parameters));
    return all;
}

}  // namespace sawtooth::scan
