// The gates of the drawn sequence, and how many ranks they open together.

#include <fmt/format.h>

#include <algorithm>

#include "kernels/ar_ssm/family.h"
#include "kernels/ar_ssm/figures/common.h"
#include "kernels/figures/correctness.h"
#include "kernels/figures/visible_range.h"
#include "kernels/figures/without_arrays.h"

namespace sawtooth::ar_ssm {
namespace {

constexpr int64_t most_columns = 512, most_rows = 128;  // of the heat map

// The mean gate of every rank.
std::vector<double> mean_gates(const Drawn& drawn, std::span<const double> gates) {
    std::vector<double> means(static_cast<size_t>(drawn.rank));
    for (size_t at = 0; at < gates.size(); ++at) means[at % means.size()] += gates[at];
    for (double& mean : means) mean /= static_cast<double>(drawn.length);
    return means;
}

// "0.61 on average"; of hard gates "at 61 % of the positions".
std::string words_of_mean(const Drawn& drawn, double mean) {
    return drawn.hard ? fmt::format("at {:.0f} % of the positions", 100 * mean)
                      : fmt::format("{:.2f} on average", mean);
}

std::string words_of_ranks(const Drawn& drawn, const std::vector<double>& means) {
    const auto [least, most] = std::minmax_element(means.begin(), means.end());
    if (*least == *most)
        return fmt::format("{} is open {}.", drawn.rank == 1 ? "The only rank" : "Every rank",
                           words_of_mean(drawn, *most));
    return fmt::format("Rank {} is open most ({}), rank {} least ({}).", most - means.begin(),
                       words_of_mean(drawn, *most), least - means.begin(), words_of_mean(drawn, *least));
}

// " A cell is the mean of 2 positions and 4 ranks."; "" if it is one gate.
std::string words_of_cell(double positions, double ranks) {
    if (positions == 1 && ranks == 1) return "";
    std::string words = positions > 1 ? fmt::format("{:.3g} positions", positions) : "";
    if (ranks > 1) words += fmt::format("{}{:.3g} ranks", words.empty() ? "" : " and ", ranks);
    return " A cell is the mean of " + words + ".";
}

// The heat map of the visible positions; a cell of several gates shows their mean.
HeatMap map_of(const Drawn& drawn, std::span<const double> gates, Range seen) {
    HeatMap map = heat_map("gate", drawn.rank, seen.count(), 0, seen.first);
    map.rows = std::min(drawn.rank, most_rows);
    map.columns = std::min(seen.count(), most_columns);
    const auto cells = static_cast<size_t>(map.rows * map.columns);
    std::vector<double> counts(cells);
    map.values.assign(cells, 0);
    for (int64_t position = seen.first; position < seen.last; ++position)
        for (int64_t rank = 0; rank < drawn.rank; ++rank) {
            const int64_t column = (position - seen.first) * map.columns / seen.count();
            const auto cell = static_cast<size_t>(rank * map.rows / drawn.rank * map.columns + column);
            map.values[cell] += gates[static_cast<size_t>(position * drawn.rank + rank)];
            ++counts[cell];
        }
    for (size_t cell = 0; cell < cells; ++cell) map.values[cell] /= counts[cell];
    return map;
}

Figure map_figure(const Drawn& drawn, const Array& reference, const View& view) {
    const auto gates = drawn.doubles(reference);
    Figure figure = new_figure("gates", Place::views, "Gates, " + drawn.words(), "",
                               place_axis("position", drawn.length), {.label = "rank"});
    const Range seen = visible_range(view, figure.x.shared, drawn.length);
    HeatMap map = map_of(drawn, gates, seen);
    figure.caption = words_of_ranks(drawn, mean_gates(drawn, gates)) +
                     words_of_cell(static_cast<double>(seen.count()) / static_cast<double>(map.columns),
                                   static_cast<double>(drawn.rank) / static_cast<double>(map.rows));
    figure.chosen_by = {"drawn_batch"};
    figure.marks.push_back(std::move(map));
    return figure;
}

// "Between 1.9 and 14.2 of 16 ranks are open, 8.1 on average."
std::string words_of_effective_rank(const Drawn& drawn, std::span<const double> ranks) {
    const auto [least, most] = std::minmax_element(ranks.begin(), ranks.end());
    if (*least == *most)
        return fmt::format("{:.3g} of {} ranks are open at every position.", *least, drawn.rank);
    double sum = 0;
    for (const double rank : ranks) sum += rank;
    return fmt::format("Between {:.2g} and {:.2g} of {} ranks are open, {:.2g} on average.", *least, *most,
                       drawn.rank, sum / static_cast<double>(ranks.size()));
}

Figure effective_rank_figure(const Result& result, const Drawn& drawn, const Array& reference,
                             const View& view) {
    const LineChooser chooser{ar_ssm_family(), "position", {{"batch", "drawn_batch"}}};
    Figure figure = output_figure(result, view, reference, *chooser.line(reference, result.parameters));
    figure.id = "effective-rank";
    figure.title = "Effective rank, " + drawn.words();
    figure.caption = words_of_effective_rank(drawn, drawn.doubles(reference));
    const auto limit = static_cast<double>(drawn.rank);
    figure.y = {.label = "effective rank", .minimum = 0, .maximum = 1.1 * limit};
    figure.marks.push_back(
        Rule{Rule::Across::y, limit, fmt::format("max_rank {}", drawn.rank), {Ink::Role::limit}});
    return figure;
}

}  // namespace

std::vector<Figure> gate_figures(const Result& result, const View& view) {
    const Array *const gates = find(result.reference, "gates"), *const ranks =
                                                                    find(result.reference, "effective_rank");
    if (!gates || !ranks) return {};
    if (!has_arrays(result))
        return left_out_without_arrays(
            {{"gates", Place::views, "Gates"}, {"effective-rank", Place::outputs, "Effective rank"}});
    const Drawn drawn(result.parameters);
    return {map_figure(drawn, *gates, view), effective_rank_figure(result, drawn, *ranks, view)};
}

}  // namespace sawtooth::ar_ssm
