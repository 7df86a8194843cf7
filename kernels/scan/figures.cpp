#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "kernels/core/series.h"
#include "kernels/scan/job.h"
#include "kernels/scan/parts.h"

namespace sawtooth::scan {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

Ink ink_of(const VariantResult& variant) { return {Ink::Role::variant, variant.index}; }

// The sequence and channel that the plots show.
struct Drawn {
    int64_t batch, channel, length, channels;

    explicit Drawn(const Parameters& parameters)
        : batch(std::min(parameters.integer("drawn_batch"), parameters.integer("batch") - 1)),
          channel(std::min(parameters.integer("drawn_channel"), parameters.integer("channels") - 1)),
          length(parameters.integer("length")),
          channels(parameters.integer("channels")) {}

    int64_t index(int64_t position) const { return (batch * length + position) * channels + channel; }
    std::string words() const {
        return "sequence " + std::to_string(batch) + ", channel " + std::to_string(channel);
    }
};

Axis position_axis(int64_t length) {
    return {
        .label = "position", .minimum = 0, .maximum = static_cast<double>(length - 1), .shared = "position"};
}

enum class Part { real, imaginary };

Figure output_figure(const Result& result, const View& view, const Array& reference, Part part) {
    const Drawn drawn(result.parameters);
    const bool imaginary = part == Part::imaginary;
    const auto column = [&](const Array& array) {
        return reduce(drawn.length, view, "position", [&](int64_t position) {
            const auto value = array.value(drawn.index(position));
            return imaginary ? value.imag() : value.real();
        });
    };
    Figure figure;
    figure.id = "output-" + reference.name + (imaginary ? "-imaginary" : "");
    figure.place = Place::outputs;
    const bool complex = reference.dtype == Dtype::complex128;
    figure.title = (imaginary ? "Imaginary part of "
                    : complex ? "Real part of "
                              : "") +
                   reference.name + ", " + drawn.words();
    figure.caption = "Every variant over the double-precision reference; lines that agree lie on each other.";
    figure.x = position_axis(drawn.length);
    figure.y.label = reference.name;
    Series truth = column(reference);
    figure.marks.push_back(
        Line{"reference, f64", {Ink::Role::reference}, std::move(truth.x), std::move(truth.y)});
    for (const VariantResult& variant : result.variants) {
        const Array* const output = find(variant.outputs, reference.name);
        if (!output) continue;
        Series series = column(*output);
        figure.marks.push_back(Line{variant.name, ink_of(variant), std::move(series.x), std::move(series.y)});
    }
    return figure;
}

// What Kahan's loop makes of one column in f32: its compensation is dropped whenever a larger term arrives.
std::vector<float> kahan_scan(const Array& x, const Drawn& drawn, bool flipped) {
    std::vector<float> sums(static_cast<size_t>(drawn.length));
    volatile float sum = 0,
                   compensation = 0;  // volatile: the compiler must not cancel what the loop is about
    for (int64_t step = 0; step < drawn.length; ++step) {
        const int64_t position = flipped ? drawn.length - 1 - step : step;
        const float term = x.as<float>()[static_cast<size_t>(drawn.index(position))] - compensation;
        const volatile float next = sum + term;
        const volatile float gained = next - sum;
        compensation = gained - term;
        sum = next;
        sums[static_cast<size_t>(position)] = sum;
    }
    return sums;
}

Figure error_figure(const Result& result, const View& view, const Array& reference) {
    const Drawn drawn(result.parameters);
    Figure figure;
    figure.id = "error-" + reference.name;
    figure.place = Place::error;
    figure.title = "Error of " + reference.name + " by position, " + drawn.words();
    figure.caption = "Distance to the double-precision reference; exact positions lie on the floor.";
    figure.x = position_axis(drawn.length);
    figure.y = {.label = "absolute error", .scale = Scale::log10};
    const auto add = [&](std::string label, Ink ink, auto&& value_at) {
        Series series = reduce(drawn.length, view, "position", [&](int64_t position) {
            const int64_t i = drawn.index(position);
            return std::abs(value_at(position, i) - reference.value(i));
        });
        figure.marks.push_back(Line{std::move(label), ink, std::move(series.x), std::move(series.y)});
    };
    for (const VariantResult& variant : result.variants)
        if (const Array* const output = find(variant.outputs, reference.name))
            add(variant.name, ink_of(variant), [output](int64_t, int64_t i) { return output->value(i); });
    if (reference.name.starts_with("y") && result.parameters.is("op", "sum")) {
        const bool flipped = reference.name == "y_reverse" || result.parameters.is("direction", "reverse");
        const auto sums = kahan_scan(*find(result.inputs, "x"), drawn, flipped);
        add("sequential, Kahan's loop", {Ink::Role::accent, 0, true}, [&](int64_t position, int64_t) {
            return std::complex<double>(sums[static_cast<size_t>(position)]);
        });
    }
    return figure;
}

std::string with_digits(const char* format, double value) {
    char text[32];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

Figure work_figure(const Result& result) {
    Figure figure;
    figure.id = "work-and-depth";
    figure.place = Place::views;
    figure.title = "Work and depth";
    figure.caption =
        "Combines and memory traffic as the kernels counted them, an element; depth is the longest chain.";
    Matrix matrix;
    matrix.column_labels = {"launches", "combines", "reads", "writes", "depth"};
    matrix.kinds = {{"counted", {Ink::Role::quiet}}, {"least of the column", {Ink::Role::accent}}};
    std::vector<std::vector<double>> numbers;
    const double elements = static_cast<double>(count_of(find(result.inputs, "x")->shape)) *
                            (result.parameters.is("op", "complex_sum") ? 2 : 1);
    for (const VariantResult& variant : result.variants) {
        if (!variant.ran() || variant.launches.empty()) continue;
        Tally tally;
        for (const LaunchRecord& launch : variant.launches) tally += launch.tally;
        matrix.row_labels.push_back(variant.name);
        numbers.push_back(
            {static_cast<double>(variant.launches.size()), static_cast<double>(tally.combines) / elements,
             static_cast<double>(tally.read) / elements, static_cast<double>(tally.written) / elements,
             static_cast<double>(algorithms()[static_cast<size_t>(variant.index)].depth(
                 result.parameters.integer("length"), block_size_of(result.parameters)))});
    }
    if (numbers.empty()) {
        figure.missing = "Counted work of every variant, once a run has been measured with profile timeline.";
        return figure;
    }
    for (const auto& row : numbers)
        for (size_t c = 0; c < row.size(); ++c) {
            const bool least = std::all_of(numbers.begin(), numbers.end(),
                                           [&](const auto& other) { return row[c] <= other[c] * 1.0001; });
            matrix.cells.push_back(least ? 1 : 0);
            matrix.texts.push_back(with_digits(c == 0 || c == 4 ? "%.0f" : "%.3g", row[c]));
        }
    figure.marks.push_back(std::move(matrix));
    return figure;
}

std::string range_text(int64_t first, int64_t last) {
    return first == last ? std::to_string(first) : std::to_string(first) + ":" + std::to_string(last);
}

Figure example_figure(std::string id, std::string title, std::string caption, Tree tree,
                      std::vector<std::string> rows) {
    Figure figure;
    figure.id = std::move(id);
    figure.place = Place::views;
    figure.title = std::move(title);
    figure.caption = std::move(caption);
    figure.x.label = "position";
    figure.y = {.label = "step", .categories = std::move(rows)};
    figure.marks.push_back(std::move(tree));
    return figure;
}

// Rows from the top: the input, then one a step; node (k, i) holds the combination of inputs from - to.
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
    return example_figure("ladder-hillis-steele", "Ladder of Hillis and Steele",
                          "Every step doubles the reach; a:b is the combination of inputs a to b. Step " +
                              std::to_string(lit) + " of " + std::to_string(steps) + " is lit.",
                          std::move(tree), std::move(rows));
}

Figure tree_figure(const Parameters& parameters) {
    const int64_t length = parameters.integer("example_length"), levels = levels_of(length);
    const int64_t steps = 2 * levels - 1, lit = std::min(parameters.integer("example_step"), steps);
    Tree tree;
    std::vector<std::string> rows;
    std::vector<int> above;  // nodes of the row before
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
    // The down-sweep: what stands before every node; its first step starts from the empty prefix of the root.
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
        "tree-blelloch", "Tree of Blelloch",
        "Totals go up, then prefixes come down: what stands before a node, the leaves' own value "
        "joined last. Step " +
            std::to_string(lit) + " of " + std::to_string(steps) + " is lit.",
        std::move(tree), std::move(rows));
}

// A curve a variant of `number` against the values of the sweep's first axis.
template <class Number>
void add_curves(Figure& figure, const SweepResult& sweep, Number&& number) {
    std::vector<Line> lines;
    for (const SweepCell& cell : sweep.cells) {
        if (!cell.result) continue;
        for (const VariantResult& variant : cell.result->variants) {
            if (!variant.time) continue;
            auto line = std::find_if(lines.begin(), lines.end(),
                                     [&](const Line& l) { return l.label == variant.name; });
            if (line == lines.end())
                line = lines.insert(lines.end(), Line{variant.name, ink_of(variant), {}, {}, true});
            line->x.push_back(static_cast<double>(std::get<int64_t>(cell.values.front())));
            line->y.push_back(number(*cell.result, variant));
        }
    }
    for (Line& line : lines) figure.marks.push_back(std::move(line));
    if (lines.empty()) figure.missing = "Points appear as the background sweep makes them.";
}

double median_us(const Result&, const VariantResult& variant) { return variant.time->median; }

Figure sweep_figure(std::string id, std::string title, std::string caption, Axis x, Axis y) {
    Figure figure;
    figure.id = std::move(id);
    figure.place = Place::views;
    figure.title = std::move(title);
    figure.caption = std::move(caption);
    figure.x = std::move(x);
    figure.y = std::move(y);
    return figure;
}

std::optional<double> copy_gigabytes(const SweepResult& sweep) {
    for (const SweepCell& cell : sweep.cells)
        if (cell.result && cell.result->ceilings) return cell.result->ceilings->copy_bytes_per_second / 1e9;
    return {};
}

std::vector<Figure> length_figures(const SweepResult& sweep) {
    const Axis length = {.label = "length", .unit = "positions", .scale = Scale::log2};
    Figure time = sweep_figure("time-against-length", "Time against length", "Median of the repeats.", length,
                               {.label = "time", .unit = "us", .scale = Scale::log10});
    add_curves(time, sweep, median_us);

    Figure speed_up = sweep_figure("speed-up-against-length", "Speed-up over sequential",
                                   "The line at 3 is what source 002 hopes for.", length,
                                   {.label = "speed-up", .unit = "x", .scale = Scale::log10});
    add_curves(speed_up, sweep, [](const Result& result, const VariantResult& variant) {
        const VariantResult* const sequential = find(result, "sequential");
        return sequential && sequential->time ? sequential->time->median / variant.time->median : nan;
    });
    speed_up.marks.push_back(Rule{Rule::Across::y, 3, "source 002: 3 x", {Ink::Role::limit}});

    Figure rate = sweep_figure("rate-against-length", "Rate against length",
                               "Bytes that must move, over the time that was taken.", length,
                               {.label = "rate", .unit = "GB/s", .minimum = 0});
    add_curves(rate, sweep, [](const Result& result, const VariantResult& variant) {
        return result.work.bytes / variant.time->median / 1e3;
    });
    if (const auto copy = copy_gigabytes(sweep))
        rate.marks.push_back(
            Rule{Rule::Across::y, *copy, "copy " + with_digits("%.1f", *copy) + " GB/s", {Ink::Role::limit}});
    return {std::move(time), std::move(speed_up), std::move(rate)};
}

std::vector<Figure> block_size_figures(const SweepResult& sweep) {
    Figure figure = sweep_figure("time-against-block-size", "Time against block_size",
                                 "The automatic choice is marked; sequential has no blocks.",
                                 {.label = "block_size", .unit = "positions", .scale = Scale::log2},
                                 {.label = "time", .unit = "us", .scale = Scale::log10});
    add_curves(figure, sweep, median_us);
    const int64_t chosen = automatic_block_size(sweep.sweep.base.parameters.integer("length"));
    figure.marks.push_back(Rule{Rule::Across::x, static_cast<double>(chosen), "auto", {Ink::Role::accent}});
    return {std::move(figure)};
}

std::vector<Figure> compensation_figures(const SweepResult& sweep) {
    Figure figure;
    figure.id = "error-compensation";
    figure.place = Place::error;
    figure.title = "Error by position with and without compensation";
    figure.caption = "The largest over all sequences and channels; dashed with compensation.";
    figure.x = position_axis(sweep.sweep.base.parameters.integer("length"));
    figure.y = {.label = "absolute error", .scale = Scale::log10};
    for (const SweepCell& cell : sweep.cells) {
        if (!cell.result) continue;
        const bool compensated = std::get<bool>(cell.values.front());
        for (const VariantResult& variant : cell.result->variants) {
            if (variant.errors.empty()) continue;
            const auto& errors = variant.errors.front().by_position;
            Series series = reduce(static_cast<int64_t>(errors.size()), {}, "position",
                                   [&](int64_t position) { return errors[static_cast<size_t>(position)]; });
            Ink ink = ink_of(variant);
            ink.dashed = compensated;
            figure.marks.push_back(Line{variant.name + (compensated ? ", compensated" : ""), ink,
                                        std::move(series.x), std::move(series.y)});
        }
    }
    if (figure.marks.empty()) figure.missing = "Curves appear as the background sweep makes them.";
    return {std::move(figure)};
}

}  // namespace

std::vector<FigureSweep> sweeps(const Parameters& parameters) {
    std::vector<FigureSweep> all;
    SweepAxis lengths{"length", {}};
    for (int64_t length = 512; length <= 16384; length *= 2) lengths.values.emplace_back(length);
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
    std::vector<Figure> all;
    for (const Array& reference : result.reference) {
        if (reference.shape.size() != 3) continue;  // dinitial has no positions
        all.push_back(output_figure(result, view, reference, Part::real));
        if (reference.dtype == Dtype::complex128)
            all.push_back(output_figure(result, view, reference, Part::imaginary));
        all.push_back(error_figure(result, view, reference));
    }
    all.push_back(work_figure(result));
    all.push_back(tree_figure(result.parameters));
    all.push_back(ladder_figure(result.parameters));
    return all;
}

}  // namespace sawtooth::scan
