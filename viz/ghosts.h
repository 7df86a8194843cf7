#pragma once

#include <string>
#include <vector>

#include "kernels/core/figure.h"

namespace sawtooth {

// The figures of a pinned result.
struct Pinned {
    const std::vector<Figure>* figures = nullptr;
    std::string name;  // "chunk 64"
    int number = 1;    // Ink::ghost
};

// The figure of a pinned result with the same meaning; null if it has none.
const Figure* namesake(const Figure& figure, const Pinned& pin);
// Whether another result can only be drawn in its place: it has a heat map, a matrix or a map of kinds.
bool has_map(const Figure& figure);

// The figure with what its namesakes among the figures of pinned results show: lines, bands, bars below those
// of the same category, and tracks below its own, which in two zooms start together. Figures of other marks
// have no ghosts.
Figure with_ghosts(const Figure& figure, const std::vector<Pinned>& pins);
// The place of `y`, on an axis of a figure with ghosts, in the figure without them.
double without_ghosts(const Figure& figure, double y);

}  // namespace sawtooth
