#pragma once

#include <string>

#include "app/gui/lab_state.h"

namespace sawtooth {

// A figure and whom it is of.
struct ShownFigure {
    const Figure* figure = nullptr;
    std::string outdated;                    // why it is not of what is set; "" where it is
    const BackgroundSweep* sweep = nullptr;  // null: of the newest result
};

// The figures of a place, those of the newest result first.
std::vector<ShownFigure> shown_figures(const LabState& lab, Place place);

// All of them in a grid that fills the panel but for so many pixels under it; scrolls where they would be too
// small. A sentence where there is none.
void draw_figure_grid(LabState& lab, Place place, const std::string& shows, float below = 0);

}  // namespace sawtooth
