#pragma once

#include <vector>

#include "app/gui/figures/figure_view.h"

namespace sawtooth {

// Draws one legend of the variants for all figures of a panel: a click hides a variant, Alt+click shows only
// that one. The figures themselves explain other lines and areas.
void draw_legend(LabState& lab, const std::vector<ShownFigure>& shown);
// The height in pixels at that width; 0 if there are no entries.
float legend_height(const LabState& lab, const std::vector<ShownFigure>& shown, float width);

}  // namespace sawtooth
