// Scores and probabilities of the drawn tile of queries, in float64 from the inputs.

#include "kernels/attention/figures/scores.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/attention/figures/common.h"
#include "kernels/core/table.h"
#include "kernels/figures/visible_range.h"
#include "kernels/figures/without_arrays.h"

namespace sawtooth::attention {
namespace {

// With more numbers or products the window would wait for the figures.
constexpr int64_t most_numbers = int64_t{1} << 22, most_products = int64_t{1} << 26;
constexpr int64_t most_rows = 64, most_columns = 512;

using Vector = std::vector<double>;

// Rotates vectors of d numbers.
class Rotation {
  public:
    Rotation(int64_t d, double base) {
        for (int64_t m = 0; m < d / 2; ++m)
            turns_.push_back(std::pow(base, -2.0 * static_cast<double>(m) / static_cast<double>(d)));
    }
    Vector rotated(const Vector& x, int64_t position) const {
        const size_t half = turns_.size();
        Vector y(x.size());
        for (size_t m = 0; m < half; ++m) {
            const double turn = static_cast<double>(position) * turns_[m];
            const double c = std::cos(turn), s = std::sin(turn);
            y[m] = x[m] * c - x[m + half] * s;
            y[m + half] = x[m + half] * c + x[m] * s;
        }
        return y;
    }

  private:
    Vector turns_;
};

// Returns queries and keys of the drawn head in the encoding of near or of far pairs.
class Encoded {
  public:
    Encoded(const Result& result, const Drawn& drawn)
        : inputs_(result.inputs),
          drawn_(drawn),
          is_qkv_(result.parameters.is("form", "qkv")),
          rotation_(drawn.d, result.parameters.real("base")) {}

    Vector query(int64_t position, bool is_near) const {
        const int64_t at = drawn_.head_index * drawn_.query_count() + position - drawn_.first_query;
        if (!is_qkv_) return row(is_near ? "q1" : "q2", at);
        return rotation_.rotated(row("q", at), is_near ? position : drawn_.mask.window);
    }
    Vector key(int64_t position, bool is_near) const {
        const int64_t at = drawn_.key_head_index * drawn_.length + position;
        if (!is_qkv_) return row(is_near ? "k1" : "k2", at);
        return is_near ? rotation_.rotated(row("k", at), position) : row("k", at);
    }

  private:
    Vector row(const char* name, int64_t at) const {
        const auto all = find(inputs_, name)->as<float>();
        const auto from = all.begin() + at * drawn_.d;
        return Vector(from, from + drawn_.d);
    }

    const Arrays& inputs_;
    const Drawn& drawn_;
    bool is_qkv_;
    Rotation rotation_;
};

double dot(const Vector& left, const Vector& right) {
    double sum = 0;
    for (size_t i = 0; i < left.size(); ++i) sum += left[i] * right[i];
    return sum;
}

// Maps the values of the visible keys. A cell of several keys shows the value of greatest magnitude.
HeatMap map_of(const std::string& label, const Drawn& drawn, const ScoredRows& rows, const View& view,
               const Vector& values) {
    const Range keys = visible_range(view, "key", drawn.seen_keys());
    HeatMap map = heat_map(label, rows.queries.count(), keys.count(), rows.queries.first, keys.first);
    map.columns = std::min(keys.count(), most_columns);
    for (int64_t r = 0; r < map.rows; ++r)
        for (int64_t c = 0; c < map.columns; ++c) {
            const int64_t begin = keys.first + keys.count() * c / map.columns;
            const int64_t end = keys.first + keys.count() * (c + 1) / map.columns;
            double held = gap;
            for (int64_t j = begin; j < end; ++j) {
                const double value = values[static_cast<size_t>(r * rows.length + j)];
                if (!(std::abs(value) <= std::abs(held))) held = std::isnan(value) ? held : value;
            }
            map.values.push_back(held);
        }
    return map;
}

std::string words_of_encodings(const Result& result, const Drawn& drawn, Range queries) {
    if (edges_of_window(drawn, queries).empty()) return "All pairs are inside the window: q1 k1 scores them.";
    return fmt::format("{} q1 k1 scores the pairs. Beyond it q2 k2 does{}.",
                       drawn.mask.causal ? "Right of the line" : "On the diagonal's side of the line",
                       result.parameters.is("form", "qkv") ? ", as if all were one window apart" : "");
}

Figure rows_figure(const std::string& id, const std::string& title, const std::string& words,
                   const Drawn& drawn, const ScoredRows& rows, HeatMap map) {
    Figure figure =
        new_figure(id, Place::views, title, words, key_axis(drawn.seen_keys()), {.label = "query"});
    figure.chosen_by = {"drawn_head", "drawn_query"};
    figure.marks.push_back(std::move(map));
    for (Line& line : edges_of_window(drawn, rows.queries)) figure.marks.push_back(std::move(line));
    return figure;
}

// Returns text such as "Query 300 gives 47 % of its weight to 128 near keys and 53 % to 173 far keys."
std::string words_of_weight(const Drawn& drawn, const ScoredRows& rows, const Vector& probabilities) {
    double near = 0, all = 0;
    int64_t near_keys = 0, keys = 0;
    const int64_t from = (drawn.query - rows.queries.first) * rows.length;
    for (int64_t j = 0; j < rows.length; ++j) {
        if (!drawn.mask.allows(drawn.query, j)) continue;
        const double p = probabilities[static_cast<size_t>(from + j)];
        const bool is_near = drawn.mask.is_near(drawn.query, j);
        all += p, ++keys;
        if (is_near) near += p, ++near_keys;
    }
    if (near_keys == keys) return fmt::format("All keys of query {} are inside its window.", drawn.query);
    return fmt::format("Query {} gives {:.0f} % of its weight to {} and {:.0f} % to {}.", drawn.query,
                       100 * near / all, count_words(near_keys, "near key"), 100 * (all - near) / all,
                       count_words(keys - near_keys, "far key"));
}

Figure missing_figure(const std::string& id, const std::string& title) {
    Figure figure = new_figure(id, Place::views, title, "", {}, {});
    figure.missing = fmt::format("{} of a tile of queries. Drawn for N times D up to {}: reduce N or D.",
                                 title, with_thousands(most_numbers));
    return figure;
}

}  // namespace

std::optional<ScoredRows> score_rows(const Result& result) {
    const Drawn drawn(result.parameters);
    if (drawn.length * drawn.d > most_numbers) return {};
    // A tile with more than `most` queries is cut to those around the drawn one.
    const int64_t most = std::clamp<int64_t>(most_products / (drawn.length * drawn.d), 1, most_rows);
    ScoredRows rows{drawn.queries(), drawn.length, {}};
    if (rows.queries.count() > most) {
        const int64_t first =
            std::clamp(drawn.query - most / 2, rows.queries.first, rows.queries.last - most);
        rows.queries = {first, first + most};
    }
    rows.scores.assign(static_cast<size_t>(rows.queries.count() * drawn.length), gap);
    const Encoded encoded(result, drawn);
    const double scale = result.parameters.real("scale");
    for (const bool is_near : {true, false}) {
        std::vector<Vector> queries;
        for (int64_t i = rows.queries.first; i < rows.queries.last; ++i)
            queries.push_back(encoded.query(i, is_near));
        for (int64_t j = 0; j < drawn.length; ++j) {
            std::optional<Vector> key;
            for (int64_t i = rows.queries.first; i < rows.queries.last; ++i) {
                if (!drawn.mask.allows(i, j) || drawn.mask.is_near(i, j) != is_near) continue;
                if (!key) key = encoded.key(j, is_near);
                rows.scores[rows.place(i, j)] =
                    scale * dot(queries[static_cast<size_t>(i - rows.queries.first)], *key);
            }
        }
    }
    return rows;
}

std::vector<double> probabilities_of(const ScoredRows& rows) {
    Vector p(rows.scores.size(), gap);
    for (int64_t r = 0; r < rows.queries.count(); ++r) {
        const auto from = static_cast<size_t>(r * rows.length);
        const auto to = from + static_cast<size_t>(rows.length);
        double largest = -INFINITY, sum = 0;
        for (size_t i = from; i < to; ++i) largest = std::fmax(largest, rows.scores[i]);
        for (size_t i = from; i < to; ++i) p[i] = std::exp(rows.scores[i] - largest);
        for (size_t i = from; i < to; ++i) sum += std::isnan(p[i]) ? 0 : p[i];
        for (size_t i = from; i < to; ++i) p[i] /= sum;
    }
    return p;
}

std::vector<Figure> score_figures(const Result& result, const View& view) {
    const Drawn drawn(result.parameters);
    const bool is_small = drawn.length * drawn.d <= most_numbers;
    if (is_small && !has_arrays(result))
        return left_out_without_arrays({{"scores", Place::views, "Scores"},
                                        {"probabilities", Place::views, "Weights"},
                                        {"running-softmax", Place::views, "Running softmax"}});
    const auto rows = score_rows(result);
    if (!rows)
        return {missing_figure("scores", "Scores"), missing_figure("probabilities", "Weights"),
                missing_figure("running-softmax", "Running softmax")};
    const Vector p = probabilities_of(*rows);
    HeatMap scores = map_of("score", drawn, *rows, view, rows->scores),
            probabilities = map_of("p", drawn, *rows, view, p);
    scores.colours = HeatMap::Colours::diverging;
    probabilities.logarithmic = true;
    return {rows_figure("scores", "Scores", words_of_encodings(result, drawn, rows->queries), drawn, *rows,
                        std::move(scores)),
            rows_figure("probabilities", "Weights", words_of_weight(drawn, *rows, p), drawn, *rows,
                        std::move(probabilities)),
            running_figure(drawn, *rows)};
}

}  // namespace sawtooth::attention
