#pragma once

#include <imgui.h>

#include <optional>
#include <string>
#include <vector>

#include "app/gui/state/lab_state.h"
#include "viz/layout.h"

namespace sawtooth {

// A figure and its origin.
struct ShownFigure {
    const Figure* figure = nullptr;
    std::string outdated;                    // why it is out of date; "" if it is not
    const BackgroundSweep* sweep = nullptr;  // null: from the newest result
};

// The figures of a place; those of the newest result come first.
std::vector<ShownFigure> shown_figures(const LabState& lab, Place place);

// For a figure that shows one value of a parameter, the finding of an up-to-date sweep about the other
// values: it starts the caption.
std::string found_by_sweeps(const LabState& lab, const ShownFigure& shown);

// The places of the story's figures in a panel of that size, from its upper left corner: only figures that
// fit completely. The others are in More.
struct PlacedFigure {
    ShownFigure shown;
    ImVec2 at, size;
};
std::vector<PlacedFigure> story_layout(const LabState& lab, ImVec2 room);

// Draws these figures under one legend, in a grid that fills the panel of that name except `below` pixels;
// scrolls if they would be too small. Draws a sentence if there are none.
void draw_figure_grid(LabState& lab, const std::string& panel, const std::vector<ShownFigure>& shown,
                      const std::string& shows, float below = 0);
// Returns where its plot lies; absent if it has none.
std::optional<Frame> draw_shown_figure(LabState& lab, const std::string& panel, const ShownFigure& shown,
                                       ImVec2 size);
// If one of them fills the panel (double click on its title), draws only that one; false: none does.
bool draw_filling_figure(LabState& lab, const std::string& panel, const std::vector<ShownFigure>& shown,
                         float below = 0);

}  // namespace sawtooth
