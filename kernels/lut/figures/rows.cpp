// Which rows of the tables the items choose.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/core/table.h"
#include "kernels/lut/figures/common.h"

namespace sawtooth::lut {
namespace {

// Larger counts would keep the window waiting.
constexpr int64_t most_comparisons = int64_t{1} << 22;
constexpr int64_t most_rows = int64_t{1} << 21;

// The first items and detectors, limited to as many as can be counted in time.
struct Counted {
    explicit Counted(const Drawn& drawn)
        : detectors(std::clamp<int64_t>(most_rows / drawn.rows, 1, drawn.detectors)),
          items(std::clamp<int64_t>(most_comparisons / (detectors * drawn.anchors), 1, drawn.batch)),
          words(words_of(drawn)) {}

    int64_t detectors, items;
    std::string words;  // " Counted over the first 16 of 256 detectors."; "" if all are counted

  private:
    std::string words_of(const Drawn& drawn) const {
        if (detectors == drawn.detectors && items == drawn.batch) return "";
        return fmt::format(" Counted over the first {} of {} items and {} of {} detectors.",
                           with_thousands(items), with_thousands(drawn.batch), with_thousands(detectors),
                           with_thousands(drawn.detectors));
    }
};

// The share of `rows` that `items` choose if every row is equally likely.
double share_by_chance(double rows, int64_t items) {
    return -std::expm1(static_cast<double>(items) * std::log1p(-1 / rows));
}

// The number of distinct rows that the first at[0], at[1], … items choose if detectors use only their first
// `pairs` pairs, summed over the detectors.
std::vector<int64_t> distinct_rows(const Detectors& detectors, const Counted& counted, int64_t pairs,
                                   const std::vector<int64_t>& at) {
    std::vector<int64_t> found(at.size());
    std::vector<bool> is_used(size_t{1} << pairs);
    for (int64_t t = 0; t < counted.detectors; ++t) {
        std::fill(is_used.begin(), is_used.end(), false);
        int64_t used = 0, item = 0;
        for (size_t i = 0; i < at.size(); ++i) {
            for (; item < at[i]; ++item) {
                const auto row = static_cast<size_t>(detectors.row(item, t, pairs));
                used += !is_used[row];
                is_used[row] = true;
            }
            found[i] += used;
        }
    }
    return found;
}

std::vector<int64_t> powers_up_to(int64_t most) {
    std::vector<int64_t> all;
    for (int64_t power = 1; power < most; power *= 2) all.push_back(power);
    all.push_back(most);
    return all;
}

double percent_of(int64_t used, double rows) { return 100 * static_cast<double>(used) / rows; }

Axis share_axis() {
    return {.label = "share of rows used", .unit = "%", .scale = Scale::log10, .maximum = 100};
}

// The number of items that choose each row, for the detectors of the page.
Figure hits_figure(const Drawn& drawn, const Detectors& detectors, const Counted& counted) {
    constexpr int64_t most_columns = 256;
    const Range page = drawn.page();
    const int64_t columns = std::min(drawn.rows, most_columns), per_column = drawn.rows / columns;
    HeatMap map = heat_map("items", page.count(), columns, page.first);
    map.x_high = static_cast<double>(drawn.rows) - 0.5;
    map.logarithmic = true;
    map.values.assign(static_cast<size_t>(page.count() * columns), gap);
    std::vector<int64_t> hits(static_cast<size_t>(drawn.rows));
    for (int64_t t = page.first; t < page.last; ++t) {
        std::fill(hits.begin(), hits.end(), 0);
        for (int64_t item = 0; item < counted.items; ++item)
            ++hits[static_cast<size_t>(detectors.row(item, t, drawn.anchors))];
        for (int64_t row = 0; row < drawn.rows; ++row) {
            const int64_t here = hits[static_cast<size_t>(row)];
            double& cell = map.values[static_cast<size_t>((t - page.first) * columns + row / per_column)];
            if (here > 0) cell = (std::isnan(cell) ? 0 : cell) + static_cast<double>(here);
        }
    }
    const int64_t used = distinct_rows(detectors, counted, drawn.anchors, {counted.items}).front();
    const auto all = static_cast<double>(drawn.rows) * static_cast<double>(counted.detectors);
    Figure figure = new_figure(
        "rows", Place::views, "Table rows that are hit",
        fmt::format("{} {:.2g} % of the rows (by chance {:.2g} %). {}",
                    counted.items == 1 ? "1 item uses" : with_thousands(counted.items) + " items use",
                    percent_of(used, all),
                    100 * share_by_chance(static_cast<double>(drawn.rows), counted.items),
                    drawn.words_of_page()) +
            (per_column > 1 ? fmt::format("A cell is {} rows.", per_column) : "Empty cells: no item.") +
            counted.words,
        {.label = "row of the table"}, {.label = "detector"});
    if (page.count() < drawn.detectors) figure.chosen_by = {"drawn_detector"};
    figure.marks.push_back(std::move(map));
    return figure;
}

// The share of rows used if every detector had only its first pairs.
Figure share_by_anchors(const Drawn& drawn, const Detectors& detectors, const Counted& counted) {
    constexpr int64_t most_pairs = 16;
    Line found{"rows used", {Ink::Role::accent}, {}, {}, true},
        chance{"by chance", {Ink::Role::reference}, {}, {}};
    for (int64_t pairs = 1; pairs <= most_pairs; ++pairs) {
        const double rows = std::exp2(static_cast<double>(pairs));
        chance.x.push_back(static_cast<double>(pairs));
        chance.y.push_back(100 * share_by_chance(rows, counted.items));
        if (pairs > drawn.anchors) continue;
        found.x.push_back(static_cast<double>(pairs));
        found.y.push_back(percent_of(distinct_rows(detectors, counted, pairs, {counted.items}).front(),
                                     rows * static_cast<double>(counted.detectors)));
    }
    found.sets = {"anchors_per_detector", found.x};
    Figure figure = new_figure(
        "rows-by-anchors", Place::views, "Share of rows used against anchors_per_detector",
        fmt::format("Each pair doubles the table, but {} can hit at most {} of its rows: {:.2g} % with {}.",
                    count_words(counted.items, "item"), with_thousands(counted.items), found.y.back(),
                    count_words(drawn.anchors, "pair")) +
            counted.words,
        {.label = "anchors_per_detector", .unit = "bits"}, share_axis());
    figure.marks = {std::move(chance), std::move(found)};
    return figure;
}

Figure share_by_items(const Drawn& drawn, const Detectors& detectors, const Counted& counted) {
    const auto items = powers_up_to(counted.items);
    const auto used = distinct_rows(detectors, counted, drawn.anchors, items);
    const auto rows = static_cast<double>(drawn.rows);
    Line found{"rows used", {Ink::Role::accent}, {}, {}, true},
        chance{"by chance", {Ink::Role::reference}, {}, {}};
    for (size_t i = 0; i < items.size(); ++i) {
        for (Line* line : {&found, &chance}) line->x.push_back(static_cast<double>(items[i]));
        found.y.push_back(percent_of(used[i], rows * static_cast<double>(counted.detectors)));
        chance.y.push_back(100 * share_by_chance(rows, items[i]));
    }
    Figure figure = new_figure(
        "rows-by-items", Place::views, "Share of rows used against items",
        fmt::format(
            "The first item hits {:.2g} % of the rows, {} {:.2g} %: only these get a weight gradient.",
            found.y.front(), count_words(counted.items, "item"), found.y.back()) +
            counted.words,
        {.label = "items", .scale = Scale::log2}, share_axis());
    figure.marks = {std::move(chance), std::move(found)};
    return figure;
}

}  // namespace

std::vector<Figure> row_figures(const Result& result) {
    const Drawn drawn(result.parameters);
    const Detectors detectors(result);
    const Counted counted(drawn);
    return {hits_figure(drawn, detectors, counted), share_by_anchors(drawn, detectors, counted),
            share_by_items(drawn, detectors, counted)};
}

}  // namespace sawtooth::lut
