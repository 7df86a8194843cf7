#pragma once

#include <vector>

#include "app/gui/figures/figure_view.h"

namespace sawtooth {

// One legend of the variants for all figures of a panel: click to hide, Alt+click to show only one. The
// meaning of other lines and areas stands in the figures.
void draw_legend(LabState& lab, const std::vector<ShownFigure>& shown);
// In pixels, at that width; 0 if there are no entries.
float legend_height(const LabState& lab, const std::vector<ShownFigure>& shown, float width);

}  // namespace sawtooth
