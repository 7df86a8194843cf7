#pragma once

#include <imgui.h>

#include <string>
#include <vector>

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

// Where a parameter chooses what the figure draws, what a sweep that is up to date found of its other values:
// it begins the caption.
std::string found_by_sweeps(const LabState& lab, const ShownFigure& shown);

// Where the figures of the family's story stand in a panel of that size, from its upper left corner on: those
// that fit, whole. The rest is in More.
struct PlacedFigure {
    ShownFigure shown;
    ImVec2 at, size;
};
std::vector<PlacedFigure> story_layout(const LabState& lab, ImVec2 room);

// In a panel of that name: these figures under one legend, in a grid that fills the panel but for so many
// pixels under it; scrolls where they would be too small. A sentence where there is none.
void draw_figure_grid(LabState& lab, const std::string& panel, const std::vector<ShownFigure>& shown,
                      const std::string& shows, float below = 0);
void draw_shown_figure(LabState& lab, const std::string& panel, const ShownFigure& shown, ImVec2 size);
// Where one of them fills the panel (a double click on its title), draws it alone; false: none does.
bool draw_filling_figure(LabState& lab, const std::string& panel, const std::vector<ShownFigure>& shown,
                         float below = 0);

}  // namespace sawtooth
