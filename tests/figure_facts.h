#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/core/figure.h"
#include "tests/catch.h"

namespace sawtooth::figure_facts {

inline const Figure& figure_named(const std::vector<Figure>& figures, const std::string& id) {
    for (const Figure& figure : figures)
        if (figure.id == id) return figure;
    FAIL("no figure " << id);
    return figures.front();
}

inline bool has_figure(const std::vector<Figure>& figures, const std::string& id) {
    return std::any_of(figures.begin(), figures.end(), [&](const Figure& figure) { return figure.id == id; });
}

template <class Wanted>
std::vector<Wanted> marks_of(const Figure& figure) {
    std::vector<Wanted> marks;
    for (const Mark& mark : figure.marks)
        if (const auto* wanted = std::get_if<Wanted>(&mark)) marks.push_back(*wanted);
    return marks;
}

inline const Line& line_named(const std::vector<Line>& lines, const std::string& label) {
    for (const Line& line : lines)
        if (line.label == label) return line;
    FAIL("no line " << label);
    return lines.front();
}

}  // namespace sawtooth::figure_facts
