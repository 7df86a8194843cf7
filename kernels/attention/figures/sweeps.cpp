// The sweeps, and their curves against N and against the window.

#include "kernels/attention/figures/sweeps.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "kernels/attention/family.h"
#include "kernels/attention/figures/common.h"
#include "kernels/core/common_parameters.h"
#include "kernels/core/table.h"
#include "kernels/figures/comparison.h"
#include "kernels/figures/correctness.h"
#include "kernels/figures/figures.h"
#include "kernels/figures/sweep_figures.h"

namespace sawtooth::attention {
namespace {

// The speed-up of streaming over naive that section 5 of Fused RoPE Triton Implementation reports.
constexpr double claimed_speed_up = 6;

Axis axis_of(const SweepResult& sweep) {
    const SweepAxis& swept = sweep.sweep.axes.front();
    return swept_axis(swept, *attention_family().parameter(swept.parameter));
}

constexpr const char* with_backward = ", with backward";

// Renames lines such as "naive, backward true" to "naive, with backward".
void name_passes(std::vector<Line>& lines) {
    for (Line& line : lines)
        for (const auto& [from, to] :
             {std::pair{", backward false", ", forward"}, {", backward true", with_backward}})
            if (const size_t at = line.label.find(from); at != std::string::npos)
                line.label.replace(at, std::string::npos, to);
}

// Adds a gap to the line at x; returns the index of the point before it, or after it if it is the first.
size_t interrupt(Line& line, double x) {
    const auto place = std::lower_bound(line.x.begin(), line.x.end(), x) - line.x.begin();
    line.x.insert(line.x.begin() + place, x);
    line.y.insert(line.y.begin() + place, gap);
    line.sets.values.insert(line.sets.values.begin() + place, x);
    if (!line.wrong.empty()) line.wrong.insert(line.wrong.begin() + place, "");
    return static_cast<size_t>(place > 0 ? place - 1 : 1);
}

// Interrupts every line where its variant was refused, and returns notes with the reasons. A line has at most
// one note, and a reason is told once, as a cell that failed as a whole has the same reason for all variants.
std::vector<Note> interrupt_refused(std::vector<Line>& lines, const SweepResult& sweep) {
    std::vector<Note> notes;
    std::set<std::string> told;
    for (Line& line : lines)
        for (const SweepCell& cell : sweep.cells) {
            const std::string reason = reason_refused(cell, line.label.substr(0, line.label.find(',')));
            if (reason.empty() || cell.values[1] != Value(line.label.ends_with(with_backward))) continue;
            const int64_t length = std::get<int64_t>(cell.values[0]);
            const size_t beside = interrupt(line, static_cast<double>(length));
            if (told.insert(line.label).second && told.insert(reason).second)
                notes.push_back({line.x[beside], line.y[beside],
                                 fmt::format("{} at N {}: {}", line.label, length, reason)});
        }
    return notes;
}

std::optional<double> speed_up(const Result& result, const VariantResult& variant) {
    const VariantResult* const naive = find(result, "naive");
    if (variant.name != "streaming" || !has_speed(variant) || !naive || !has_speed(*naive)) return {};
    return naive->time->median / variant.time->median;
}

std::optional<double> mebibytes(const Result&, const VariantResult& variant) {
    return static_cast<double>(variant.memory_bytes) / (1 << 20);
}

// Returns the speed of streaming over naive in the last cell where both ran, such as "1.5x forward, cannot
// tell with backward".
std::string words_of_last(const SweepResult& sweep) {
    std::string words;
    for (const auto& [curve, pass] :
         {std::pair{"streaming, backward false", "forward"}, {"streaming, backward true", "with backward"}}) {
        std::string speed;
        for (const TimedCell& cell : timed_cells_of(sweep, curve))
            if (const VariantResult* const naive = find(*cell.result, "naive"); naive && naive->time)
                speed = ratio_words(compare(*cell.result, *cell.variant, *naive));
        if (!speed.empty()) words += (words.empty() ? "" : ", ") + speed + " " + pass;
    }
    return words;
}

Figure speed_up_figure(const SweepResult& sweep) {
    std::vector<Line> lines = curves_of(sweep, speed_up);
    name_passes(lines);
    std::string caption;
    if (!lines.empty())
        caption = fmt::format(
            "{}At N {:.0f}, speed-up: {}. Fused RoPE Triton Implementation reports {}x on an RTX 4090.",
            progress_words(sweep), lines.front().x.back(), words_of_last(sweep), claimed_speed_up);
    Figure figure = figure_against("speed-up", std::move(caption), axis_of(sweep),
                                   {.label = "speed-up", .unit = "x", .scale = Scale::log2}, lines);
    figure.title = "Speed-up of streaming over naive";
    add_beside_data(figure, Rule{Rule::Across::y,
                                 claimed_speed_up,
                                 fmt::format("reported: {}x", claimed_speed_up),
                                 {Ink::Role::limit}});
    return figure;
}

// "From N 1024 to 2048, naive takes 3.7x as long, streaming 2x (forward)."; "" where it cannot be told.
std::string words_of_slowing(const SweepResult& sweep) {
    std::string words;
    for (const char* variant : {"naive", "streaming"}) {
        const auto cells = timed_cells_of(sweep, std::string(variant) + ", backward false");
        if (!sweep.complete || cells.size() < 2) return "";
        const TimedCell &before = cells[cells.size() - 2], &last = cells.back();
        if (!has_speed(*before.variant) || !has_speed(*last.variant)) return "";
        const Comparison growth = compare_apart(before.time(), last.time());
        if (growth.pace != Pace::faster) return "";
        words += words.empty() ? fmt::format("From N {:.0f} to {:.0f}, {} takes {} as long", before.x, last.x,
                                             variant, ratio_words(growth))
                               : fmt::format(", {} {} (forward).", variant, ratio_words(growth));
    }
    return words;
}

// Returns the first line of a variant; null if it did not run.
const Line* line_of_variant(const std::vector<Line>& lines, const std::string& variant) {
    const auto found = std::find_if(lines.begin(), lines.end(),
                                    [&](const Line& line) { return line.label.starts_with(variant + ","); });
    return found == lines.end() ? nullptr : &*found;
}

// Returns text such as "From N 1024 to 2048, naive needs 3.7x as much, streaming 2.0x (forward)."
std::string words_of_growth(const std::vector<Line>& lines) {
    const Line *const naive = line_of_variant(lines, "naive"), *const streaming =
                                                                   line_of_variant(lines, "streaming");
    if (!naive || !streaming || naive->x.size() < 2 || naive->x != streaming->x) return "";
    const size_t last = naive->x.size() - 1;
    return fmt::format("From N {:.0f} to {:.0f}, naive needs {:.1f}x as much, streaming {:.1f}x (forward).",
                       naive->x[last - 1], naive->x[last], naive->y[last] / naive->y[last - 1],
                       streaming->y[last] / streaming->y[last - 1]);
}

Figure against_length(const SweepResult& sweep, const char* what, std::string caption, Axis y,
                      std::vector<Line> lines) {
    name_passes(lines);
    std::vector<Note> notes = interrupt_refused(lines, sweep);
    Figure figure = figure_against(what, std::move(caption), axis_of(sweep), std::move(y), std::move(lines));
    for (Note& note : notes) figure.marks.push_back(std::move(note));
    return figure;
}

// Counts the products of tiles in one step: q k and p v forward, and with backward also q k again, do v, p
// do, ds k and ds q. A mixed tile has each product with q or k twice.
int64_t products_of(TileKind kind, bool backward) {
    const int64_t once = backward ? 7 : 2, again = backward ? 4 : 1;
    return kind == TileKind::mixed ? once + again : once;
}

// A timed cell of streaming in the sweep over the window.
struct WindowPoint {
    double window;
    const TimeStatistics* time;
    TileCounts tiles;
    bool backward;

    double products() const {
        return static_cast<double>((tiles.near + tiles.far) * products_of(TileKind::near, backward) +
                                   tiles.mixed * products_of(TileKind::mixed, backward));
    }
};

std::vector<WindowPoint> window_points(const SweepResult& sweep) {
    std::vector<WindowPoint> points;
    for (const SweepCell& cell : sweep.cells) {
        const VariantResult* const streaming = cell.result ? find(*cell.result, "streaming") : nullptr;
        if (!streaming || !has_speed(*streaming)) continue;
        const Parameters& p = cell.result->parameters;
        points.push_back({static_cast<double>(std::get<int64_t>(cell.values.front())), &*streaming->time,
                          count_tiles(p), runs_backward(p)});
    }
    return points;
}

const WindowPoint& most_mixed(const std::vector<WindowPoint>& points) {
    return *std::max_element(points.begin(), points.end(), [](const WindowPoint& a, const WindowPoint& b) {
        return a.tiles.mixed < b.tiles.mixed;
    });
}

// Returns the times that the products of every window predict. The time per product is the median over the
// windows, so that one disturbed time does not move the line.
Line predicted(const std::vector<WindowPoint>& points) {
    std::vector<double> per_product;
    for (const WindowPoint& point : points) per_product.push_back(point.time->median / point.products());
    const auto middle = per_product.begin() + static_cast<std::ptrdiff_t>(per_product.size() / 2);
    std::nth_element(per_product.begin(), middle, per_product.end());
    Line line = line_of("from the products", {Ink::Role::accent, 0, true}, {});
    for (const WindowPoint& point : points) {
        line.x.push_back(point.window);
        line.y.push_back(*middle * point.products());
    }
    return line;
}

Figure window_time(const SweepResult& sweep, const std::vector<WindowPoint>& points) {
    std::vector<Line> lines = timed_curves_of(sweep, median_us);
    std::string caption;
    if (!points.empty() && sweep.complete) {
        const WindowPoint &mixed = most_mixed(points), &plain = points.back();
        const auto name = [](const WindowPoint& point) { return fmt::format("window {:.0f}", point.window); };
        caption = fmt::format(
            "Window {:.0f} mixes {} of {}, which takes {}x the products of {}, where all are near; {}.",
            mixed.window, mixed.tiles.mixed, count_words(mixed.tiles.computed(), "tile"),
            rounded(mixed.products() / plain.products(), 3), name(plain),
            comparison_words(name(plain), name(mixed), compare_apart(*plain.time, *mixed.time)));
        lines.push_back(predicted(points));
    }
    return figure_against("time", std::move(caption), axis_of(sweep), time_axis(), std::move(lines));
}

Figure window_tiles(const SweepResult& sweep, const std::vector<WindowPoint>& points) {
    std::vector<Line> lines;
    for (const auto& [kind, count] : {std::pair{TileKind::near, &TileCounts::near},
                                      {TileKind::far, &TileCounts::far},
                                      {TileKind::mixed, &TileCounts::mixed}}) {
        const KindMap::Kind& drawn = tile_kinds()[static_cast<size_t>(kind)];
        Line line = line_of(drawn.label, drawn.ink, {});
        line.markers = true;
        line.sets.parameter = "window";
        for (const WindowPoint& point : points) {
            line.x.push_back(point.window);
            line.y.push_back(static_cast<double>(point.tiles.*count));
        }
        line.sets.values = line.x;
        if (!points.empty()) lines.push_back(std::move(line));
    }
    std::string caption;
    if (!points.empty()) {
        const TileCounts& tiles = most_mixed(points).tiles;
        caption = fmt::format(
            "Most mixed at window {:.0f}: {} near, {} far, {} mixed, {} skipped. A mixed tile takes {} "
            "products instead of {}.",
            most_mixed(points).window, tiles.near, tiles.far, tiles.mixed, tiles.skipped,
            products_of(TileKind::mixed, points.front().backward),
            products_of(TileKind::near, points.front().backward));
    }
    Figure figure = figure_against("tiles", std::move(caption), axis_of(sweep),
                                   {.label = "tiles per head", .minimum = 0}, std::move(lines));
    return figure;
}

// Returns an axis of powers of two times `first` below `last`, and `last`.
SweepAxis powers_to(const std::string& parameter, int64_t first, int64_t last) {
    SweepAxis axis{parameter, {}};
    for (int64_t value = first; value < last; value *= 2) axis.values.emplace_back(value);
    axis.values.emplace_back(last);
    return axis;
}

}  // namespace

std::vector<Figure> length_figures(const SweepResult& sweep) {
    std::vector<Line> memory = curves_of(sweep, mebibytes);
    const std::string slowing = words_of_slowing(sweep);
    const std::string stored =
        "naive stores the scores of all pairs, streaming those of a tile. " + words_of_growth(memory);
    std::vector<Figure> figures = {
        against_length(
            sweep, "time",
            progress_words(sweep) +
                (slowing.empty() && sweep.complete ? "How the times grow with N cannot be told." : slowing),
            time_axis(), timed_curves_of(sweep, median_us)),
        speed_up_figure(sweep),
        against_length(sweep, "memory", stored, {.label = "memory", .unit = "MiB", .scale = Scale::log2},
                       std::move(memory))};
    explain_missing(figures, sweep, "streaming");
    return figures;
}

std::vector<Figure> window_figures(const SweepResult& sweep) {
    const std::vector<WindowPoint> points = window_points(sweep);
    std::vector<Figure> figures = {window_time(sweep, points), window_tiles(sweep, points)};
    explain_missing(figures, sweep, "streaming");
    return figures;
}

std::vector<FigureSweep> sweeps(const Parameters& parameters) {
    constexpr int64_t most_heads = 2, most_length = 2048;  // on the CPU
    constexpr int64_t first_length = 128;
    // The settled values of H_kv and N_q may not fit other values of H and N.
    const Value key_heads =
        key_heads_of(parameters) < parameters.integer("H") ? Value(int64_t{1}) : Value("auto");
    const auto queries_up_to = [&](int64_t most) {
        const int64_t queries = queries_of(parameters);
        return queries < parameters.integer("N") ? Value(std::min(queries, most)) : Value("auto");
    };
    const SweepAxis rows{"BLOCK_M", attention_family().parameter("BLOCK_M")->choices};
    const SweepAxis columns{"BLOCK_N", attention_family().parameter("BLOCK_N")->choices};
    const SweepAxis passes{"backward", {false, true}};
    std::vector<FigureSweep> all;
    for (const Backend backend : {Backend::cpu, Backend::cuda}) {
        const bool on_cpu = backend == Backend::cpu;
        std::vector<std::pair<std::string, Value>> shape;
        int64_t length = parameters.integer("N");
        if (on_cpu) {
            length = std::min(length, most_length);
            shape = {{"Z", int64_t{1}}, {"H", std::min(parameters.integer("H"), most_heads)}, {"N", length}};
            shape.insert(shape.end(), {{"H_kv", key_heads}, {"N_q", queries_up_to(length)}});
        }
        auto shape_of_lengths = shape;
        shape_of_lengths.emplace_back("N_q", queries_up_to(first_length));
        for (const Variant& variant : attention_family().variants)
            if (variant.name != "naive" && variant.runs_on(backend))
                all.push_back({variant.name == "streaming" ? "tiles" : "tiles_" + variant.name,
                               "time by tiles",
                               {rows, columns},
                               shape,
                               {variant.name},
                               tile_figures,
                               backend});
        all.push_back({"window",
                       "time against window",
                       {powers_to("window", 1, length)},
                       shape,
                       {"streaming"},
                       window_figures,
                       backend});
        all.push_back({"N",
                       "time against N",
                       {powers_to("N", first_length, on_cpu ? 1024 : 8192), passes},
                       shape_of_lengths,
                       {"naive", "streaming"},
                       length_figures,
                       backend});
    }
    return all;
}

}  // namespace sawtooth::attention
