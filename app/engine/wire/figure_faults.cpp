#include "app/engine/wire/figure_faults.h"

#include <algorithm>
#include <utility>

namespace sawtooth {
namespace {

// Lists of words are empty or have one for every place.
bool has_words_for(const std::vector<std::string>& words, size_t places) {
    return words.empty() || words.size() == places;
}

std::string fault_in(const Line& line) {
    if (line.y.size() != line.x.size()) return "a line with x and y of different lengths";
    if (!line.sets.values.empty() && line.sets.values.size() != line.x.size())
        return "a line that does not set one value per point";
    for (const auto* const words : {&line.wrong, &line.unstable, &line.names})
        if (!has_words_for(*words, line.x.size())) return "a line with words for some of its points";
    return "";
}

std::string fault_in(const Band& band) {
    const bool same = band.low.size() == band.x.size() && band.high.size() == band.x.size();
    return same ? "" : "a band with x, low and high of different lengths";
}

std::string fault_in(const HeatMap& map) {
    int64_t cells = 0;
    const bool same = map.rows >= 0 && map.columns >= 0 &&
                      !__builtin_mul_overflow(map.rows, map.columns, &cells) &&
                      std::cmp_equal(cells, map.values.size());
    if (!same) return "a heat map without rows x columns values";
    for (const auto* const words : {&map.texts, &map.unstable})
        if (!has_words_for(*words, map.values.size())) return "a heat map with words for some of its cells";
    for (const HeatMap::Framed& cell : map.framed)
        if (cell.row < 0 || cell.row >= map.rows || cell.column < 0 || cell.column >= map.columns)
            return "a heat map with a frame around a missing cell";
    const auto fits = [](const Setting& sets, int64_t count) {
        return sets.values.empty() || std::cmp_equal(sets.values.size(), count);
    };
    if (!fits(map.sets_x, map.columns) || !fits(map.sets_y, map.rows))
        return "a heat map that does not set one value per column and row";
    return "";
}

// If only rows or only columns have names, the cells must fill them; texts are optional.
std::string fault_in(const Matrix& matrix) {
    const size_t rows = matrix.row_labels.size(), columns = matrix.column_labels.size();
    const size_t cells = matrix.cells.size();
    const bool fits = rows > 0 && columns > 0 ? cells / rows == columns && cells % rows == 0
                                              : cells % std::max<size_t>(std::max(rows, columns), 1) == 0;
    if (!fits) return "a matrix whose cells do not fill its rows and columns";
    if (!matrix.texts.empty() && matrix.texts.size() != cells) return "a matrix without one text per cell";
    for (const int kind : matrix.cells)
        if (kind < -1 || std::cmp_greater_equal(kind, matrix.kinds.size()))
            return "a matrix with a cell of an unknown kind";
    return "";
}

std::string fault_in(const KindMap& map) {
    const size_t rows = map.row_names.size(), columns = map.column_names.size();
    const bool fits = rows == 0 || columns == 0
                          ? map.cells.empty()
                          : map.cells.size() / rows == columns && map.cells.size() % rows == 0;
    if (!fits) return "a map of kinds without rows x columns cells";
    for (const int kind : map.cells)
        if (kind < 0 || std::cmp_greater_equal(kind, map.kinds.size()))
            return "a map with a cell of an unknown kind";
    return "";
}

std::string fault_in(const Tree& tree) {
    for (const Tree::Edge& edge : tree.edges)
        for (const int end : {edge.from, edge.to})
            if (end < 0 || std::cmp_greater_equal(end, tree.nodes.size()))
                return "a tree with an edge to a missing node";
    return "";
}

std::string fault_in(const Tracks& tracks) {
    for (const Tracks::Track& track : tracks.tracks)
        if (track.y.size() != track.x.size()) return "a track with x and y of different lengths";
    return "";
}

std::string fault_in(const Bars&) { return ""; }
std::string fault_in(const Rule&) { return ""; }
std::string fault_in(const Note&) { return ""; }

}  // namespace

std::string fault_in(const std::vector<Figure>& figures) {
    for (const Figure& figure : figures)
        for (const Mark& mark : figure.marks) {
            const std::string words = std::visit([](const auto& one) { return fault_in(one); }, mark);
            if (!words.empty()) return "figure " + figure.id + " has " + words;
        }
    return "";
}

}  // namespace sawtooth
