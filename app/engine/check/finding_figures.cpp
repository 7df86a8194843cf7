#include "app/engine/check/finding_figures.h"

#include <algorithm>
#include <cmath>

#include "kernels/core/dimensions.h"
#include "kernels/figures/figures.h"

namespace sawtooth {
namespace {

constexpr int64_t most_rows = 192, most_columns = 128;

// One axis of the picture: a dimension of the array, or one of length 1 that stands for no dimension.
struct Side {
    std::string label = "";
    int64_t first = 0, count = 1;  // the visible part
    int64_t stride = 0;            // in the flat array
    int64_t length = 1;
    std::vector<Tiling> tilings = {};
};

// A rectangle of the output around its worst element, over the last two dimensions that are longer than 1.
struct Excerpt {
    Side rows, columns;
    int64_t origin = 0;  // the index in the flat array of the element at (0, 0)
    std::string words;   // the other dimensions: "batch 1, head 0"

    int64_t place(int64_t row, int64_t column) const {
        return origin + (rows.first + row) * rows.stride + (columns.first + column) * columns.stride;
    }
};

void show_around(Side& side, int64_t at, int64_t most) {
    side.count = std::min(side.length, most);
    side.first = std::clamp<int64_t>(at - side.count / 2, 0, side.length - side.count);
}

Excerpt excerpt_around(const Trial& trial, const Array& output, const Shape& worst) {
    const Family& family = *trial.configuration.family;
    const auto dimensions = dimensions_of(*family.array(output.name), output.shape);
    const auto tilings = family.tilings
                             ? family.tilings(trial.variant(), output.name, trial.configuration.parameters,
                                              trial.configuration.backend)
                             : std::vector<Tiling>();
    Excerpt excerpt;
    int sides = 0;
    int64_t stride = 1;
    for (size_t axis = output.shape.size(); axis-- > 0; stride *= output.shape[axis]) {
        const std::string label = axis < dimensions.size() ? dimensions[axis] : "";
        if (output.shape[axis] > 1 && sides < 2) {
            Side& side = sides++ == 0 ? excerpt.columns : excerpt.rows;
            side = {label, 0, 1, stride, output.shape[axis], {}};
            for (const Tiling& tiling : tilings)
                if (tiling.dimension == label) side.tilings.push_back(tiling);
            show_around(side, worst[axis], sides == 1 ? most_columns : most_rows);
            continue;
        }
        excerpt.origin += worst[axis] * stride;
        if (output.shape[axis] > 1)
            excerpt.words = label + " " + std::to_string(worst[axis]) + (excerpt.words.empty() ? "" : ", ") +
                            excerpt.words;
    }
    return excerpt;
}

void add_borders(Figure& figure, const Side& side, Rule::Across across) {
    for (const Tiling& tiling : side.tilings) {
        if (side.count / tiling.size > 64) continue;  // too close to be seen
        for (int64_t at = (side.first / tiling.size + 1) * tiling.size; at < side.first + side.count;
             at += tiling.size)
            figure.marks.emplace_back(
                Rule{across, static_cast<double>(at) - 0.5, tiling.name, Ink{Ink::Role::quiet}});
    }
}

template <class ValueAt>
Figure picture(const Excerpt& excerpt, const std::string& id, const std::string& title,
               const std::string& caption, const Shape& worst_cell, ValueAt&& value_at) {
    Figure figure =
        new_figure(id, Place::outputs, title, caption, Axis{excerpt.columns.label}, Axis{excerpt.rows.label});
    HeatMap map =
        heat_map(title, excerpt.rows.count, excerpt.columns.count, excerpt.rows.first, excerpt.columns.first);
    map.values.resize(static_cast<size_t>(excerpt.rows.count * excerpt.columns.count));
    for (int64_t row = 0; row < excerpt.rows.count; ++row)
        for (int64_t column = 0; column < excerpt.columns.count; ++column)
            map.values[static_cast<size_t>(row * excerpt.columns.count + column)] =
                value_at(excerpt.place(row, column));
    if (excerpt.rows.length == 1) figure.y.categories = {""};
    if (id == "check_difference") map.colours = HeatMap::Colours::diverging;
    map.framed.push_back({worst_cell[0] - excerpt.rows.first, worst_cell[1] - excerpt.columns.first, "worst",
                          Ink{Ink::Role::accent}});
    figure.marks.emplace_back(std::move(map));
    add_borders(figure, excerpt.columns, Rule::Across::x);
    add_borders(figure, excerpt.rows, Rule::Across::y);
    return figure;
}

// The rows of a reference in the shape of the whole array, with NaN elsewhere.
std::vector<double> whole(const Array& want) {
    std::vector<double> values(static_cast<size_t>(count_of(want.whole_shape())), NAN);
    const int64_t rows = want.rows ? want.shape[0] : 1;
    const int64_t width = rows > 0 ? want.count() / rows : 0;
    for (int64_t row = 0; row < rows; ++row) {
        const int64_t to = want.rows ? want.rows->places[static_cast<size_t>(row)] * width : 0;
        for (int64_t i = 0; i < width; ++i)
            values[static_cast<size_t>(to + i)] = want.value(row * width + i).real();
    }
    return values;
}

}  // namespace

std::vector<Figure> figures_of_finding(const Trial& trial, const Tried& tried) {
    const OutputVerdict* const wrong = tried.first_wrong();
    if (!wrong || !wrong->worst) return {};
    const Array* const got = find(tried.outputs, wrong->output);
    const auto expected = std::find_if(trial.expected.begin(), trial.expected.end(),
                                       [&](const Expected& one) { return one.want.name == wrong->output; });
    if (!got || expected == trial.expected.end() || got->count() == 0) return {};
    const Shape& worst = wrong->worst->index;
    const Excerpt excerpt = excerpt_around(trial, *got, worst);
    int64_t flat = 0;
    for (size_t axis = 0; axis < worst.size(); ++axis) flat = flat * got->shape[axis] + worst[axis];
    const int64_t left = flat - excerpt.origin;
    const Shape cell = {
        excerpt.rows.stride > 0 ? left / excerpt.rows.stride : 0,
        excerpt.columns.stride > 0
            ? left % std::max<int64_t>(excerpt.rows.stride, excerpt.columns.stride * excerpt.columns.length) /
                  excerpt.columns.stride
            : 0};
    const std::vector<double> want = whole(expected->want);
    const std::string shown = wrong->output + (excerpt.words.empty() ? "" : ", " + excerpt.words);
    const auto got_at = [&](int64_t i) { return got->value(i).real(); };
    const auto want_at = [&](int64_t i) { return want[static_cast<size_t>(i)]; };
    return {picture(excerpt, "check_got", shown + ": got", "What " + trial.variant().name + " computed.",
                    cell, got_at),
            picture(excerpt, "check_want", shown + ": want", "What it should be, in float64.", cell, want_at),
            picture(excerpt, "check_difference", shown + ": got - want",
                    "The frame is the element that is furthest outside what rounding explains.", cell,
                    [&](int64_t i) { return got_at(i) - want_at(i); })};
}

}  // namespace sawtooth
