#pragma once

#include <limits>
#include <string>
#include <utility>

#include "viz/figure_svg.h"
#include "viz/theme.h"

// A figure with a single mark, and its picture.
namespace sawtooth {

constexpr inline double gap = std::numeric_limits<double>::quiet_NaN();

inline Figure figure_with(Mark mark) {
    Figure figure;
    figure.id = "test";
    figure.title = "A title";
    figure.caption = "A caption.";
    figure.x = {"position", "elements"};
    figure.y = {"error", "ulp"};
    figure.marks.push_back(std::move(mark));
    return figure;
}

inline std::string svg_of(const Figure& figure) { return to_svg(figure, dark_theme(), 640, 360); }

}  // namespace sawtooth
