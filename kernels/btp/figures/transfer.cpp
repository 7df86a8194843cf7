// Lmat of the drawn block: Lmat_ij = a_i ... a_{j+1} below the diagonal, 1 on it.

#include <fmt/format.h>

#include <cmath>

#include "kernels/btp/figures/common.h"
#include "kernels/btp/parts.h"

namespace sawtooth::btp {
namespace {

// Counts of elements on and below the diagonal, and of those on it that are not 1.
struct Elements {
    int64_t count = 0, nans = 0, zeros = 0, broken_diagonal = 0;
};

// Maps the matrix and counts its elements. Cells without a value on a logarithmic scale have a text that says
// why, and a NaN also has a frame. Cells above the diagonal are empty.
HeatMap map_of(const std::vector<float>& matrix, Range positions, Elements& elements) {
    const int64_t n = positions.count();
    HeatMap map = heat_map("weight", n, n, positions.first, positions.first);
    map.logarithmic = true;
    map.values.assign(matrix.size(), gap);
    map.texts.assign(matrix.size(), "");
    for (int64_t i = 0; i < n; ++i)
        for (int64_t j = 0; j <= i; ++j) {
            const auto at = static_cast<size_t>(i * n + j);
            ++elements.count;
            elements.broken_diagonal += i == j && matrix[at] != 1;
            if (std::isnan(matrix[at])) {
                ++elements.nans;
                map.texts[at] = "NaN";
                map.framed.push_back({i, j, "not a number", {Ink::Role::limit}});
            } else if (matrix[at] == 0) {
                ++elements.zeros;
                map.texts[at] = "0";
            } else {
                map.values[at] = double{matrix[at]};
            }
        }
    return map;
}

std::string words_of(const Elements& elements, float corner, const std::string& construction) {
    std::string words;
    if (elements.nans > 0)
        words += fmt::format("{} of {} elements are NaN, as a gate is 0. ", elements.nans, elements.count);
    if (elements.zeros > 0) words += fmt::format("{} of {} elements are 0. ", elements.zeros, elements.count);
    if (elements.broken_diagonal > 0)
        words +=
            fmt::format("Of these {} are on the diagonal, which should be 1. ", elements.broken_diagonal);
    if (corner > 0)
        words += fmt::format("The first u reaches the end of the block with weight {:.2g}. ", corner);
    return words + "Built by " + construction + ".";
}

}  // namespace

Figure transfer_figure(const Result& result) {
    const Drawn drawn(result.parameters);
    const Range positions = drawn.block_positions();
    const auto matrix = transfer_matrix(construction_of(result.parameters), drawn.gates_of_block(result));
    Elements elements;
    HeatMap map = map_of(matrix, positions, elements);
    const float corner = matrix[static_cast<size_t>((positions.count() - 1) * positions.count())];
    Figure figure = new_figure("transfer-matrix", Place::views, "Lmat",
                               words_of(elements, corner, result.parameters.text("construction")),
                               {.label = "position of u"}, {.label = "position of v"});
    figure.chosen_by = {"drawn_batch", "drawn_head", "drawn_block"};
    figure.marks.push_back(std::move(map));
    return figure;
}

}  // namespace sawtooth::btp
