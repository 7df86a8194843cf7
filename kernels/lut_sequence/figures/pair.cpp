// One pair of positions: the bits of its detectors, the row that each chooses, and what the rows add to y.

#include <fmt/format.h>

#include <algorithm>

#include "kernels/lut_sequence/figures/lookups.h"

namespace sawtooth::lut_sequence {
namespace {

constexpr int64_t most_detectors = 4;    // drawn, including the chosen one
constexpr int64_t most_found = 1 << 19;  // more bits of detectors would keep the window waiting

enum Kind { query_bits, key_bits, distance_bits, row, adds };

// "011", with the highest bit first; "-" if there are no bits.
std::string words_of_bits(int64_t value, int64_t count) {
    std::string words;
    for (int64_t bit = count; bit-- > 0;) words += (value >> bit & 1) == 1 ? '1' : '0';
    return words.empty() ? "-" : words;
}

// Some detectors at the later position of the pair, the query, and at the earlier one, the key.
class Pair {
  public:
    Pair(const Result& result, const Drawn& drawn, Range detectors)
        : drawn_(drawn), found_(result, drawn, detectors, drawn.query + 1), weights_(result) {}

    int64_t query(int64_t detector) const { return found_.position(drawn_.query, detector).value; }
    int64_t key(int64_t detector) const { return found_.position(drawn_.key, detector).value; }
    int64_t distance(int64_t detector) const {
        return found_.distance(drawn_.query, drawn_.key, detector).value;
    }
    int64_t row(int64_t detector) const {
        return query(detector) << (drawn_.anchors + drawn_.positional) | key(detector) << drawn_.positional |
               distance(detector);
    }
    double adds(int64_t detector) const { return weights_.weight(detector, row(detector), drawn_.output); }

  private:
    const Drawn& drawn_;
    Lookups found_;
    lut_table::Weights weights_;
};

Matrix matrix_of(const Pair& pair, const Drawn& drawn, Range detectors) {
    Matrix matrix;
    matrix.kinds = {{"Q: later", {Ink::Role::kind, 0}},
                    {"K: earlier", {Ink::Role::kind, 1}},
                    {"PE: distance", {Ink::Role::kind, 2}},
                    {"row", {Ink::Role::accent}},
                    {"adds", {Ink::Role::quiet}}};
    matrix.column_labels = {fmt::format("Q at {}", drawn.query), fmt::format("K at {}", drawn.key),
                            fmt::format("PE, {} apart", drawn.query - drawn.key), "row", "adds"};
    for (int64_t t = detectors.first; t < detectors.last; ++t) {
        matrix.row_labels.push_back(std::to_string(t));
        const std::vector<std::string> texts = {
            words_of_bits(pair.query(t), drawn.anchors), words_of_bits(pair.key(t), drawn.anchors),
            words_of_bits(pair.distance(t), drawn.positional), fmt::format("{}", pair.row(t)),
            fmt::format("{:+.2g}", pair.adds(t))};
        matrix.texts.insert(matrix.texts.end(), texts.begin(), texts.end());
        matrix.cells.insert(matrix.cells.end(), {query_bits, key_bits, distance_bits, row, adds});
    }
    return matrix;
}

// "; together these add -1.2 to output 0"
std::string words_of_sum(const Pair& pair, const Drawn& drawn) {
    double sum = 0;
    for (int64_t t = 0; t < drawn.detectors; ++t) sum += pair.adds(t);
    return fmt::format("; together these add {:+.3g} to output {}", sum, drawn.output);
}

}  // namespace

Figure pair_figure(const Result& result) {
    const Drawn drawn(result.parameters);
    Figure figure = new_figure("pair", Place::views, "One pair", "", {}, {.label = "detector"});
    figure.chosen_by = {"drawn_query", "drawn_key"};
    if (drawn.pairs() == 0) {
        leave_out(figure, "Set sequence_length to 2 or more.");
        return figure;
    }
    const Range shown = tile_at(drawn.detector / most_detectors, most_detectors, drawn.detectors);
    const bool has_all = drawn.detectors * (drawn.query + 1) <= most_found;
    const Pair pair(result, drawn, has_all ? Range{0, drawn.detectors} : shown);
    figure.caption = fmt::format("Positions {} and {} choose a row per detector{}.", drawn.query, drawn.key,
                                 has_all ? words_of_sum(pair, drawn) : "");
    if (shown.count() < drawn.detectors)
        figure.caption += fmt::format(" Drawn are {} of the {} detectors.", shown.count(), drawn.detectors);
    figure.marks.push_back(matrix_of(pair, drawn, shown));
    return figure;
}

}  // namespace sawtooth::lut_sequence
