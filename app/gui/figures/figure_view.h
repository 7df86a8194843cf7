#pragma once

#include <imgui.h>

#include <optional>
#include <string>
#include <vector>

#include "app/gui/state/lab_state.h"
#include "viz/layout.h"

namespace sawtooth {

// A figure, and where it comes from.
struct ShownFigure {
    const Figure* figure = nullptr;
    std::string outdated;                    // why it is out of date; "" if it is not
    const BackgroundSweep* sweep = nullptr;  // null: from a result
    uint64_t ticket = 0;                     // of that result; 0: from a sweep or a check
    std::string command = {};                // that makes it again, of a check; "": that of sweep or result
};

// The figures of a place, with those of the newest result first.
std::vector<ShownFigure> shown_figures(const LabState& lab, Place place);

// What an up-to-date sweep found about the other values of a parameter, for a figure that shows one value of
// it: the caption begins with this.
std::string found_by_sweeps(const LabState& lab, const ShownFigure& shown);

// The places of the figures of the story in a panel of that size, relative to its upper left corner. Only
// figures that fit completely are included; the others are in More.
struct PlacedFigure {
    ShownFigure shown;
    ImVec2 at, size;
};
std::vector<PlacedFigure> story_layout(const LabState& lab, ImVec2 room);

// Draws these figures under one legend, in a grid that fills the panel of that name except for `below`
// pixels; scrolls if the figures would be too small. Draws a sentence if there are none.
void draw_figure_grid(LabState& lab, const std::string& panel, const std::vector<ShownFigure>& shown,
                      const std::string& shows, float below = 0);
// Draws a figure. Returns the frame of its plot; absent if it has none.
std::optional<Frame> draw_shown_figure(LabState& lab, const std::string& panel, const ShownFigure& shown,
                                       ImVec2 size);
// Draws only the figure that fills the panel (after a double click on its title). Returns false if there is
// none.
bool draw_filling_figure(LabState& lab, const std::string& panel, const std::vector<ShownFigure>& shown,
                         float below = 0);

}  // namespace sawtooth
